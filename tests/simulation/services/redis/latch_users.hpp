// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Users of latches and barriers.
#pragma once

#include "simulated_user.hpp"

#include <pawl/latch.hpp>
#include <pawl/latch_options.hpp>

namespace pawl::simulation {

// A user that sets latches and counts them down, and sometimes inspects or resets one.
class latch_user final : public simulated_user {
public:
    latch_user(program& program, std::string label, prng random, bool redisson);

private:
    void start_request() override;
    [[nodiscard]] std::vector<std::string> requested_names() const override {
        return {std::string(latch_name)};
    }
    void forget_holds() override {}
    void set_latch(latch& latch);
    void count_down(latch& latch);
    void on_completion(const boost::system::error_code& ec, bool took_step);

    const bool uses_redisson_;  // counts down Redisson's latch
    const std::string checker_name_;
    instant scenario_requested_at_{};
};

// A user that waits for a latch: it checks once, waits for a time, or waits until the count is 0.
class latch_waiter final : public simulated_user {
public:
    latch_waiter(program& program, std::string label, prng random, bool redisson);
    void stop_waiting() override { cancel_request(); }

private:
    void start_request() override;
    [[nodiscard]] std::vector<std::string> requested_names() const override {
        return {std::string(latch_name)};
    }
    void forget_holds() override {}
    void on_completion(const boost::system::error_code& ec);
    void rest_now() { rest(); }

    const bool uses_redisson_;  // waits for Redisson's latch
    const std::string checker_name_;
    wait_id wait_id_ = 0;
};

// The result of a wait for the checker.
[[nodiscard]] latch_rule::wait_result wait_result_of(const boost::system::error_code& ec);

// A user that arrives at a barrier phase after phase and waits for the other parties.
class barrier_user final : public simulated_user {
public:
    using simulated_user::simulated_user;
    void stop_waiting() override { cancel_request(); }

private:
    void start_request() override;
    [[nodiscard]] std::vector<std::string> requested_names() const override {
        return {std::string(barrier_name)};
    }
    void forget_holds() override {}
    void on_arrived(const boost::system::error_code& ec, phase arrival);
    void inspect();
    void on_completion(const boost::system::error_code& ec);

    instant arrived_at_{};
    wait_id wait_id_ = 0;  // 0: not arrived yet
};

}  // namespace pawl::simulation
