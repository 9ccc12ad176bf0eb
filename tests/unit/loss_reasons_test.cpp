// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The names of the reasons of a loss, which programs and dashboards compare.
#include <pawl/types.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace pawl {
namespace {

constexpr std::pair<loss_reason, const char*> labels[] = {
    {loss_reason::none, "none"},
    {loss_reason::expired, "expired"},
    {loss_reason::missing, "missing"},
    {loss_reason::taken_over, "taken_over"},
    {loss_reason::failed_over, "failed_over"},
    {loss_reason::forced, "forced"},
    {loss_reason::max_hold, "max_hold"},
    {loss_reason::client_closed, "client_closed"},
    {loss_reason::forked, "forked"},
};

TEST(LossReasons, HaveStableLabels) {
    for (const auto& [reason, label] : labels)
        EXPECT_STREQ(to_string(reason), label);
}

TEST(LossReasons, HaveADescriptionOfTheirOwnThatFitsIntoASentence) {
    std::set<std::string> seen;
    for (const auto& [reason, label] : labels) {
        const std::string text = describe(reason);
        EXPECT_TRUE(seen.insert(text).second) << label;
        EXPECT_GT(text.size(), 5U) << label;
        EXPECT_EQ(text.find_first_of(".\n"), std::string::npos) << label;
    }
}

}  // namespace
}  // namespace pawl
