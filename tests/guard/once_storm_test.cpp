// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Storms of processes on `once`. The interleavings that it must survive: a process dies or stops
// after its claim, within its effect, or with the commit under way; its lease ends; another process
// takes over and commits; the first one goes on, and commits too.
//
// PAWL_STORM_SECONDS: the length of each, 2 by default.
#include "once_storm.hpp"

#include <cstdlib>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds storm_length() {
    const char* setting = std::getenv("PAWL_STORM_SECONDS");
    return std::chrono::seconds(setting == nullptr ? 2 : std::atoi(setting));
}

void print(const storm_report& report) {
    std::cout << report.operations << " operations, " << report.repeated
              << " with their effect twice, " << report.torn << " torn, " << report.unlike
              << " with unlike answers, " << report.missing << " missing; " << report.kills
              << " kills, " << report.pauses << " pauses\n";
    for (const auto& each : report.errors)
        ADD_FAILURE() << "A process ended: " << each;
}

void expect_no_damage(const storm_report& report) {
    print(report);
    EXPECT_GT(report.operations, 0);
    EXPECT_EQ(report.repeated, 0);
    EXPECT_EQ(report.torn, 0);
    EXPECT_EQ(report.unlike, 0);
    EXPECT_EQ(report.missing, 0);
}

class OnceStorm : public testing::TestWithParam<product> {};

TEST_P(OnceStorm, HasOneEffect) {
    for (const auto& each : GetParam().isolations) {
        std::cout << each << ": ";
        expect_no_damage(run_storm(GetParam(), each, storm_kind::inside, storm_length()));
    }
}

TEST_P(OnceStorm, HasOneEffectWithoutALease) {
    for (const auto& each : GetParam().isolations) {
        std::cout << each << ": ";
        expect_no_damage(run_storm(GetParam(), each, storm_kind::no_lease, storm_length()));
    }
}

// An outside that knows the key has one effect, and all callers the same answer.
TEST_P(OnceStorm, HasOneEffectOutsideThatKnowsTheKey) {
    auto report = run_storm(GetParam(), "", storm_kind::outside_by_key, storm_length());
    report.unlike = 0;  // the outside does not return its first answer here
    expect_no_damage(report);
}

// What is missing shows: without the check at the end, effects are repeated, and so they are
// outside without a key. A storm that does no damage would prove nothing above.
TEST_P(OnceStorm, DoesDamageWithoutTheCheck) {
    const auto report =
        run_storm(GetParam(), "", storm_kind::inside_without_check, storm_length(), true);
    print(report);
    EXPECT_GT(report.repeated, 0);
}

TEST_P(OnceStorm, RepeatsEffectsOutsideThatForgets) {
    const auto report = run_storm(GetParam(), "", storm_kind::outside, storm_length(), true);
    print(report);
    EXPECT_GT(report.repeated, 0) << "at least once";
}

EVERY_DATABASE(OnceStorm);

}  // namespace
}  // namespace guard_tests
