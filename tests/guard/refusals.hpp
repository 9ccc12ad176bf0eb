// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pawl::error that a call throws.
#pragma once

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

namespace guard_tests {

inline std::optional<pawl::error> refusal_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const pawl::error& refused) {
        return refused;
    }
    return std::nullopt;
}

// Its sentence; its code must be this one. Empty: nothing was refused.
inline std::string refusal_of(pawl::errc reason, const std::function<void()>& call) {
    const auto refused = refusal_of(call);
    if (!refused) return "";
    EXPECT_EQ(refused->reason(), reason) << refused->what();
    return refused->what();
}

}  // namespace guard_tests
