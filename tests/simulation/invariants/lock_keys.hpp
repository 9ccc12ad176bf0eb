// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The keys of a lock, in either layout.
#pragma once

#include <redis/common/keys.hpp>

#include <array>
#include <string>
#include <string_view>

namespace pawl::simulation {

struct lock_keys {
    std::string lock, fence, queue, waiters, holders, details;

    [[nodiscard]] std::array<std::string_view, 6> all() const noexcept {
        return {lock, fence, queue, waiters, holders, details};
    }
};

inline lock_keys to_lock_keys(const redis::keys& from) {
    return {std::string(from.lock()),    std::string(from.fence()),   std::string(from.queue()),
            std::string(from.waiters()), std::string(from.holders()), std::string(from.details())};
}

}  // namespace pawl::simulation
