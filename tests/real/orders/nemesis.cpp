// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "nemesis.hpp"

#include <algorithm>

namespace real::orders {

namespace {

using namespace std::chrono_literals;

// So many events at least, each kind at least once; and one for so many orders.
constexpr std::size_t fewest_events = 5, orders_of_event = 200;

}  // namespace

nemesis::nemesis(order_servers& servers, const nemesis_options& options)
    : servers_(servers),
      options_(options),
      dice_(options.seed),
      interval_(options.orders / (std::max(fewest_events, options.orders / orders_of_event) + 1)) {
    interval_ = std::max<std::size_t>(interval_, 1);
}

void nemesis::advance(std::size_t complete, std::size_t told) {
    if (options_.loses_commits) lose_commits(complete, told);
    if (complete < (events_ + 1) * interval_ || complete >= options_.orders) return;
    ++events_;
    strike();
}

void nemesis::strike() {
    switch ((events_ + options_.seed) % 5) {
    case 0: servers_.restart_locks(); return count("lock server killed, empty afterwards");
    case 1:
        if (options_.loses_commits) return;
        servers_.fail_over();
        return count("database failed over");
    case 2:
        if (options_.loses_commits) return;
        servers_.crash_database();
        return count("database crashed");
    case 3: return step_clock();
    default: servers_.empty_locks(); return count("all locks forgotten at any time");
    }
}

void nemesis::step_clock() {
    const auto amount = std::chrono::milliseconds(500 + pick(8000));
    clocks_[pick(clocks_.size())].step(pick(2) == 0 ? amount : -amount);
    count("clock of workers stepped");
}

void nemesis::forget_locks() { servers_.empty_locks(); }

// Once: the standby gets nothing any more, callers are told of so many orders, and then the primary
// dies with them.
void nemesis::lose_commits(std::size_t complete, std::size_t told) {
    if (has_lost_ || complete < options_.orders / 3) return;
    if (!told_before_loss_) {
        servers_.stop_replication();
        told_before_loss_ = told;
    }
    const auto wanted = std::min<std::size_t>(120, options_.orders / 4);
    if (told < *told_before_loss_ + wanted) return;
    servers_.fail_over();
    has_lost_ = true;
    count("database failed over without its last commits");
}

}  // namespace real::orders
