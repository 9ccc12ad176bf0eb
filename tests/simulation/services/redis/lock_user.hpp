// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One user of locks in a simulated program. It acquires a lock, holds it, writes to the protected
// resource and releases the lock, all at random.
#pragma once

#include "simulated_user.hpp"

#include <pawl/held_lock.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace pawl::simulation {

class lock_user final : public simulated_user {
public:
    using simulated_user::simulated_user;

private:
    void start_request() override;
    [[nodiscard]] std::vector<std::string> requested_names() const override { return {name_}; }
    void forget_holds() override;
    // The callback of a loss.
    void on_loss();
    // The injected bug granted_without_handle: true if the user got no handle of its grant.
    [[nodiscard]] bool loses_handle(held_lock& lock);
    void on_completion(const boost::system::error_code& ec, held_lock lock);
    [[nodiscard]] lock_options choose_options();
    void work();
    void downgrade();
    void on_downgraded(const boost::system::error_code& ec);
    void release();
    void on_released(release_result result);
    void release_handle();

    // The current request.
    std::string name_;
    pending_request request_;
    wait_id wait_id_ = 0;

    // The current hold.
    held_lock lock_;
    std::optional<std::stop_callback<std::function<void()>>> loss_callback_;
    std::vector<held_lock> lost_handles_;  // for granted_without_handle
    hold_id hold_id_ = 0;
    std::uint64_t token_ = 0;
    bool expects_release_ = false;  // the release must find the hold
};

}  // namespace pawl::simulation
