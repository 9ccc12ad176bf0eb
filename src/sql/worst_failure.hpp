// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What to say of several servers of which none accepted a client.
#pragma once

#include <pawl/error.hpp>

#include <optional>

namespace pawl::sql {

// The failure that helps most to explain that no server was found: one that lasts, then one of a
// server that answered.
class worst_failure {
public:
    void add(const error& failure) {
        if (!worst_ || rank(failure) > rank(*worst_)) worst_ = failure;
    }
    [[noreturn]] void rethrow() const { throw *worst_; }

private:
    static int rank(const error& failure) noexcept {
        return !failure.is_transient() ? 2 : failure.reason() == errc::unavailable ? 1 : 0;
    }

    std::optional<error> worst_;
};

}  // namespace pawl::sql
