// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user that sets latches and counts them down, and sometimes inspects or resets one.
#pragma once

#include "simulated_user.hpp"

#include <pawl/latch.hpp>

namespace pawl::simulation {

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

}  // namespace pawl::simulation
