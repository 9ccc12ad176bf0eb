// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_users.hpp"

#include <pawl/error.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

latch_user::latch_user(program& program, std::string label, prng random, bool redisson)
    : simulated_user(program, std::move(label), random),
      uses_redisson_(redisson),
      checker_name_(redisson ? std::string(latch_name) + program_.context().space.redisson_label()
                             : checker_name(latch_name)) {}

void latch_user::start_request() {
    if (is_finishing_) return rest();
    wait_kind_ = wait_kind::endless;
    begin_request();
    scenario_requested_at_ = scenario_now();
    latch_options options;
    if (random_.happens(0.1)) options.ttl = duration(random_.between(1'000'000'000, 3'000'000'000));
    latch latch(uses_redisson_ ? program_.redisson_locks() : program_.locks(),
                std::string(latch_name), options);
    const auto executor = program_.process().get_executor();
    if (random_.happens(0.3)) return set_latch(latch);
    if (!program_.context().scenario_plan.has_latch_waiters || random_.happens(0.8))
        return count_down(latch);
    if (random_.happens(0.7)) {
        log("inspects the latch");
        auto handler = without_counting([this](const boost::system::error_code& ec,
                                               const latch_info&) { on_completion(ec, false); });
        return latch.async_inspect(asio::bind_executor(executor, handler));
    }
    log("resets the latch");
    auto handler = without_counting(
        [this](const boost::system::error_code& ec, bool) { on_completion(ec, false); });
    latch.async_reset(asio::bind_executor(executor, handler));
}

// With waiters, the count often reaches 0. At 0, a further step has no effect.
void latch_user::set_latch(latch& latch) {
    const auto most =
        program_.context().scenario_plan.has_latch_waiters && random_.happens(0.5) ? 4 : 30;
    const auto count = static_cast<std::uint32_t>(random_.between(1, most));
    log("sets the latch to " + std::to_string(count));
    auto handler = without_counting(
        [this](const boost::system::error_code& ec, bool) { on_completion(ec, false); });
    latch.async_try_set(count, asio::bind_executor(program_.process().get_executor(), handler));
}

void latch_user::count_down(latch& latch) {
    log("counts the latch down");
    auto handler = without_counting(
        [this](const boost::system::error_code& ec, std::uint64_t) { on_completion(ec, true); });
    latch.async_count_down(1, asio::bind_executor(program_.process().get_executor(), handler));
}

void latch_user::on_completion(const boost::system::error_code& ec, bool took_step) {
    if (is_abandoned_) return;
    if (!std::exchange(is_waiting_, false))
        invariants().fail("I7", label_ + " got two completions of a request");
    log("completes with " + ec.message());
    const bool unknown_latch = took_step && ec == make_error_code(errc::lost);
    if (unknown_latch)
        invariants().latches().check_unknown_latch(checker_name_, scenario_requested_at_);
    if (ec && !unknown_latch && !is_expected_error(ec))
        invariants().fail("I6", label_ + " got an unexpected error: " + ec.message());
    rest();
}

latch_rule::wait_result wait_result_of(const boost::system::error_code& ec) {
    if (!ec) return latch_rule::wait_result::passed;
    if (ec == make_error_code(errc::lost)) return latch_rule::wait_result::unknown_latch;
    return latch_rule::wait_result::other;
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
