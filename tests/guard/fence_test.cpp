// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The guard row: each promise of pawl/guard/fence.hpp, on each database, for threads and for
// coroutines.
#include "refusals.hpp"
#include "test_database.hpp"
#include "waiting.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/async_fence.hpp>
#include <pawl/guard/fence.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/guard/transaction.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>

#include <limits>

namespace guard_tests {
namespace {

using guard::fence_result;
using pawl::fencing_token;
using testing::HasSubstr;

constexpr auto no_token = fencing_token();
constexpr auto largest_token = fencing_token(std::numeric_limits<std::int64_t>::max());

class GuardFence : public database_test {
protected:
    GuardFence() { guard::make_tables(first->view()); }

    // In a transaction that commits.
    static fence_result raise(open_connection& db, std::string_view resource, fencing_token token) {
        guard::transaction open(db.view());
        const auto result = guard::fence(db.view(), resource, token);
        open.commit();
        return result;
    }
    fence_result raise(std::string_view resource, std::uint64_t token) {
        return raise(*first, resource, fencing_token(token));
    }
    std::string refusal_of(std::string_view resource, fencing_token token, pawl::errc reason) {
        return guard_tests::refusal_of(reason, [&] { (void)raise(*first, resource, token); });
    }

    const std::unique_ptr<open_connection> first = database->connect();
    const std::unique_ptr<open_connection> other = database->connect();
};

TEST_P(GuardFence, AcceptsTokensThatDoNotFall) {
    const auto check = [](const fence_result& result, bool accepted, std::uint64_t newest) {
        EXPECT_EQ(result.accepted, accepted);
        EXPECT_EQ(result.newest, fencing_token(newest));
    };
    check(raise("price/7", 5), true, 5);
    check(raise("price/7", 5), true, 5);  // a holder writes often
    check(raise("price/7", 4), false, 5);
    check(raise("price/7", 10), true, 10);
    check(raise("price/7", 9), false, 10);  // as text it would be larger
    check(raise("price/7", (1ULL << 53) + 1), true, (1ULL << 53) + 1);
    check(raise("price/7", 1ULL << 53), false, (1ULL << 53) + 1);
    check(raise("price/7", largest_token.value()), true, largest_token.value());
}

TEST_P(GuardFence, KeepsResourcesApart) {
    const std::vector<std::string> names{"a",
                                         "A",
                                         "a ",
                                         "é",
                                         "e",
                                         std::string("a\0", 2),
                                         "\xff",
                                         std::string(255, 'x'),
                                         std::string(254, 'x')};
    std::uint64_t token = 100;
    for (const auto& each : names)
        EXPECT_TRUE(raise(each, --token)) << each;
}

TEST_P(GuardFence, ForgetsATokenThatIsRolledBack) {
    {
        const guard::transaction unfinished(first->view());
        EXPECT_TRUE(guard::fence(first->view(), "price/7", fencing_token(9)));
    }
    EXPECT_TRUE(raise("price/7", 7));
    EXPECT_EQ(raise("price/7", 6).newest, fencing_token(7));
}

TEST_P(GuardFence, RefusesBadInput) {
    EXPECT_THAT(refusal_of("price/7", no_token, pawl::errc::bad_option),
                HasSubstr("fenced = true"));
    EXPECT_THAT(
        refusal_of("price/7", fencing_token(largest_token.value() + 1), pawl::errc::bad_option),
        HasSubstr("63 bits"));
    EXPECT_THAT(refusal_of("", fencing_token(1), pawl::errc::bad_option), HasSubstr("0 bytes"));
    EXPECT_THAT(refusal_of(std::string(256, 'x'), fencing_token(1), pawl::errc::bad_option),
                HasSubstr("1 to 255"));
    try {
        (void)guard::fence(first->view(), "price/7", fencing_token(1));
        ADD_FAILURE() << "a fence outside a transaction says nothing";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::unsupported);
        EXPECT_THAT(refused.what(), HasSubstr("begin the writer's transaction"));
    }
    EXPECT_EQ(first->number("SELECT count(*) FROM pawl_fence"), 0);
    first->run("DROP TABLE pawl_fence");
    EXPECT_THROW((void)raise("price/7", 1), guard::database_error);
}

// For other client libraries: each answer is a row with the newest token, of the first statement or
// else of the second.
TEST_P(GuardFence, AnswersWithTheNewestToken) {
    const auto spoken = database->dialect();
    const auto ask = [&](std::uint64_t token) {
        guard::transaction open(first->view());
        auto answer =
            first->view().execute(guard::fence_statement(spoken, "it", fencing_token(token)));
        EXPECT_EQ(answer.values.empty(), GetParam().name == "MySql");
        if (answer.values.empty())
            answer = first->view().execute(guard::newest_fence_statement(spoken, "it"));
        open.commit();
        return guard::as_number(answer.values.at(0).at(0));
    };
    EXPECT_EQ(ask(7), 7);
    EXPECT_EQ(ask(6), 7);
    EXPECT_EQ(ask(7), 7);
    EXPECT_EQ(ask(8), 8);
    guard::transaction open(first->view());
    const auto read = first->view().execute(guard::newest_fence_statement(spoken, "it"));
    EXPECT_EQ(guard::as_number(read.values.at(0).at(0)), 8);
}

// The holder of token 5 has asked, and has not written yet. A writer with another token, also with
// a smaller one, must wait for its end: its own answer would be of a state that changes.
TEST_P(GuardFence, KeepsItsRowUntilTheTransactionEnds) {
    for (const std::uint64_t token : {4, 6}) {
        if (database->dialect() == guard::dialect::sqlite) {
            other->run("PRAGMA busy_timeout = 1");
            guard::transaction open(first->view());
            EXPECT_TRUE(guard::fence(first->view(), "price/7", fencing_token(5)));
            EXPECT_THROW((void)raise(*other, "price/7", fencing_token(token)), guard::conflict);
            continue;
        }
        const lock_waits waits(*database);
        std::future<fence_result> answer;
        {
            guard::transaction open(first->view());
            EXPECT_TRUE(guard::fence(first->view(), "price/7", fencing_token(5)));
            answer = std::async(std::launch::async,
                                [&] { return raise(*other, "price/7", fencing_token(token)); });
            EXPECT_TRUE(waits.becomes_waiting(answer)) << "token " << token;
            open.commit();
        }
        EXPECT_EQ(answer.get().accepted, token > 5);
        first->run("DELETE FROM pawl_fence");
    }
}

asio::awaitable<void> raise_and_fall(guard::async_connection& db) {
    const auto accepted = co_await guard::async_fence(db, "price/7", fencing_token(5));
    EXPECT_TRUE(accepted.accepted);
    const auto refused = co_await guard::async_fence(db, "price/7", fencing_token(4));
    EXPECT_FALSE(refused.accepted);
    EXPECT_EQ(refused.newest, fencing_token(5));
}

asio::awaitable<void> use_fences(guard::async_connection& db) {
    const guard::transaction_work work = [&db] { return raise_and_fall(db); };
    co_await guard::async_transaction(db, work);
    pawl::errc outside{}, empty{};
    try {
        co_await raise_and_fall(db);
    } catch (const pawl::error& refused) {
        outside = refused.reason();
    }
    EXPECT_EQ(outside, pawl::errc::unsupported);
    try {
        (void)co_await guard::async_fence(db, "price/7", no_token);
    } catch (const pawl::error& refused) {
        empty = refused.reason();
    }
    EXPECT_EQ(empty, pawl::errc::bad_option);
}

TEST_P(GuardFence, WorksForCoroutines) {
    asio::io_context loop;
    const auto opened = database->connect(loop.get_executor());
    auto ended = asio::co_spawn(loop, use_fences(opened->view()), asio::use_future);
    loop.run();
    ended.get();
    EXPECT_EQ(first->number("SELECT token FROM pawl_fence"), 5);
}

EVERY_DATABASE(GuardFence);

}  // namespace
}  // namespace guard_tests
