// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock of Redisson as one thread of a Java program uses it: lock, tryLock, unlock and the
// watchdog, by Redisson's own scripts.
#pragma once

#include "java_synchronizer.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::simulation {

enum class java_object : std::uint8_t { lock, fenced_lock, fair_lock, read_lock, write_lock };

class java_lock final : public java_synchronizer {
public:
    // `wants_token`: the functions `lockAndGetToken` and `tryLockAndGetToken` of a FencedLock.
    java_lock(java_client& client, java_object object, std::string name, std::uint64_t thread,
              duration lease, bool wants_token);

    // `lock`, or `tryLock` with or without a waiting time.
    boost::asio::awaitable<hold> acquire(time_point give_up_at) override;
    // Repeats `unlock` until the thread does not hold the lock.
    boost::asio::awaitable<void> release() override;
    // The watchdog's request.
    boost::asio::awaitable<bool> renew() override;
    [[nodiscard]] const std::string& owner() const noexcept override { return owner_; }

private:
    // The keys and arguments of a script.
    struct call {
        java_script script;
        words keys, arguments;
    };
    boost::asio::awaitable<attempt> attempt_before_wait() override { return try_acquire(true); }
    boost::asio::awaitable<attempt> try_acquire(bool waits);
    boost::asio::awaitable<void> leave_queue();
    boost::asio::awaitable<void> unlock();
    boost::asio::awaitable<bool> is_held_by_this_thread();
    [[nodiscard]] call acquire_call(bool waits) const;
    [[nodiscard]] call unlock_call(const std::string& latch) const;
    [[nodiscard]] call renew_call() const;
    [[nodiscard]] std::string lease_ms() const;
    [[nodiscard]] std::string name_with(std::string_view prefix) const;

    java_client& client_;
    const java_object object_;
    const bool wants_token_;
    const std::string name_, tagged_, owner_, channel_;
    const duration lease_;
    std::string queue_wait_ms_;  // how long a place in a fair lock's queue lasts
};

}  // namespace pawl::simulation
