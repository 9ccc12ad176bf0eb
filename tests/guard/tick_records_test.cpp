// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of ticks in each database.
#include "test_database.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/async_tick_records.hpp>
#include <pawl/guard/schedule_watch.hpp>
#include <pawl/guard/tick_records.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// A tick from its claim to its end, one that is skipped, and one that is early. Returns what is
// wrong.
asio::awaitable<std::vector<std::string>> live_through(guard::async_sql_tick_records& records,
                                                       guard::tick_claim first,
                                                       guard::tick_claim rival,
                                                       guard::tick_claim second,
                                                       guard::tick_claim early) {
    std::vector<std::string> wrong;
    const auto expect = [&wrong](bool is_right, const char* step) {
        if (!is_right) wrong.emplace_back(step);
    };
    const std::string name = first.name, reason = "late", none;
    co_await records.make_schema();
    const auto before = co_await records.look(name);
    expect(before.unfinished.empty(), "look");
    const auto too_early = co_await records.claim(early, early.due, hour);
    expect(too_early == claim_answer::early, "early");
    const auto claimed = co_await records.claim(first, first.due, hour);
    expect(claimed == claim_answer::claimed, "claim");
    const auto lost = co_await records.claim(rival, rival.due, hour);
    expect(lost == claim_answer::settled, "claim of another host");
    const auto latest = before.now + 2 * hour;
    const bool stolen = co_await records.begin(rival, {}, latest, hour);
    expect(!stolen, "begin of another host");
    const bool begun = co_await records.begin(first, pawl::fencing_token(7), latest, hour);
    const bool repeated = co_await records.begin(first, pawl::fencing_token(7), latest, hour);
    expect(begun && repeated, "begin");
    const bool was_withdrawn = co_await records.withdraw(first);
    const bool begun_after_that = co_await records.begin(first, {}, latest, hour);
    expect(was_withdrawn && begun_after_that, "withdraw");
    const bool begun_again = co_await records.begin_again(rival, first.claim, {}, hour);
    expect(begun_again, "begin_again");
    co_await records.renew(rival, hour);
    const bool late_end = co_await records.finish(first, tick_state::done, 0, none);
    const bool ended = co_await records.finish(rival, tick_state::done, 3, none);
    expect(!late_end && ended, "finish");
    const bool skipped = co_await records.skip(second, reason, second.due, 4);
    expect(skipped, "skip");
    const auto after = co_await records.look(name);
    expect(after.unfinished.empty() && after.settled >= second.due, "look at the end");
    const auto all = co_await records.history(name, 10);
    expect(all.size() == 2 && all[0].missed == 4 && all[1].status == 3 && all[1].attempts == 2,
           "history");
    co_await records.purge(name, hour);
    co_return wrong;
}

TEST_P(TickRecords, AreTheSameForCoroutines) {
    asio::io_context loop;
    const auto opened = database->connect(loop.get_executor());
    guard::async_sql_tick_records own(opened->view());
    const auto second = claim_of("t2", now - 1s);
    std::vector<std::string> wrong{"did not end"};
    asio::co_spawn(
        loop, live_through(own, first, claim_of("t1", first.due), second, claim_of("t3", later)),
        [&](const std::exception_ptr& failure, std::vector<std::string> result) {
            wrong = std::move(result);
            if (failure) std::rethrow_exception(failure);
        });
    loop.run();
    EXPECT_EQ(wrong, std::vector<std::string>());
    EXPECT_EQ(records.history("nightly", 10).size(), 2U);
}

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
