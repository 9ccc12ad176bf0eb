// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user that waits for a latch: it checks once, waits for a time, or waits until the count is 0.
#pragma once

#include "simulated_user.hpp"

namespace pawl::simulation {

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
    latch_checker::wait_id wait_id_ = 0;
};

// The result of a wait for the checker.
[[nodiscard]] latch_checker::wait_result wait_result_of(const boost::system::error_code& ec);

}  // namespace pawl::simulation
