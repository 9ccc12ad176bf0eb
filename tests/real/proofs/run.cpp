// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "run.hpp"

#include <real/run_parts.hpp>

#include <support/temp_folder.hpp>

#include <pawl/blocking.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <sstream>

namespace real::proofs {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

volatile std::sig_atomic_t signal_received = 0;

std::string to_text(const run_records& records, const allowance& allowed) {
    const auto& event = allowed.evidence;
    const auto place = allowed.fault.empty() ? "outside of any fault"
                       : allowed.is_further  ? "a further one in the fault '" + allowed.fault + "'"
                                             : "in the fault '" + allowed.fault + "'";
    std::ostringstream text;
    text << to_text(records, event.promoted.latest) << ": failover of "
         << (event.from.empty() ? "an unknown master" : event.from) << " to " << event.to
         << ", epoch " << event.epoch_before << " to " << event.epoch << ", " << place
         << "; the old master served until " << to_text(records, event.retired.latest)
         << "; allowed: " << allowed.overlaps << " overlaps, " << allowed.smaller_tokens
         << " smaller tokens, " << allowed.untold << " holds not told";
    return text.str();
}

class proof_run {
public:
    proof_run(const environment_entry& entry, const settings& options, fencing mode)
        : settings_(options),
          entry_(entry),
          servers_(entry.start(options_of(entry, options.clients))),
          client_options_{.access = servers_->access(mode == fencing::naive ? safeguards::naive
                                                                            : safeguards::pawl),
                          .folder = folder_.path().string(),
                          .locks = lock_count,
                          .checks_tokens = mode != fencing::off,
                          .longest_ttl = entry.longest_ttl},
          clients_(*servers_, client_options_,
                   {.processes = options.clients, .seed = options.seed}),
          pace_(options.seed, [this] { step(); }) {
        result_.environment = entry.name;
        result_.mode = mode;
        result_.naive = entry.naive;
    }

    run_result run() {
        fault_order order(chosen_faults());
        const auto end = clock::now() + settings_.length;
        pace_.pause(500ms, 1s);
        while (!result_.faults.empty() && (clock::now() < end || needs_longer(end)))
            inject(order.next(pace_));
        finish();
        return std::move(result_);
    }

private:
    // Those of --faults that can be had here; `result_.faults` has their names.
    std::vector<fault> chosen_faults() {
        auto all = servers_->faults();
        std::erase_if(all, [this](const fault& each) {
            return !settings_.has_fault(each.name) ||
                   (each.is_by_name_only && settings_.faults.empty());
        });
        std::erase_if(all, [this](const fault& each) {
            if (!each.obstacle.empty()) result_.obstacles[each.name] = each.obstacle;
            return !each.obstacle.empty();
        });
        for (const auto& each : all)
            result_.faults[each.name] = 0;
        return all;
    }

    [[nodiscard]] bool needs_longer(clock::time_point end) const {
        return result_.mode != fencing::on && clock::now() < end + 1min &&
               damage_of(result_.mode, *entry_.naive, check(load_records())) == 0;
    }

    [[nodiscard]] run_records load_records() const {
        auto records = read_records(folder_.path().string(), clients_.started(), lock_count);
        records.history = servers_->history();
        records.memory_losses = servers_->memory_losses();
        records.faults = faults_;
        records.have_epochs = entry_.have_epochs && result_.mode != fencing::naive;
        records.begin = first_;
        return records;
    }

    void inject(const fault& next) {
        current_ = next.name;
        fault_record record{.name = next.name, .begin = now()};
        real::inject(next, *servers_, pace_);
        record.end = now();
        faults_.push_back(std::move(record));
        ++result_.faults[next.name];
        current_ = "quiet";
        pace_.pause(200ms, 1500ms);
    }

    void step() {
        if (signal_received != 0) throw interrupted();
        clients_.disturb();
        if (clock::now() < next_line_) return;
        next_line_ = clock::now() + 5s;
        std::size_t injected = 0;
        for (const auto& [name, count] : result_.faults)
            injected += count;
        std::cout << "  " << result_.environment << ", fencing " << to_string(result_.mode) << ": "
                  << std::chrono::duration_cast<std::chrono::seconds>(clock::now() - begin_).count()
                  << " s, " << injected << " faults, now " << current_ << "; clients "
                  << clients_.kills() << " killed, " << clients_.pauses() << " paused; "
                  << recorded_bytes() / 1024 << " KiB recorded" << std::endl;
    }

    [[nodiscard]] std::uintmax_t recorded_bytes() const {
        std::uintmax_t bytes = 0;
        for (std::size_t i = 0; i < clients_.started(); ++i) {
            std::error_code missing;
            const auto size =
                std::filesystem::file_size(journal_path(folder_.path().string(), i), missing);
            if (!missing) bytes += size;
        }
        return bytes;
    }

    void finish() {
        if (const auto problem = clients_.finish(); !problem.empty())
            result_.problems.push_back(problem);
        // No lock stays taken for ever.
        for (auto& each : expect_free_locks(*servers_, client_options_))
            result_.problems.push_back(std::move(each));
        const auto records = load_records();
        result_.outcome = check(records);
        if (result_.mode == fencing::on && result_.outcome.violations() != 0)
            result_.problems.push_back("The records are in " + keep_records() + ".");
        for (const auto& each : result_.outcome.allowances)
            result_.evidence.push_back(to_text(records, each));
        result_.kills = clients_.kills();
        result_.pauses = clients_.pauses();
        result_.errors = records.errors.size();
        std::map<std::string, std::size_t> texts;
        for (const auto& each : records.errors)
            if (texts[each]++ == 0 && texts.size() <= 5) std::cout << "  error: " << each << "\n";
    }

    [[nodiscard]] std::string keep_records() const {
        const auto path = folder_.path().string() + "-records";
        std::filesystem::copy(folder_.path(), path, std::filesystem::copy_options::recursive);
        return path;
    }

    const settings& settings_;
    const environment_entry& entry_;
    const clock::time_point begin_ = clock::now();
    clock::time_point next_line_ = begin_;
    support::temp_folder folder_;  // outlives the processes that write there
    std::unique_ptr<environment> servers_;
    const client_options client_options_;
    client_group clients_;
    run_result result_;
    std::vector<fault_record> faults_;
    const instant first_ = now();
    std::string current_ = "quiet";
    pace pace_;
};

}  // namespace

std::size_t damage_of(fencing mode, const naive_variant& naive, const verdict& outcome) noexcept {
    switch (mode) {
    case fencing::on: return 0;
    case fencing::off: return outcome.lost_updates + outcome.writes_back;
    case fencing::naive: return naive.damage(outcome);
    }
    return 0;
}

run_result run(const environment_entry& entry, const settings& options, fencing mode) {
    for (const int number : {SIGINT, SIGTERM})
        (void)std::signal(number, [](int received) { signal_received = received; });
    return proof_run(entry, options, mode).run();
}

}  // namespace real::proofs
