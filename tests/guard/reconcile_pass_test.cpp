// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The decisions of a reconciliation, without I/O.
#include <guard/reconcile_pass.hpp>

#include <gtest/gtest.h>

namespace guard_tests {
namespace {

namespace guard = pawl::guard;
using pawl::fencing_token;
using namespace std::chrono_literals;

TEST(ReconcilePass, KeepsItsBudgetWithoutBursts) {
    guard::reconcile_pass pass(guard::dialect::sqlite, "it", {.per_second = 50}, fencing_token(1));
    const pawl::time_point begin{1h};
    EXPECT_EQ(pass.pause_before_repair(begin), 0ms);
    EXPECT_EQ(pass.pause_before_repair(begin), 20ms);
    EXPECT_EQ(pass.pause_before_repair(begin + 20ms), 20ms);
    EXPECT_EQ(pass.pause_before_repair(begin + 50ms), 10ms);
    EXPECT_EQ(pass.pause_before_repair(begin + 10s), 0ms) << "a slow repair owes nothing";
    EXPECT_EQ(pass.pause_before_repair(begin + 10s), 20ms) << "and saves nothing";
}

TEST(ReconcilePass, RepeatsAConflictSixTimesWithGrowingPauses) {
    guard::conflict_pauses pauses;
    for (int i = 1; i <= 6; ++i) {
        const auto pause = pauses.next();
        ASSERT_TRUE(pause.has_value());
        EXPECT_GE(*pause, 1ms * (5 << i) / 2);
        EXPECT_LE(*pause, 1ms * (5 << i));
    }
    EXPECT_FALSE(pauses.next().has_value());
}

TEST(ReconcilePass, ReportsTheFirstHundredFailuresAndCountsAll) {
    guard::reconcile_pass pass(guard::dialect::sqlite, "it", {}, fencing_token(1));
    for (int i = 0; i < 150; ++i)
        pass.count(std::to_string(i), guard::repair_result::failed, "no");
    const auto report = pass.end(guard::reconcile_end::finished);
    EXPECT_EQ(report.counts.failed, 150U);
    ASSERT_EQ(report.failures.size(), 100U);
    EXPECT_EQ(report.failures.back().key, "99");
}

}  // namespace
}  // namespace guard_tests
