// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for holds on servers that replace each other, and that no excuse goes too far.
#include "services/topology/hold_checker.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr int old_master = 0;

// Two holds of the lock "a", one after the other.
class hold_pair {
public:
    hold_pair() { checker.set_bounds(4s, 1s); }

    void replace_master(std::uint64_t epoch) {
        checker.note_promotion({"a"}, &old_master, epoch);
        checker.note_demotion(&old_master);
    }
    believed_hold& grant(std::uint64_t epoch, std::uint64_t count) {
        loop.run_for(10ms);
        const auto token = static_cast<std::uint64_t>(redis::epoch_base(epoch)) + count;
        return checker.add({"a", token, loop.now(), loop.now(), {}, nullptr, {}});
    }
    std::string check() {
        checker.check();
        return checker.violation();
    }

    scheduler loop;
    hold_checker checker{loop};
};

TEST(HoldChecker, OneMasterNeverGrantsALockTwice) {
    hold_pair holds;
    holds.replace_master(2);
    static_cast<void>(holds.grant(2, 1));
    static_cast<void>(holds.grant(2, 2));
    EXPECT_TRUE(holds.check().starts_with("two holders")) << "the master is new, but the same";
}

TEST(HoldChecker, TheHolderMayHaveFollowedALaterMaster) {
    hold_pair holds;
    static_cast<void>(holds.grant(2, 1));
    holds.replace_master(3);
    static_cast<void>(holds.grant(2, 2));
    EXPECT_EQ(holds.check(), "");
}

TEST(HoldChecker, TwoMastersMayGrantALockAroundAFailover) {
    hold_pair holds;
    static_cast<void>(holds.grant(2, 1));
    holds.replace_master(3);
    static_cast<void>(holds.grant(3, 1));
    EXPECT_EQ(holds.check(), "");
}

TEST(HoldChecker, TokensOfAnEpochAreUniqueUnlessTwoMastersHaveIt) {
    for (const bool is_shared : {false, true}) {
        hold_pair holds;
        if (is_shared) holds.checker.note_shared_epoch(2);
        holds.checker.end(holds.grant(2, 1));
        holds.replace_master(3);
        static_cast<void>(holds.grant(2, 1));
        EXPECT_EQ(holds.check().starts_with("a token was issued twice"), !is_shared);
    }
}

// `slot_returns` in docs/contributing/models.md.
TEST(HoldChecker, ATokenGoesBackOnlySoonAfterItsSlotHasReturned) {
    for (const auto& [has_returned, pause] :
         {std::pair{false, 2s}, std::pair{true, 2s}, std::pair{true, 17s}}) {
        hold_pair holds;
        const auto left_at = holds.loop.now();
        holds.checker.end(holds.grant(2, 1));
        if (has_returned) holds.checker.note_return("a", left_at);
        holds.loop.run_for(pause);
        static_cast<void>(holds.grant(1, 1));
        EXPECT_EQ(holds.check().starts_with("a token went back"), !has_returned || pause > 15s);
    }
}

}  // namespace
}  // namespace pawl::simulation
