// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One claim, from its first request until it is granted, given up or failed.
#pragma once

#include "lock_client.hpp"

#include <optional>
#include <string>

namespace pawl::consul {

// As the whole `lock_client`.
class lock_client::acquire_attempt {
public:
    // The client and the claim outlive the attempt.
    acquire_attempt(lock_client& client, const claim& requested, time_point give_up_at);

    boost::asio::awaitable<std::optional<grant>> run();

private:
    boost::asio::awaitable<outcome> request();
    // Learns how the key is. Throws errc::wrong_type if it is no lock.
    boost::asio::awaitable<void> look();
    void note(const reading& seen);
    // Waits until the lock is free, or `give_up_at_`.
    boost::asio::awaitable<void> wait();
    boost::asio::awaitable<void> wait_for_change();
    [[nodiscard]] time_point request_limit() const;

    lock_client& client_;
    const claim& requested_;
    const time_point give_up_at_;
    const bool is_single_;  // it does not wait
    const std::string key_;
    bool is_free_ = false;
    std::uint64_t free_at_ = 0;     // the index of a key that nobody has locked; 0: there is no key
    std::uint64_t seen_index_ = 0;  // for the wait; 0: there is none
    std::optional<grant> granted_;
};

}  // namespace pawl::consul
