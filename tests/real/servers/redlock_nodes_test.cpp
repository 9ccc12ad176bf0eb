// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// When the nodes of Redlock are a set again after a fault.
#include "redlock_nodes.hpp"

#include <gtest/gtest.h>

namespace {

using namespace real;

membership member(std::string nonce, std::uint64_t incarnation, std::vector<std::string> marks) {
    return {.run_id = "run",
            .nonce = std::move(nonce),
            .incarnation = incarnation,
            .is_member = true,
            .marks = std::move(marks)};
}

TEST(ProofRedlockNodes, AreASetIfNoneHasHeardOfALaterMemory) {
    const auto first = member("a", 1, {"1:a", "1:b"});
    EXPECT_TRUE(is_whole_set({first, member("b", 1, {"1:a", "1:b"})}));
    EXPECT_TRUE(is_whole_set({first, member("c", 2, {"1:a", "2:c"})}))
        << "the first one need not know that the second one has joined again";
    EXPECT_FALSE(is_whole_set({first, member("b", 1, {"2:c", "1:b"})})) << "a later incarnation";
    EXPECT_FALSE(is_whole_set({first, member("b", 1, {"1:c", "1:b"})})) << "another memory";
    EXPECT_FALSE(is_whole_set({first, member("b", 1, {"1:-", "1:b"})})) << "two memories";
}

TEST(ProofRedlockNodes, AreNoSetIfOneIsNoMemberOrDamaged) {
    const auto first = member("a", 1, {"1:a", "1:b"});
    auto joining = member("b", 1, {"1:a", "1:b"});
    joining.is_member = false;
    EXPECT_FALSE(is_whole_set({first, joining}));
    EXPECT_FALSE(is_whole_set({first, member("b", 1, {"1:a", "1:c"})})) << "not in its own marks";
}

}  // namespace
