// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One thread of a simulated Java program. It acquires a lock or permits with Redisson, holds them,
// writes to the protected resource and releases them, all at random.
#pragma once

#include "../services/redis/simulated_user.hpp"
#include "java_lock.hpp"
#include "java_permits.hpp"

#include <memory>
#include <string>

namespace pawl::simulation {

class java_user final : public simulated_user {
public:
    java_user(program& program, std::string label, prng random, std::uint64_t thread)
        : simulated_user(program, std::move(label), random), thread_(thread) {}

private:
    // Shared with the watchdog, which may end later than the hold.
    struct current_hold {
        std::unique_ptr<java_synchronizer> object;
        hold_id id = 0;
        duration lease{};
        bool is_renewed = true;
        bool is_over = false;
    };

    void start_request() override;
    [[nodiscard]] std::vector<std::string> requested_names() const override { return {name_}; }
    [[nodiscard]] bool chooses_endless_permits();
    [[nodiscard]] std::unique_ptr<java_synchronizer> choose_object(lock_options& options,
                                                                   duration lease);
    [[nodiscard]] std::unique_ptr<java_synchronizer> choose_permits(lock_options& options,
                                                                    duration lease);
    [[nodiscard]] std::unique_ptr<java_synchronizer> choose_semaphore(lock_options& options);
    void limit_wait();
    [[nodiscard]] instant believed_until(const current_hold& held, instant sent_at) const;
    [[nodiscard]] java_object choose_kind_of_lock(lock_options& options);
    void forget_holds() override;
    boost::asio::awaitable<void> acquire();
    void note_grant(const java_synchronizer::hold& granted);
    boost::asio::awaitable<void> watch(std::shared_ptr<current_hold> held);
    void work();
    boost::asio::awaitable<void> release();
    void end_hold();

    const std::uint64_t thread_;
    std::string name_;
    pending_request request_;
    wait_id wait_id_ = 0;
    std::shared_ptr<current_hold> hold_;
};

}  // namespace pawl::simulation
