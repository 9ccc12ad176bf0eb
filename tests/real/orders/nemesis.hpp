// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What happens to the services during a run, after known numbers of orders.
#pragma once

#include "servers.hpp"

#include <support/moved_clock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace real::orders {

struct nemesis_options {
    std::size_t orders = 0;
    std::uint64_t seed = 0;
    bool loses_commits = false;  // instead of other faults of the database
};

class nemesis {
public:
    // The servers must outlive this object.
    nemesis(order_servers& servers, const nemesis_options& options);

    // Called often, with the orders that are carried out, and those of which a caller was told.
    void advance(std::size_t complete, std::size_t told);
    // In the work of an order: the lock server forgets all.
    void forget_locks();
    [[nodiscard]] std::size_t pick(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(dice_);
    }
    // The clock of a worker; null: the system's, as a third of them have.
    [[nodiscard]] const support::moved_clock* clock_of(std::size_t worker) const {
        return worker % 3 == 2 ? nullptr : &clocks_[worker % 3];
    }
    void count(const std::string& event) { ++counts_[event]; }
    [[nodiscard]] const std::map<std::string, std::size_t>& counts() const { return counts_; }

private:
    void strike();
    void step_clock();
    void lose_commits(std::size_t complete, std::size_t told);

    order_servers& servers_;
    const nemesis_options options_;
    std::mt19937_64 dice_;
    std::array<support::moved_clock, 2> clocks_;
    std::size_t interval_;
    std::size_t events_ = 0;
    std::optional<std::size_t> told_before_loss_;
    bool has_lost_ = false;
    std::map<std::string, std::size_t> counts_;
};

}  // namespace real::orders
