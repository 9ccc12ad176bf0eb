// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of ticks in each database.
#include "test_database.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/schedule_watch.hpp>
#include <pawl/guard/tick_records.hpp>

#include <gtest/gtest.h>

#include <string>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;
using guard::claim_answer;
using guard::store_time;
using guard::tick_state;

// Far from now, so that no verdict depends on how fast this machine is.
constexpr auto hour = 1h;

class TickRecords : public database_test {
protected:
    [[nodiscard]] guard::tick_claim claim_of(const std::string& key, store_time due) const {
        return {
            .name = "nightly", .key = key, .due = due, .claim = guard::random_claim(), .host = "a"};
    }
    guard::tick_record only_record() {
        const auto all = records.history("nightly", 10);
        EXPECT_EQ(all.size(), 1U);
        return all.at(0);
    }

    const std::unique_ptr<open_connection> connected = database->connect();
    guard::sql_tick_records records{connected->view()};
    const store_time now = [this] {
        records.make_schema();
        return records.look("nightly").now;
    }();
    const guard::tick_claim first = claim_of("t1", now - hour);
    const store_time later = now + hour;
};

TEST_P(TickRecords, TheSchemaCanBeMadeTwice) {
    records.make_schema();
    EXPECT_TRUE(records.history("", 10).empty());
    EXPECT_THROW(static_cast<void>(records.look("")), pawl::error);
}

// From the first look on, ticks are not missed.
TEST_P(TickRecords, AScheduleIsKnownFromTheFirstLookOn) {
    const auto again = records.look("nightly");
    EXPECT_GE(again.now, now);
    EXPECT_LE(again.settled, now);
    EXPECT_EQ(records.look("nightly").settled, again.settled);
    EXPECT_TRUE(again.unfinished.empty());
}

TEST_P(TickRecords, ATickHasOneClaim) {
    EXPECT_EQ(records.claim(first, first.due, hour), claim_answer::claimed);
    EXPECT_EQ(records.claim(first, first.due, hour), claim_answer::claimed) << "no answer came";
    auto other = claim_of("t1", first.due);
    EXPECT_EQ(records.claim(other, other.due, hour), claim_answer::settled);
    EXPECT_EQ(only_record().claim, first.claim);
    ASSERT_EQ(records.look("nightly").unfinished.size(), 1U);
    EXPECT_EQ(records.look("nightly").unfinished.at(0).state, tick_state::claimed);
}

TEST_P(TickRecords, TheDatabaseDecidesWhatIsEarly) {
    const auto early = claim_of("t2", later);
    EXPECT_EQ(records.claim(early, later, hour), claim_answer::early);
    EXPECT_TRUE(records.history("nightly", 10).empty());
    EXPECT_LT(records.look("nightly").settled, later);
}

TEST_P(TickRecords, AnAbandonedClaimIsReplaced) {
    ASSERT_EQ(records.claim(first, first.due, 0s), claim_answer::claimed);
    const auto other = claim_of("t1", first.due);
    EXPECT_EQ(records.claim(other, other.due, hour), claim_answer::claimed);
    EXPECT_FALSE(records.begin(first, pawl::fencing_token(1), later, hour));
    EXPECT_TRUE(records.begin(other, pawl::fencing_token(2), later, hour));
    EXPECT_EQ(only_record().token, pawl::fencing_token(2));
}

TEST_P(TickRecords, TheWorkBeginsOnce) {
    ASSERT_EQ(records.claim(first, first.due, 0s), claim_answer::claimed);
    EXPECT_TRUE(records.begin(first, pawl::fencing_token(7), later, hour));
    EXPECT_TRUE(records.begin(first, pawl::fencing_token(7), later, hour)) << "no answer came";
    EXPECT_EQ(only_record().attempts, 1U);
    const auto other = claim_of("t1", first.due);
    EXPECT_EQ(records.claim(other, other.due, hour), claim_answer::settled)
        << "the lease of the claim does not count any more";
    EXPECT_FALSE(records.begin(other, pawl::fencing_token(8), later, hour));
    EXPECT_TRUE(records.finish(first, tick_state::done, 3, "text"));
    EXPECT_TRUE(records.finish(first, tick_state::done, 3, "text")) << "no answer came";
    EXPECT_FALSE(records.begin(first, pawl::fencing_token(9), later, hour));
    const auto record = only_record();
    EXPECT_EQ(record.state, tick_state::done);
    EXPECT_EQ(record.status, 3);
    EXPECT_EQ(record.reason, "text");
    EXPECT_EQ(record.host, "a");
    EXPECT_EQ(record.token, pawl::fencing_token(7));
    EXPECT_GE(record.began, now);
    EXPECT_GE(record.ended, record.began);
    EXPECT_TRUE(records.look("nightly").unfinished.empty());
    EXPECT_GE(records.look("nightly").settled, first.due);
}

