// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules of a store that keeps holders and waiters itself: which holders may have a lock
// together, and which waiter is next. These functions use no clock and no I/O.
#pragma once

#include "../util/spi.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace pawl::core {

// The part of a lock that one holder has, or that one claim requests.
struct lock_share {
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 0;  // counted in lock_mode::permits only
};
[[nodiscard]] lock_share share_of(const claim& requested) noexcept;

// The present holders of one lock.
class occupancy {
public:
    void add(const lock_share& holder) noexcept;

    // True if no claim fits, whatever its mode. Holders in several modes, which no store creates,
    // exclude all other claims, too.
    [[nodiscard]] bool excludes_all() const noexcept;
    // True if the mode allows another holder.
    [[nodiscard]] bool admits(lock_mode mode) const noexcept;
    // True if the mode allows another holder and enough permits are free.
    [[nodiscard]] bool admits(lock_share share, std::uint32_t total_permits) const noexcept;

private:
    std::optional<lock_mode> mode_;
    bool is_mixed_ = false;
    std::uint64_t permits_ = 0;
};

// The occupancy by these holders; their type needs the members `mode` and `permits`.
template <class Holders>
[[nodiscard]] occupancy occupancy_of(const Holders& holders) noexcept {
    occupancy present;
    for (const auto& each : holders)
        present.add({each.mode, each.permits});
    return present;
}

// True if the claim can never be granted while the semaphore has this total.
[[nodiscard]] bool exceeds_total(lock_share share, std::uint32_t total_permits) noexcept;

// True if a caller that is not in the queue gets the lock. No caller passes a waiter, whether its
// claim is `fair` or not.
[[nodiscard]] bool admits_newcomer(lock_share share, bool has_waiters, const occupancy& present,
                                   std::uint32_t total_permits) noexcept;

// The step for the first waiter of a queue.
enum class queue_step : std::uint8_t {
    wait,    // it stays in the queue, and so do all waiters behind it
    grant,   // it gets the lock
    refuse,  // it requests more permits than the total, and gets an error
    discard  // its client has ended
};
[[nodiscard]] queue_step step_of(const lock_share& first, bool is_dead, const occupancy& present,
                                 std::uint32_t total_permits) noexcept;

// Removes waiters from the front of the queue until one must wait. Returns true if a waiter is
// left. Queue needs `first()`, which returns a pointer or an optional, empty without waiters. These
// members take the first waiter: `share_of`, `is_dead` and `total_permits` describe the waiter;
// `grant`, `refuse` and `discard` remove the waiter from the queue.
template <class Queue>
bool serve_queue(Queue& queue, occupancy present) {
    while (auto first = queue.first()) {
        const auto share = queue.share_of(*first);
        switch (step_of(share, queue.is_dead(*first), present, queue.total_permits(*first))) {
        case queue_step::wait: return true;
        case queue_step::refuse: queue.refuse(*first); break;
        case queue_step::discard: queue.discard(*first); break;
        case queue_step::grant:
            queue.grant(*first);
            present.add(share);
            break;
        }
    }
    return false;
}

// The result of releasing a hold that the store does not have.
[[nodiscard]] release_result result_of_missing_hold(lock_mode mode,
                                                    const occupancy& present) noexcept;

// The token that a new reader shares: the newest token of all holders, if a live holder has it.
// Empty: the claim needs a new token. Readers that hold a lock at the same time have one token, so
// a resource accepts their writes in any order. The elements of `holders` need the member `token`.
template <class Holders, class IsAlive>
[[nodiscard]] std::optional<fencing_token> reader_token(lock_mode mode, const Holders& holders,
                                                        IsAlive is_alive) {
    if (mode != lock_mode::shared) return std::nullopt;
    fencing_token newest;
    for (const auto& each : holders)
        newest = std::max(newest, each.token);
    for (const auto& each : holders)
        if (each.token == newest && is_alive(each)) return newest;
    return std::nullopt;
}

// The time at which the first of the leases ends; time_point::max() without holders.
template <class Holders>
[[nodiscard]] time_point first_expiry(const Holders& holders) noexcept {
    auto first = time_point::max();
    for (const auto& each : holders)
        first = std::min(first, each.expires);
    return first;
}

}  // namespace pawl::core
