// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "reconcile_pass.hpp"

#include "token_number.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::guard {
namespace {

constexpr std::size_t longest_name = 245;
constexpr std::size_t longest_key = 255;
constexpr std::size_t longest_error = 500;
constexpr std::size_t most_failures = 100;
constexpr int most_conflicts = 6;

[[noreturn]] void refuse(const std::string& sentence) { throw error(errc::bad_option, sentence); }

}  // namespace

void check_reconciliation(const std::string& name, const reconcile_options& options) {
    if (name.empty() || name.size() > longest_name)
        refuse("The name of a reconciliation has " + std::to_string(name.size()) +
               " bytes; it must have 1 to 245.");
    if (options.batch < 1 || options.batch > 10000)
        refuse("The batch of the reconciliation " + name + " is " + std::to_string(options.batch) +
               "; it must be 1 to 10000.");
    // Written so that it also refuses what is no number.
    if (!(options.per_second >= 0.001 && options.per_second <= 1e6))
        refuse("The reconciliation " + name + " has " + std::to_string(options.per_second) +
               " repairs per second; it must be 0.001 to 1000000.");
}

void expect_no_transaction(bool is_open, const std::string& name) {
    if (is_open)
        throw error(errc::unsupported,
                    "The connection of the reconciliation " + name +
                        " has an open transaction; end it first, or use another connection.");
}

reconcile_pass::reconcile_pass(dialect spoken, std::string name, const reconcile_options& options,
                               fencing_token token)
    : spoken_(spoken),
      between_repairs_(std::chrono::duration_cast<duration>(
          std::chrono::duration<double>(1 / options.per_second))) {
    progress_.name = std::move(name);
    report_.dry_run = options.dry_run;
    report_.token = token;
    if (!options.dry_run) progress_.run = progress_.token = token_number(token);
}

statement reconcile_pass::newest_run() const { return select_runs(spoken_, progress_.name, 1); }

statement reconcile_pass::begin(const rows& newest) {
    const auto known = runs_of(newest);
    report_.resumed = !known.empty() && !known.front().ended;
    if (!report_.resumed) return insert_run(spoken_, progress_);
    const auto& last = known.front();
    progress_.run = token_number(last.number);
    progress_.after = last.after;
    progress_.counts = last.counts;
    progress_.error = last.error;
    return advance();
}

void reconcile_pass::judge_first_fence(const fence_result& fence, bool is_held) const {
    if (fence || !is_held) return;
    throw error(errc::refused,
                "The reconciliation " + progress_.name + " has seen the token " +
                    to_string(fence.newest) + ", and its lock has the smaller token " +
                    to_string(report_.token) +
                    ", so the locks come from another service than before; use that service "
                    "again, or choose another name.");
}

statement reconcile_pass::advance(bool ends) const { return update_run(spoken_, progress_, ends); }

void reconcile_pass::expect_row(const rows& answer) const {
    if (answer.matched != 1)
        throw error(errc::protocol, "The row of the reconciliation " + progress_.name +
                                        " was deleted from pawl_reconcile while it ran; run it "
                                        "again, and leave the table to Pawl.");
}

statement reconcile_pass::superfluous() const {
    return select_superfluous(spoken_, progress_.name);
}

statement reconcile_pass::forget(const rows& newest_superfluous) const {
    return delete_until(spoken_, progress_.name, newest_superfluous);
}

void reconcile_pass::expect_progress(const std::vector<std::string>& keys) const {
    const auto is_bad = [](const std::string& key) {
        return key.empty() || key.size() > longest_key;
    };
    if (std::any_of(keys.begin(), keys.end(), is_bad))
        refuse("The find of the reconciliation " + progress_.name +
               " has returned a key that is empty or longer than 255 bytes; return the primary "
               "keys of the records.");
    if (!keys.empty() && keys.back() == progress_.after)
        refuse("The find of the reconciliation " + progress_.name +
               " has returned its last key again; return the keys behind `after` only.");
}

void reconcile_pass::count(const std::string& key, repair_result result, std::string reason) {
    progress_.after = key;
    for (auto* each : {&report_.counts, &progress_.counts}) {
        ++each->keys;
        ++(result == repair_result::repaired ? each->repaired
           : result == repair_result::agrees ? each->agreed
                                             : each->failed);
    }
    if (result != repair_result::failed) return;
    progress_.error = (key + (reason.empty() ? "" : ": " + reason)).substr(0, longest_error);
    if (report_.failures.size() < most_failures)
        report_.failures.push_back({key, std::move(reason)});
}

void reconcile_pass::count_dry(const std::vector<std::string>& keys) {
    if (!keys.empty()) progress_.after = keys.back();
    report_.counts.keys += keys.size();
}

duration reconcile_pass::pause_before_repair(time_point now) noexcept {
    const auto begins = std::max(now, next_repair_.value_or(now));
    next_repair_ = begins + between_repairs_;
    return begins - now;
}

reconcile_report reconcile_pass::end(reconcile_end how) {
    report_.end = how;
    return std::move(report_);
}

// 10 ms, doubled each time; half of it is random.
std::optional<duration> conflict_pauses::next() {
    if (++conflicts_ > most_conflicts) return std::nullopt;
    std::array<std::byte, 1> random{};
    spi::real_runtime().random(random);
    const duration whole = std::chrono::milliseconds(5 << conflicts_);
    return whole / 2 + whole / 2 * std::to_integer<int>(random[0]) / 256;
}

}  // namespace pawl::guard