TEST_P(TickRecords, NothingBeginsTooLate) {
    ASSERT_EQ(records.claim(first, first.due, hour), claim_answer::claimed);
    EXPECT_FALSE(records.begin(first, {}, first.due, hour));
    EXPECT_EQ(only_record().state, tick_state::claimed);
    EXPECT_TRUE(records.skip(first, "late", first.due, 0));
    EXPECT_EQ(only_record().state, tick_state::skipped);
}

TEST_P(TickRecords, OnlyOneTakesThePlaceOfCrashedWork) {
    ASSERT_EQ(records.claim(first, first.due, hour), claim_answer::claimed);
    ASSERT_TRUE(records.begin(first, pawl::fencing_token(1), later, 0s));
    const auto second = claim_of("t1", first.due);
    const auto third = claim_of("t1", first.due);
    EXPECT_TRUE(records.begin_again(second, first.claim, pawl::fencing_token(2), hour));
    EXPECT_FALSE(records.begin_again(third, first.claim, pawl::fencing_token(3), hour));
    EXPECT_FALSE(records.finish(first, tick_state::done, 0, {})) << "it was replaced";
    EXPECT_EQ(only_record().attempts, 2U);
    EXPECT_TRUE(records.finish(second, tick_state::crashed, 0, {}));
    EXPECT_EQ(only_record().state, tick_state::crashed);
}

TEST_P(TickRecords, WorkThatDidNotStartIsWithdrawn) {
    ASSERT_EQ(records.claim(first, first.due, hour), claim_answer::claimed);
    ASSERT_TRUE(records.begin(first, {}, later, hour));
    EXPECT_TRUE(records.withdraw(first));
    EXPECT_EQ(only_record().attempts, 0U);
    const auto other = claim_of("t1", first.due);
    EXPECT_EQ(records.claim(other, other.due, hour), claim_answer::claimed);
    EXPECT_FALSE(records.withdraw(first));
    EXPECT_TRUE(records.withdraw(other)) << "before it began";
    EXPECT_EQ(records.claim(first, first.due, hour), claim_answer::claimed);
}

TEST_P(TickRecords, ASkippedTickIsNotClaimed) {
    const auto until = now - 30min;
    EXPECT_TRUE(records.skip(first, "late", until, 5));
    EXPECT_EQ(records.claim(claim_of("t1", first.due), first.due, hour), claim_answer::settled);
    const auto record = only_record();
    EXPECT_EQ(record.state, tick_state::skipped);
    EXPECT_EQ(record.reason, "late");
    EXPECT_EQ(record.missed, 5U);
    const auto claimed = claim_of("t3", now);
    ASSERT_EQ(records.claim(claimed, now, hour), claim_answer::claimed);
    EXPECT_FALSE(records.skip(claim_of("t3", now), "late", now, 0)) << "another claim has it";
}

TEST_P(TickRecords, RunningWorkShowsThatItLives) {
    ASSERT_EQ(records.claim(first, first.due, hour), claim_answer::claimed);
    ASSERT_TRUE(records.begin(first, {}, later, 0s));
    EXPECT_LE(records.look("nightly").unfinished.at(0).lease_until, records.look("nightly").now);
    records.renew(first, hour);
    EXPECT_GT(records.look("nightly").unfinished.at(0).lease_until, now + 30min);
}

TEST_P(TickRecords, HistoryIsNewestFirstAndPurged) {
    for (int i = 0; i < 5; ++i) {
        const auto each = claim_of("t" + std::to_string(i), now + i * 1min);
        ASSERT_EQ(records.claim(each, now, hour), claim_answer::claimed);
        ASSERT_TRUE(records.begin(each, {}, later, hour));
        if (i == 1) continue;
        ASSERT_TRUE(records.finish(each, tick_state::done, i, {}));
    }
    auto other = claim_of("x", now);
    other.name = "Nightly";
    ASSERT_EQ(records.claim(other, now, hour), claim_answer::claimed);
    ASSERT_EQ(records.history("nightly", 3).size(), 3U);
    EXPECT_EQ(records.history("nightly", 3).at(0).key, "t4");
    EXPECT_EQ(records.history("", 10).size(), 6U);
    const auto settled = records.look("nightly").settled;
    records.purge("nightly", hour);
    EXPECT_EQ(records.history("nightly", 10).size(), 5U) << "none is old enough";
    records.purge("nightly", -hour);
    const auto left = records.history("nightly", 10);
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left.at(0).key, "t4") << "the last one stays";
    EXPECT_EQ(left.at(1).key, "t1") << "it runs";
    EXPECT_EQ(records.look("nightly").settled, settled);
    EXPECT_EQ(records.history("Nightly", 10).size(), 1U);
}

TEST_P(TickRecords, NamesAreBytes) {
    for (const std::string name : {"a ", "a", "\xff\x00\x27", "A"}) {
        guard::tick_claim each = claim_of("k\"'", now - 1min);
        each.name = name;
        records.look(name);
        EXPECT_EQ(records.claim(each, each.due, hour), claim_answer::claimed) << name;
    }
}

EVERY_DATABASE(TickRecords);

}  // namespace
}  // namespace guard_tests
