// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_waiter.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

latch_checker::wait_result wait_result_of(const boost::system::error_code& ec) {
    if (!ec) return latch_checker::wait_result::passed;
    if (ec == make_error_code(errc::lost)) return latch_checker::wait_result::unknown_latch;
    return latch_checker::wait_result::other;
}

latch_waiter::latch_waiter(program& program, std::string label, prng random, bool redisson)
    : simulated_user(program, std::move(label), random),
      uses_redisson_(redisson),
      checker_name_(redisson ? std::string(latch_name) + program_.context().space.redisson_label()
                             : checker_name(latch_name)) {}

void latch_waiter::start_request() {
    if (is_finishing_) return rest();
    choose_wait();
    begin_request();
    wait_id_ = invariants().latches().begin_wait(program_.process(), checker_name_, 0,
                                                 scenario_now(), wait_kind_ != wait_kind::once);
    latch latch(uses_redisson_ ? program_.redisson_locks() : program_.locks(),
                std::string(latch_name));
    log("waits for the latch");
    auto handler = asio::bind_cancellation_slot(
        cancellation_->slot(),
        asio::bind_executor(
            program_.process().get_executor(),
            without_counting([this](const boost::system::error_code& ec) { on_completion(ec); })));
    latch.async_wait(wait_kind_ == wait_kind::endless ? forever : wait_, std::move(handler));
    plan_cancellation();
}

void latch_waiter::on_completion(const boost::system::error_code& ec) {
    if (is_abandoned_) return;
    if (!std::exchange(is_waiting_, false))
        invariants().fail("I7", label_ + " got two completions of a request");
    log("completes with " + (ec ? ec.message() : "success"));
    invariants().latches().end_wait(wait_id_, wait_result_of(ec));
    const bool in_vain = ec == make_error_code(errc::timed_out) && wait_kind_ == wait_kind::once;
    if (ec && ec != make_error_code(errc::lost) && !in_vain && !is_expected_error(ec))
        invariants().fail("I6", label_ + " got an unexpected error: " + ec.message());
    // A latch at 0 delays nobody, so the user pauses.
    schedule(instant(random_.between(0, instant(200ms).count())), this, &latch_waiter::rest_now);
}

}  // namespace pawl::simulation
