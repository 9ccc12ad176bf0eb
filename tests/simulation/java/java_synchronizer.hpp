// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock or a semaphore of Redisson as one thread of a Java program uses it.
#pragma once

#include "java_client.hpp"

#include <cstdint>
#include <string>

namespace pawl::simulation {

class java_synchronizer {
public:
    // The result of an acquire. A granted hold counts as lost when its lease has passed since
    // `sent_at`.
    struct hold {
        bool is_granted = false;
        std::uint64_t token = 0;  // 0: none
        instant sent_at{};        // the last request that set the lease
        words permit_ids{};       // of an expirable semaphore
    };

    java_synchronizer() = default;
    virtual ~java_synchronizer() = default;
    java_synchronizer(const java_synchronizer&) = delete;
    java_synchronizer& operator=(const java_synchronizer&) = delete;

    // Waits until `give_up_at`; if that is in the past, it only tries. Throws pawl::error if a
    // request fails. Then the server may have granted the hold.
    virtual boost::asio::awaitable<hold> acquire(time_point give_up_at) = 0;
    virtual boost::asio::awaitable<void> release() = 0;
    // Extends the lease. False: the hold has ended.
    virtual boost::asio::awaitable<bool> renew() = 0;
    // UUID:THREAD
    [[nodiscard]] virtual const std::string& owner() const noexcept = 0;

protected:
    struct attempt {
        hold granted;
        // When to try again even without a message.
        time_point try_again_at = time_point::max();
    };
    // One attempt of a thread that waits if the attempt fails. In a FairLock, a failed attempt also
    // takes a place in the queue.
    virtual boost::asio::awaitable<attempt> attempt_before_wait() = 0;
    // Unsubscribes at the end of the scope.
    struct subscription {
        java_client& client;
        const std::string& channel;
        ~subscription() { client.unsubscribe(channel); }
    };
    // Tries now and after each message of the channel, to which the client has subscribed.
    boost::asio::awaitable<hold> acquire_with_messages(java_client& client,
                                                       const std::string& channel,
                                                       time_point give_up_at);
};

}  // namespace pawl::simulation
