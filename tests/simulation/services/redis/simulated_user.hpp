// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The base of every user of a simulated program. A user makes a request, sometimes gives up,
// pauses, and repeats that until its program ends.
#pragma once

#include "program.hpp"

#include <pawl/options.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

class simulated_user {
public:
    simulated_user(program& program, std::string label, prng random);
    virtual ~simulated_user() = default;
    simulated_user(const simulated_user&) = delete;
    simulated_user& operator=(const simulated_user&) = delete;

    void start();
    // The user makes no further request.
    void finish();
    [[nodiscard]] bool has_finished() const noexcept { return is_resting_ && is_finishing_; }
    // The program is dead or ends. The user ignores all further events.
    void abandon();
    // Gives up a wait whose event may never occur, because all other users have finished.
    virtual void stop_waiting() {}

protected:
    enum class wait_kind : std::uint8_t { once, limited, endless };

    virtual void start_request() = 0;
    // The names of the current request.
    [[nodiscard]] virtual std::vector<std::string> requested_names() const = 0;
    // Drops all holds without a release.
    virtual void forget_holds() = 0;

    template <class Self>
    void schedule(instant delay, Self* self, void (Self::*method)()) {
        program_.context().loop.schedule_after(delay, [this, self, method] {
            program_.process.post([this, self, method] {
                const uncounted_allocations uncounted;
                if (!is_abandoned_) (self->*method)();
            });
        });
    }
    // A handler of the user in its program, whose allocations are not counted for the library.
    template <class F>
    auto in_program(F work) {
        return boost::asio::bind_executor(program_.process.get_executor(),
                                          [work = std::move(work)](auto&&... results) mutable {
                                              const uncounted_allocations uncounted;
                                              work(std::forward<decltype(results)>(results)...);
                                          });
    }
    // The same, for the current request, which the user may cancel.
    template <class F>
    auto cancellable(F work) {
        return boost::asio::bind_cancellation_slot(cancellation_->slot(),
                                                   in_program(std::move(work)));
    }
    void rest();
    // Chooses how long the next request waits.
    void choose_wait();
    // The request begins.
    void begin_request();
    void plan_cancellation();
    // The request completes.
    void complete_request(const std::string& result, const boost::system::error_code& ec,
                          bool is_expected);
    // Cancels the current request.
    void cancel_request();
    // Whether the server of each requested name is calm.
    [[nodiscard]] bool has_calm_servers() const;
    [[nodiscard]] bool is_expected_error(const boost::system::error_code& ec) const;
    // Chooses ttl, wait, max_hold and fencing.
    [[nodiscard]] lock_options choose_common_options();
    // The same options without `wait`, for one attempt.
    [[nodiscard]] static try_options to_try_options(const lock_options& options) noexcept;
    // Chooses the time of the release.
    void choose_hold_end(duration ttl);
    // The delay until the user works with its hold again.
    [[nodiscard]] instant next_work_delay();
    void log(std::string_view text) const;
    [[nodiscard]] instant scenario_now() const { return program_.context().loop.now(); }
    [[nodiscard]] std::string checker_name(std::string_view name) const {
        return program_.context().space.checker_name(name);
    }
    [[nodiscard]] checker& invariants() const { return program_.context().invariants; }
    [[nodiscard]] const user_behaviour& behaviour() const {
        return program_.context().scenario_plan.behaviour;
    }
    // The released hold is lost, and the client has counted a loss.
    template <class Handle>
    [[nodiscard]] static bool is_loss_told(const Handle& released, const client& locks) {
        const auto counted = locks.statistics();
        return released.state() == lock_state::lost && counted.losses + counted.late_releases > 0;
    }
    // The program was never paused and never short of a resource.
    [[nodiscard]] bool is_undisturbed() const {
        return program_.process.resumed_at() == instant{} &&
               !program_.process.resources().has_ever_run_short();
    }

    program& program_;
    const std::string label_;
    prng random_;
    bool is_finishing_ = false;
    bool is_abandoned_ = false;

    // The current request.
    wait_kind wait_kind_{};
    duration wait_{};
    time_point requested_at_{};
    bool is_waiting_ = false;
    bool is_cancelled_ = false;
    std::unique_ptr<boost::asio::cancellation_signal> cancellation_;
    instant hold_until_{};

private:
    // A server of a requested name has refused requests since the request began.
    [[nodiscard]] bool was_refused() const;
    void cancel_if_current();
    [[nodiscard]] duration choose_ttl();

    bool is_resting_ = true;
    std::uint64_t request_number_ = 0;
    std::uint64_t cancelled_request_ = 0;
};

}  // namespace pawl::simulation
