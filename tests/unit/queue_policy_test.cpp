// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules that the stores of memory and SQLite share: compatible holders, and the next waiter.
#include "core/store/queue_policy.hpp"
#include "lock_shares.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <string>
#include <vector>

namespace store_tests {
namespace {

using namespace pawl::core;
using pawl::fencing_token;
using pawl::lock_mode;
using pawl::release_result;

occupancy held_by(std::initializer_list<lock_share> holders) { return occupancy_of(holders); }

TEST(QueuePolicy, AFreeLockAdmitsEveryMode) {
    const occupancy free;
    EXPECT_FALSE(free.excludes_all());
    EXPECT_TRUE(free.admits(writer, 0));
    EXPECT_TRUE(free.admits(reader, 0));
    EXPECT_TRUE(free.admits(permits(3), 3));
    EXPECT_FALSE(free.admits(permits(3), 2));
}

TEST(QueuePolicy, AnExclusiveHolderAdmitsNobody) {
    const auto present = held_by({writer});
    EXPECT_TRUE(present.excludes_all());
    for (const auto& each : {writer, reader, permits(1)})
        EXPECT_FALSE(present.admits(each, 9)) << static_cast<int>(each.mode);
}

TEST(QueuePolicy, ReadersAdmitReadersOnly) {
    const auto present = held_by({reader, reader});
    EXPECT_FALSE(present.excludes_all());
    EXPECT_TRUE(present.admits(reader, 0));
    EXPECT_FALSE(present.admits(writer, 0));
    EXPECT_FALSE(present.admits(permits(1), 9));
}

TEST(QueuePolicy, HoldersOfPermitsAdmitOthersUpToTheTotal) {
    const auto present = held_by({permits(2), permits(1)});
    EXPECT_TRUE(present.admits(permits(2), 5));
    EXPECT_FALSE(present.admits(permits(3), 5));
    EXPECT_FALSE(present.admits(writer, 5));
    EXPECT_FALSE(present.admits(reader, 5));
    // The total was made smaller than what is held.
    EXPECT_FALSE(present.admits(permits(1), 2));
}

// 32 bits of permits each: the sum needs more.
TEST(QueuePolicy, TheSumOfPermitsDoesNotOverflow) {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    EXPECT_FALSE(held_by({permits(most)}).admits(permits(2), most));
    EXPECT_FALSE(held_by({permits(most), permits(most)}).admits(permits(most), most));
}

// No store makes such rows; a program that writes the file may.
TEST(QueuePolicy, HoldersInSeveralModesAdmitNobody) {
    for (const auto& present : {held_by({reader, permits(1)}), held_by({permits(1), reader}),
                                held_by({writer, reader}), held_by({reader, permits(1), reader})}) {
        EXPECT_TRUE(present.excludes_all());
        for (const auto& each : {writer, reader, permits(1)})
            EXPECT_FALSE(present.admits(each, 9)) << static_cast<int>(each.mode);
    }
}

TEST(QueuePolicy, AClaimCountsItsPermitsInTheirModeOnly) {
    pawl::spi::claim requested;
    requested.permits = 4;
    for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
        requested.mode = mode;
        EXPECT_EQ(share_of(requested).mode, mode);
        EXPECT_EQ(share_of(requested).permits, 0U);
    }
    requested.mode = lock_mode::permits;
    EXPECT_EQ(share_of(requested).permits, 4U);
}

TEST(QueuePolicy, NoNewcomerPassesAWaiterFairOrNot) {
    pawl::spi::claim requested;
    for (const bool fair : {false, true})
        for (const auto mode : {lock_mode::exclusive, lock_mode::shared, lock_mode::permits}) {
            requested.fair = fair;
            requested.mode = mode;
            EXPECT_TRUE(admits_newcomer(share_of(requested), false, {}, 1));
            EXPECT_FALSE(admits_newcomer(share_of(requested), true, {}, 1));
        }
    EXPECT_FALSE(admits_newcomer(writer, false, held_by({reader}), 0));
}

TEST(QueuePolicy, TheFirstWaiterIsGrantedRefusedDiscardedOrWaits) {
    EXPECT_EQ(step_of(writer, false, {}, 0), queue_step::grant);
    EXPECT_EQ(step_of(reader, false, held_by({reader}), 0), queue_step::grant);
    EXPECT_EQ(step_of(permits(1), false, held_by({permits(2)}), 3), queue_step::grant);
    EXPECT_EQ(step_of(writer, false, held_by({reader}), 0), queue_step::wait);
    EXPECT_EQ(step_of(permits(2), false, held_by({permits(2)}), 3), queue_step::wait);
    EXPECT_EQ(step_of(permits(4), false, held_by({permits(2)}), 3), queue_step::refuse);
    EXPECT_EQ(step_of(permits(4), false, held_by({writer}), 3), queue_step::refuse);
    // A dead waiter leaves, whether it could have been served or not.
    EXPECT_EQ(step_of(writer, true, {}, 0), queue_step::discard);
    EXPECT_EQ(step_of(writer, true, held_by({writer}), 0), queue_step::discard);
    EXPECT_EQ(step_of(permits(4), true, {}, 3), queue_step::discard);
}

TEST(QueuePolicy, AMissingHoldIsTakenOverWhereAnotherExcludesIt) {
    EXPECT_EQ(result_of_missing_hold(lock_mode::exclusive, {}), release_result::expired);
    EXPECT_EQ(result_of_missing_hold(lock_mode::exclusive, held_by({writer})),
              release_result::taken_over);
    EXPECT_EQ(result_of_missing_hold(lock_mode::exclusive, held_by({reader})),
              release_result::taken_over);
    EXPECT_EQ(result_of_missing_hold(lock_mode::shared, held_by({reader})),
              release_result::expired);
    EXPECT_EQ(result_of_missing_hold(lock_mode::shared, held_by({permits(1)})),
              release_result::taken_over);
    EXPECT_EQ(result_of_missing_hold(lock_mode::permits, held_by({permits(1)})),
              release_result::expired);
}

struct test_waiter {
    char name;
    lock_share share;
    bool is_dead = false;
};

// Writes down what became of each waiter: "+a" granted, "!a" refused, "-a" discarded.
struct recorded_queue {
    std::deque<test_waiter> waiters;
    std::uint32_t total = 0;
    std::string record{};

