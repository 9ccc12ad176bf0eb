// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which call of the shop comes next: three callers of each order, calls that are repeated, and
// calls of dead workers that are delivered again. Without I/O.
#pragma once

#include "faults.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace real::orders {

[[nodiscard]] std::string order_name(std::size_t order);

// A call of the shop for an order.
struct order_call {
    using clock = std::chrono::steady_clock;

    std::size_t order = 0;
    std::optional<planned_fault> fault{};
    unsigned tries = 0;
    clock::time_point not_before{};
};

class call_queue {
public:
    using clock = order_call::clock;

    call_queue(std::size_t orders, const fault_plan& plan) : orders_(orders), plan_(plan) {}

    // A call that waits and is due, or the first of the next order. The first caller of an order
    // with a fault is alone until the fault.
    [[nodiscard]] std::optional<order_call> next(clock::time_point now);
    // The call's planned fault happens.
    void on_hit(const order_call& call);
    // `is_final`: the caller knows how the order has ended. `is_done`: and it was carried out.
    void on_answer(const order_call& call, bool is_final, bool is_done, clock::time_point now);
    // The process of the call has died.
    void on_death(const order_call& call);

    [[nodiscard]] bool is_told(std::size_t order) const { return orders_.at(order).is_told; }
    // No other call of the order waits or runs.
    [[nodiscard]] bool is_last_call(std::size_t order) const {
        return orders_.at(order).open_calls == 1;
    }
    // Orders without a call that waits or runs, and orders of which a caller was told.
    [[nodiscard]] std::size_t complete() const noexcept { return complete_; }
    [[nodiscard]] std::size_t told() const noexcept { return told_; }
    [[nodiscard]] bool is_over() const noexcept {
        return complete_ == orders_.size() && waiting_.empty();
    }

private:
    struct order_state {
        unsigned open_calls = 0;  // waiting or running
        bool is_begun = false;    // all of its callers have come
        bool is_told = false;     // some caller was told that it is done
        bool is_complete = false;
    };

    void begin_others(std::size_t order);
    void add(const order_call& call);
    void end_call(std::size_t order);

    std::vector<order_state> orders_;
    const fault_plan plan_;
    std::deque<order_call> waiting_;
    std::size_t next_order_ = 0, complete_ = 0, told_ = 0;
};

}  // namespace real::orders
