// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Users of latches and barriers.
#pragma once

#include "simulated_user.hpp"

#include <pawl/latch.hpp>
#include <pawl/latch_options.hpp>

namespace pawl::simulation {

// The base: a user of one latch or barrier.
class latch_caller : public simulated_user {
public:
    latch_caller(program& program, std::string label, prng random, std::string_view name,
                 bool redisson);

protected:
    [[nodiscard]] std::vector<std::string> requested_names() const override { return {name_}; }
    void forget_holds() override {}
    [[nodiscard]] client& locks() {
        return uses_redisson_ ? program_.redisson_locks() : *program_.locks;
    }
    // A request begins to wait, as in latch_rule.
    void begin_wait(std::uint64_t phase, instant since);
    [[nodiscard]] duration longest_wait() const {
        return wait_kind_ == wait_kind::endless ? forever : wait_;
    }
    // The request completes, whether or not it waited.
    void complete_wait(const boost::system::error_code& ec);

    const std::string name_;
    const bool uses_redisson_;  // Redisson's latch
    const std::string checker_name_;
    wait_id wait_id_ = 0;  // 0: the request does not wait
};

// A user that sets latches and counts them down, and sometimes inspects or resets one.
class latch_user final : public latch_caller {
public:
    latch_user(program& program, std::string label, prng random, bool redisson)
        : latch_caller(program, std::move(label), random, latch_name, redisson) {}

private:
    void start_request() override;
    void set_latch(latch& latch);
    void count_down(latch& latch);
    void on_completion(const boost::system::error_code& ec, bool took_step);

    instant scenario_requested_at_{};
};

// A user that waits for a latch: it checks once, waits for a time, or waits until the count is 0.
class latch_waiter final : public latch_caller {
public:
    latch_waiter(program& program, std::string label, prng random, bool redisson)
        : latch_caller(program, std::move(label), random, latch_name, redisson) {}
    void stop_waiting() override { cancel_request(); }

private:
    void start_request() override;
    void on_completion(const boost::system::error_code& ec);
    void rest_now() { rest(); }
};

// A user that arrives at a barrier phase after phase and waits for the other parties.
class barrier_user final : public latch_caller {
public:
    barrier_user(program& program, std::string label, prng random)
        : latch_caller(program, std::move(label), random, barrier_name, false) {}
    void stop_waiting() override { cancel_request(); }

private:
    void start_request() override;
    void on_arrived(const boost::system::error_code& ec, phase arrival);
    void on_completion(const boost::system::error_code& ec);

    instant arrived_at_{};
};

}  // namespace pawl::simulation
