// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "call_queue.hpp"

#include <algorithm>
#include <utility>

namespace real::orders {

namespace {

using namespace std::chrono_literals;

constexpr unsigned callers = 3;  // of each order
constexpr unsigned most_tries = 60;

}  // namespace

std::string order_name(std::size_t order) { return "order-" + std::to_string(order); }

std::optional<order_call> call_queue::next(clock::time_point now) {
    const auto due =
        std::ranges::find_if(waiting_, [&](const auto& each) { return each.not_before <= now; });
    if (due != waiting_.end()) {
        const auto call = *due;
        waiting_.erase(due);
        return call;
    }
    if (next_order_ == orders_.size()) return std::nullopt;
    const auto order = next_order_++;
    const auto fault = plan_.of(order);
    ++orders_[order].open_calls;
    if (!fault) begin_others(order);
    return order_call{.order = order, .fault = fault};
}

void call_queue::begin_others(std::size_t order) {
    if (std::exchange(orders_[order].is_begun, true)) return;
    for (unsigned i = 1; i < callers; ++i)
        add({.order = order});
}

void call_queue::add(const order_call& call) {
    ++orders_[call.order].open_calls;
    waiting_.push_front(call);
}

void call_queue::on_hit(const order_call& call) {
    if (call.fault->kind().is_abandoned)
        orders_[call.order].is_begun = true;
    else
        begin_others(call.order);
}

// A caller that knows nothing calls again. The others may have the answer meanwhile.
void call_queue::on_answer(const order_call& call, bool is_final, bool is_done,
                           clock::time_point now) {
    auto& order = orders_[call.order];
    if (is_done && !std::exchange(order.is_told, true)) ++told_;
    if (!is_final && call.tries < (order.is_told ? 1 : most_tries))
        add({.order = call.order,
             .fault = order.is_begun ? std::nullopt : call.fault,
             .tries = call.tries + 1,
             .not_before = now + std::min<std::chrono::milliseconds>(20ms * call.tries, 500ms)});
    end_call(call.order);
}

// A queue delivers the call again, unless nobody should call again.
void call_queue::on_death(const order_call& call) {
    const bool was_hit = call.fault && orders_[call.order].is_begun;
    if (!was_hit)
        add({.order = call.order, .fault = call.fault, .tries = call.tries});
    else if (!call.fault->kind().is_abandoned)
        add({.order = call.order, .tries = call.tries + 1});
    end_call(call.order);
}

// A first caller that has met no fault has ended: now the others come.
void call_queue::end_call(std::size_t order) {
    auto& state = orders_[order];
    if (--state.open_calls > 0) return;
    if (!state.is_begun) return begin_others(order);
    if (!std::exchange(state.is_complete, true)) ++complete_;
}

}  // namespace real::orders
