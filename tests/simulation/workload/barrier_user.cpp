// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "barrier_user.hpp"

#include "latch_waiter.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

void barrier_user::start_request() {
    if (is_finishing_) return rest();
    wait_kind_ = wait_kind::endless;
    begin_request();
    wait_id_ = 0;
    if (random_.happens(0.1)) return inspect();
    arrived_at_ = scenario_now();
    barrier barrier(program_.locks(), std::string(barrier_name), barrier_parties);
    log("arrives at the barrier");
    auto handler = without_counting(
        [this](const boost::system::error_code& ec, phase arrival) { on_arrived(ec, arrival); });
    barrier.async_arrive(asio::bind_executor(program_.process().get_executor(), handler));
}

void barrier_user::inspect() {
    barrier barrier(program_.locks(), std::string(barrier_name), barrier_parties);
    log("inspects the barrier");
    auto handler = without_counting(
        [this](const boost::system::error_code& ec, const latch_info&) { on_completion(ec); });
    barrier.async_inspect(asio::bind_executor(program_.process().get_executor(), handler));
}

void barrier_user::on_arrived(const boost::system::error_code& ec, phase arrival) {
    if (is_abandoned_) return;
    if (ec) return on_completion(ec);
    choose_wait();
    begin_request();
    wait_id_ = invariants().latches().begin_wait(program_.process(), checker_name(barrier_name),
                                                 static_cast<std::uint64_t>(arrival), arrived_at_,
                                                 wait_kind_ != wait_kind::once);
    barrier barrier(program_.locks(), std::string(barrier_name), barrier_parties);
    log("waits for the phase of the barrier");
    auto handler = asio::bind_cancellation_slot(
        cancellation_->slot(),
        asio::bind_executor(program_.process().get_executor(),
                            without_counting([this](const boost::system::error_code& ended) {
                                on_completion(ended);
                            })));
    barrier.async_wait(arrival, wait_kind_ == wait_kind::endless ? forever : wait_,
                       std::move(handler));
    if (is_finishing_) return;
    plan_cancellation();
}

void barrier_user::on_completion(const boost::system::error_code& ec) {
    if (is_abandoned_) return;
    if (!std::exchange(is_waiting_, false))
        invariants().fail("I7", label_ + " got two completions of a request");
    log("completes with " + (ec ? ec.message() : "success"));
    const bool waited = wait_id_ != 0;
    if (waited) invariants().latches().end_wait(wait_id_, wait_result_of(ec));
    const bool in_vain = ec == make_error_code(errc::timed_out) && wait_kind_ == wait_kind::once;
    const bool is_unknown = waited && ec == make_error_code(errc::lost);
    if (ec && !is_unknown && !in_vain && !is_expected_error(ec))
        invariants().fail("I6", label_ + " got an unexpected error: " + ec.message());
    rest();
}

}  // namespace pawl::simulation
