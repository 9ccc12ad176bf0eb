// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "faults.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace shop {
namespace {

constexpr std::array<std::pair<fault, std::string_view>, 6> fault_names{{
    {fault::none, "none"},
    {fault::stop_before_transaction, "stop_before_transaction"},
    {fault::die_before_commit, "die_before_commit"},
    {fault::die_after_commit, "die_after_commit"},
    {fault::stop_before_call, "stop_before_call"},
    {fault::die_after_call, "die_after_call"},
}};

bool is_stop(fault each) noexcept {
    return each == fault::stop_before_transaction || each == fault::stop_before_call;
}

}  // namespace

std::string_view name_of(fault each) noexcept {
    return fault_names.at(static_cast<std::size_t>(each)).second;
}

fault fault_of(std::string_view name) {
    for (const auto& [each, its_name] : fault_names)
        if (its_name == name) return each;
    throw std::invalid_argument("There is no fault \"" + std::string(name) + "\".");
}

void fault_points::begin(std::string order, fault planned) {
    order_ = std::move(order);
    planned_ = planned;
    is_plain_ = planned == fault::none;
}

void fault_points::pass(fault point) {
    if (point == fault::none || point != planned_) return;
    const std::string mark = folder_ + "/struck-" + order_;
    const int file = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return;
    ::close(file);
    planned_ = fault::none;
    if (!is_stop(point)) {
        last_words();
        ::kill(::getpid(), SIGKILL);
    }
    if (::write(STDOUT_FILENO, "stopping\n", 9) != 9) ::_exit(1);
    ::kill(::getpid(), SIGSTOP);
}

faulty_connection::faulty_connection(guard::connection& target, fault_points& points,
                                     counters& counted) noexcept
    : target_(target), points_(points), counters_(counted) {
    points_.last_words = [this] {
        if (is_counted_) --counters_.open;
    };
}

guard::rows faulty_connection::execute(const guard::statement& to_run) {
    const std::string_view text = to_run.text;
    if (text.starts_with("BEGIN")) points_.pass(fault::stop_before_transaction);
    if (text == "COMMIT") points_.pass(fault::die_before_commit);
    guard::rows answer;
    try {
        answer = target_.execute(to_run);
    } catch (...) {
        count_transactions();
        throw;
    }
    count_transactions();
    count(text, answer);
    if (text == "COMMIT") points_.pass(fault::die_after_commit);
    return answer;
}

void faulty_connection::count(std::string_view text, const guard::rows& answer) {
    ++counters_.statements;
    if (text.starts_with("INSERT INTO pawl_once") && answer.values.empty()) ++counters_.lost_claims;
    if (text.starts_with("UPDATE pawl_once SET state") && answer.matched == 0)
        ++counters_.late_results;
    // A record has its state first, and the rest of its lease last.
    if (points_.is_plain() && text.starts_with("SELECT state, token") && !answer.values.empty() &&
        guard::as_number(answer.values[0].front()) == 1 &&
        guard::as_number(answer.values[0].back()) > 0)
        ++counters_.waits;
}

void faulty_connection::count_transactions() {
    if (target_.in_transaction() == is_counted_) return;
    is_counted_ = !is_counted_;
    if (!is_counted_) {
        --counters_.open;
        return;
    }
    const auto now = ++counters_.open;
    auto most = counters_.most_open.load();
    while (most < now && !counters_.most_open.compare_exchange_weak(most, now)) {}
}

answer faulty_partner::post(const std::string& path, const std::string& body,
                            const header_list& headers) {
    points_.pass(fault::stop_before_call);
    ++counters_.calls;
    auto result = target_.post(path, body, headers);
    points_.pass(fault::die_after_call);
    return result;
}

}  // namespace shop
