// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock of Redisson as one thread of a Java program uses it: lock, tryLock, unlock and the
// watchdog, by Redisson's own scripts.
#pragma once

#include "java_client.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::simulation {

enum class java_object : std::uint8_t { lock, fenced_lock };

class java_lock {
public:
    // A hold that counts as lost when `lease` has passed since `sent_at`.
    struct hold {
        bool is_granted = false;
        std::uint64_t token = 0;  // 0: none
        instant sent_at{};        // the last request that set the lease
    };
    enum class unlock_result : std::uint8_t { released, entered_again, not_held };

    // `wants_token`: the functions `lockAndGetToken` and `tryLockAndGetToken` of a FencedLock.
    java_lock(java_client& client, java_object object, std::string name, std::uint64_t thread,
              duration lease, bool wants_token);

    // `lock`, or `tryLock` with a waiting time; `give_up_at` in the past: `tryLock` without one.
    // Throws pawl::error if a request fails. Then the server may have granted the lock.
    boost::asio::awaitable<hold> acquire(time_point give_up_at);
    boost::asio::awaitable<unlock_result> unlock();
    // The watchdog's request. False: the lock is not held any more.
    boost::asio::awaitable<bool> renew();

    [[nodiscard]] const std::string& owner() const noexcept { return owner_; }

private:
    struct attempt {
        hold granted;
        std::int64_t left_ms = 0;  // of the holder's lease
    };
    boost::asio::awaitable<attempt> try_acquire();
    boost::asio::awaitable<hold> acquire_with_messages(time_point give_up_at);
    [[nodiscard]] std::string lease_ms() const;

    java_client& client_;
    const std::string name_, channel_, counter_, owner_;
    const duration lease_;
    const java_script acquire_script_;
};

}  // namespace pawl::simulation
