// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user that arrives at a barrier phase after phase and waits for the other parties.
#pragma once

#include "simulated_user.hpp"

#include <pawl/latch_options.hpp>

namespace pawl::simulation {

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
    latch_checker::wait_id wait_id_ = 0;  // 0: not arrived yet
};

}  // namespace pawl::simulation
