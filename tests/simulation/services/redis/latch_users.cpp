// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_users.hpp"

#include <pawl/error.hpp>

using namespace std::chrono_literals;

namespace pawl::simulation {

latch_caller::latch_caller(program& program, std::string label, prng random, std::string_view name,
                           bool redisson)
    : simulated_user(program, std::move(label), random),
      name_(name),
      uses_redisson_(redisson),
      checker_name_(redisson ? name_ + program_.context().space.redisson_label()
                             : checker_name(name_)) {}

void latch_caller::begin_wait(std::uint64_t phase, instant since) {
    choose_wait();
    begin_request();
    wait_id_ = invariants().latches().begin_wait(program_.process, checker_name_, phase, since,
                                                 wait_kind_ != wait_kind::once);
}

void latch_caller::complete_wait(const boost::system::error_code& ec) {
    using wait_result = latch_rule::wait_result;
    const bool has_waited = wait_id_ != 0;
    const bool is_unknown = has_waited && ec == make_error_code(errc::lost);
    const bool in_vain = ec == make_error_code(errc::timed_out) && wait_kind_ == wait_kind::once;
    complete_request(ec ? ec.message() : "success", ec,
                     is_unknown || in_vain || is_expected_error(ec));
    if (has_waited)
        invariants().latches().end_wait(wait_id_, is_unknown ? wait_result::unknown_latch
                                                  : ec       ? wait_result::other
                                                             : wait_result::passed);
}

void latch_user::start_request() {
    if (is_finishing_) return rest();
    wait_kind_ = wait_kind::endless;
    begin_request();
    scenario_requested_at_ = scenario_now();
    latch_options options;
    if (random_.happens(0.1)) options.ttl = duration(random_.between(1'000'000'000, 3'000'000'000));
    latch latch(locks(), name_, options);
    if (random_.happens(0.3)) return set_latch(latch);
    if (!program_.context().scenario_plan.has_latch_waiters || random_.happens(0.8))
        return count_down(latch);
    if (random_.happens(0.7)) {
        log("inspects the latch");
        return latch.async_inspect(
            in_program([this](const boost::system::error_code& ec, const latch_info&) {
                on_completion(ec, false);
            }));
    }
    log("resets the latch");
    latch.async_reset(in_program(
        [this](const boost::system::error_code& ec, bool) { on_completion(ec, false); }));
}

// With waiters, the count often reaches 0. At 0, a further step has no effect.
void latch_user::set_latch(latch& latch) {
    const auto most =
        program_.context().scenario_plan.has_latch_waiters && random_.happens(0.5) ? 4 : 30;
    const auto count = static_cast<std::uint32_t>(random_.between(1, most));
    log("sets the latch to " + std::to_string(count));
    latch.async_try_set(count, in_program([this](const boost::system::error_code& ec, bool) {
                            on_completion(ec, false);
                        }));
}

void latch_user::count_down(latch& latch) {
    log("counts the latch down");
    latch.async_count_down(1, in_program([this](const boost::system::error_code& ec,
                                                std::uint64_t) { on_completion(ec, true); }));
}

void latch_user::on_completion(const boost::system::error_code& ec, bool took_step) {
    if (is_abandoned_) return;
    const bool unknown_latch = took_step && ec == make_error_code(errc::lost);
    complete_request(ec.message(), ec, unknown_latch || is_expected_error(ec));
    if (unknown_latch)
        invariants().latches().check_unknown_latch(checker_name_, scenario_requested_at_);
    rest();
}

void latch_waiter::start_request() {
    if (is_finishing_) return rest();
    begin_wait(0, scenario_now());
    latch latch(locks(), name_);
    log("waits for the latch");
    latch.async_wait(longest_wait(), cancellable([this](const boost::system::error_code& ec) {
                         on_completion(ec);
                     }));
    plan_cancellation();
}

void latch_waiter::on_completion(const boost::system::error_code& ec) {
    if (is_abandoned_) return;
    complete_wait(ec);
    // A latch at 0 delays nobody, so the user pauses.
    schedule(random_.between(0ns, instant(200ms)), this, &latch_waiter::rest_now);
}

void barrier_user::start_request() {
    if (is_finishing_) return rest();
    wait_kind_ = wait_kind::endless;
    begin_request();
    wait_id_ = 0;
    barrier barrier(locks(), name_, barrier_parties);
    if (random_.happens(0.1)) {
        log("inspects the barrier");
        return barrier.async_inspect(in_program(
            [this](const boost::system::error_code& ec, const latch_info&) { on_completion(ec); }));
    }
    arrived_at_ = scenario_now();
    log("arrives at the barrier");
    barrier.async_arrive(in_program(
        [this](const boost::system::error_code& ec, phase arrival) { on_arrived(ec, arrival); }));
}

void barrier_user::on_arrived(const boost::system::error_code& ec, phase arrival) {
    if (is_abandoned_) return;
    if (ec) return on_completion(ec);
    begin_wait(static_cast<std::uint64_t>(arrival), arrived_at_);
    barrier barrier(locks(), name_, barrier_parties);
    log("waits for the phase of the barrier");
    barrier.async_wait(
        arrival, longest_wait(),
        cancellable([this](const boost::system::error_code& ended) { on_completion(ended); }));
    if (is_finishing_) return;
    plan_cancellation();
}

void barrier_user::on_completion(const boost::system::error_code& ec) {
    if (is_abandoned_) return;
    complete_wait(ec);
    rest();
}

}  // namespace pawl::simulation
