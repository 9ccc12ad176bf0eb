// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Holds with a value of the caller's own, as other libraries use them.
#pragma once

#include "../common/server_access.hpp"
#include "lock_scripts.hpp"
#include "releases.hpp"

#include <optional>

namespace pawl::redis::native {

// Used on one strand.
class caller_values {
public:
    // The arguments must outlive the object, and the object the undos.
    caller_values(server_access& access, lock_scripts& scripts, releases& released) noexcept
        : access_(access), scripts_(scripts), releases_(released) {}
    caller_values(const caller_values&) = delete;
    caller_values& operator=(const caller_values&) = delete;

    // As backend::acquire for a claim with a value, and backend::adopt.
    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested);
    boost::asio::awaitable<std::optional<grant>> adopt(const claim& requested);

private:
    server_access& access_;
    lock_scripts& scripts_;
    releases& releases_;
};

}  // namespace pawl::redis::native