    const test_waiter* first() const { return waiters.empty() ? nullptr : &waiters.front(); }
    lock_share share_of(const test_waiter& waiter) const { return waiter.share; }
    bool is_dead(const test_waiter& waiter) const { return waiter.is_dead; }
    std::uint32_t total_permits(const test_waiter&) const { return total; }
    void grant(const test_waiter& waiter) { take('+', waiter); }
    void refuse(const test_waiter& waiter) { take('!', waiter); }
    void discard(const test_waiter& waiter) { take('-', waiter); }

private:
    void take(char outcome, const test_waiter& waiter) {
        record += {outcome, waiter.name};
        waiters.pop_front();
    }
};

TEST(QueuePolicy, AnEmptyQueueHasNoWaiterLeft) {
    recorded_queue queue{{}, 0};
    EXPECT_FALSE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "");
}

TEST(QueuePolicy, OneWriterIsGrantedAtATime) {
    recorded_queue queue{{{'a', writer}, {'b', writer}}, 0};
    EXPECT_TRUE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "+a");
}

// Readers before the writer are granted together; those behind it wait for the next phase.
TEST(QueuePolicy, ReadersAreGrantedUpToTheNextWriter) {
    recorded_queue queue{{{'a', reader}, {'b', reader}, {'c', writer}, {'d', reader}}, 0};
    EXPECT_TRUE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "+a+b");
    EXPECT_TRUE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "+a+b+c");
    EXPECT_FALSE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "+a+b+c+d");
}

// A small request does not pass a large one, or the large one would never be served.
TEST(QueuePolicy, PermitsAreGivenInTheOrderOfTheQueue) {
    recorded_queue queue{{{'a', permits(2)}, {'b', permits(3)}, {'c', permits(1)}}, 4};
    EXPECT_TRUE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "+a");
    EXPECT_FALSE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "+a+b+c");
}

TEST(QueuePolicy, AWaiterForMoreThanTheTotalIsRefusedAndBlocksNobody) {
    recorded_queue queue{{{'a', permits(5)}, {'b', permits(1)}}, 4};
    EXPECT_FALSE(serve_queue(queue, held_by({permits(3)})));
    EXPECT_EQ(queue.record, "!a+b");
}

TEST(QueuePolicy, DeadWaitersArePassedOver) {
    recorded_queue queue{{{'a', writer, true}, {'b', reader}, {'c', writer, true}, {'d', reader}},
                         0};
    EXPECT_FALSE(serve_queue(queue, {}));
    EXPECT_EQ(queue.record, "-a+b-c+d");
}

TEST(QueuePolicy, ADeadWaiterLeavesAlthoughTheLockIsHeld) {
    recorded_queue queue{{{'a', writer, true}, {'b', reader}}, 0};
    EXPECT_TRUE(serve_queue(queue, held_by({writer})));
    EXPECT_EQ(queue.record, "-a");
}

struct test_holder {
    fencing_token token;
    bool is_alive = true;
};
bool lives(const test_holder& holder) { return holder.is_alive; }

TEST(QueuePolicy, ReadersOfAPhaseHaveTheNewestToken) {
    const std::vector<test_holder> phase{{fencing_token(7)}, {fencing_token(7)}};
    EXPECT_EQ(reader_token(lock_mode::shared, phase, lives), fencing_token(7));
    EXPECT_EQ(reader_token(lock_mode::exclusive, phase, lives), std::nullopt);
    EXPECT_EQ(reader_token(lock_mode::permits, phase, lives), std::nullopt);
    EXPECT_EQ(reader_token(lock_mode::shared, std::vector<test_holder>(), lives), std::nullopt);
}

// A dead holder may have come back with an older file, and its token is then too low.
TEST(QueuePolicy, APhaseWithoutALivingReaderOfTheNewestTokenNeedsANewOne) {
    const std::vector<test_holder> dead{{fencing_token(7), false}};
    EXPECT_EQ(reader_token(lock_mode::shared, dead, lives), std::nullopt);
    const std::vector<test_holder> older_lives{{fencing_token(7), false}, {fencing_token(6)}};
    EXPECT_EQ(reader_token(lock_mode::shared, older_lives, lives), std::nullopt);
    const std::vector<test_holder> one_lives{{fencing_token(7), false}, {fencing_token(7)}};
    EXPECT_EQ(reader_token(lock_mode::shared, one_lives, lives), fencing_token(7));
}

struct test_lease {
    pawl::time_point expires;
};

TEST(QueuePolicy, TheFirstWaiterLooksAgainWhenTheFirstLeaseEnds) {
    const pawl::time_point early(pawl::duration(10)), late(pawl::duration(20));
    EXPECT_EQ(first_expiry(std::vector<test_lease>{{late}, {early}}), early);
    EXPECT_EQ(first_expiry(std::vector<test_lease>()), pawl::time_point::max());
}

}  // namespace
}  // namespace store_tests
