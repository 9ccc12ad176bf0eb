// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_user.hpp"

#include <pawl/error.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

simulated_user::simulated_user(program& program, std::string label, prng random)
    : program_(program), label_(std::move(label)), random_(random) {}

void simulated_user::log(std::string_view text) const {
    trace::line(program_.context().log) << label_ << " " << text;
}

void simulated_user::start() {
    is_resting_ = false;
    rest();
}

void simulated_user::rest() {
    program_.check_memory();
    if (is_finishing_) {
        is_resting_ = true;
        return;
    }
    // Even a fast user pauses sometimes, because a thousand equal rounds find few errors.
    const auto most = request_number_ % 16 == 15 ? std::max<instant>(behaviour().longest_idle, 1s)
                                                 : behaviour().longest_idle;
    schedule(random_.between(0ns, most), this, &simulated_user::start_request);
}

void simulated_user::finish() {
    is_finishing_ = true;
    hold_until_ = {};
}

void simulated_user::abandon() {
    is_abandoned_ = true;
    is_finishing_ = is_resting_ = true;
    forget_holds();
}

duration simulated_user::choose_ttl() {
    return duration(
        random_.between(behaviour().shortest_ttl.count(), behaviour().longest_ttl.count()));
}

lock_options simulated_user::choose_common_options() {
    lock_options options;
    options.ttl = choose_ttl();
    options.wait = wait_kind_ == wait_kind::endless ? forever : wait_;
    if (random_.happens(behaviour().limits_hold))
        options.max_hold = duration(random_.between(20'000'000, 3'000'000'000));
    options.fenced = !random_.happens(behaviour().unfenced);
    return options;
}

try_options simulated_user::to_try_options(const lock_options& options) noexcept {
    return {.ttl = options.ttl,
            .max_hold = options.max_hold,
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .total_permits = options.total_permits,
            .durable = options.durable};
}

void simulated_user::choose_wait() {
    wait_kind_ = random_.happens(behaviour().tries_once)    ? wait_kind::once
                 : random_.happens(behaviour().limits_wait) ? wait_kind::limited
                                                            : wait_kind::endless;
    wait_ =
        wait_kind_ == wait_kind::once ? duration{} : duration(random_.between(0, 1'500'000'000));
}

void simulated_user::begin_request() {
    ++request_number_;
    is_waiting_ = true;
    is_cancelled_ = false;
    requested_at_ = program_.time.now();
    cancellation_ = std::make_unique<asio::cancellation_signal>();
}

void simulated_user::complete_request(const std::string& result,
                                      const boost::system::error_code& ec, bool is_expected) {
    if (!std::exchange(is_waiting_, false))
        invariants().fail("I7", label_ + " got two completions of a request");
    log("completes with " + result);
    if (ec && !is_expected)
        invariants().fail("I6", label_ + " got an unexpected error: " + ec.message());
}

void simulated_user::plan_cancellation() {
    if (!random_.happens(behaviour().cancels)) return;
    cancelled_request_ = request_number_;
    // At every await point: at once, during the request, or in the queue.
    const auto most = random_.happens(0.5) ? 3ms : 800ms;
    schedule(random_.between(0ns, instant(most)), this, &simulated_user::cancel_if_current);
}

void simulated_user::cancel_if_current() {
    if (cancelled_request_ == request_number_) cancel_request();
}

void simulated_user::cancel_request() {
    if (!is_waiting_) return;
    log("cancels its request");
    is_cancelled_ = true;
    cancellation_->emit(asio::cancellation_type::terminal);
}

bool simulated_user::has_calm_servers() const {
    const auto& scenario_plan = program_.context().scenario_plan;
    return std::ranges::all_of(requested_names(), [&](const auto& name) {
        return scenario_plan.server_plan_of(name).is_calm;
    });
}

bool simulated_user::was_refused() const {
    const auto& scenario_plan = program_.context().scenario_plan;
    const auto since = program_.process.instant_of(requested_at_);
    return std::ranges::any_of(requested_names(), [&](const auto& name) {
        return scenario_plan.server_plan_of(name).runs_out_of_memory ||
               invariants().facts().was_refusing_since(scenario_plan.server_of(name), since);
    });
}

bool simulated_user::is_expected_error(const boost::system::error_code& ec) const {
    const auto now = program_.time.now();
    const bool too_long = wait_kind_ == wait_kind::limited && now - requested_at_ >= wait_;
    if (ec == make_error_code(errc::timed_out)) return too_long;
    if (ec == asio::error::operation_aborted) return is_cancelled_;
    if (ec == make_error_code(errc::exhausted))
        return program_.process.resources().has_ever_run_short();
    const bool disturbed = !has_calm_servers() || !is_undisturbed();
    // The server refuses, or the undo queue is full.
    if (ec == make_error_code(errc::unavailable))
        return was_refused() ||
               program_.context().scenario_plan.limits.max_undos < redis::limits{}.max_undos;
    // Also if the time ended before the first connection was established.
    return ec == make_error_code(errc::unreachable) && (disturbed || too_long);
}

void simulated_user::choose_hold_end(duration ttl) {
    const auto most =
        random_.happens(behaviour().holds_too_long) ? instant(2 * ttl) : behaviour().longest_hold;
    hold_until_ = scenario_now() + random_.between(0ns, most);
}

instant simulated_user::next_work_delay() {
    const auto step = std::min<instant>(hold_until_ - scenario_now(), 40ms);
    return instant(random_.between(step.count() / 2, step.count()));
}

}  // namespace pawl::simulation
