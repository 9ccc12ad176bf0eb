// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// When a waiter asks the database.
#include "sql_client_fixture.hpp"

namespace pawl::sql {
namespace {

// The holder renews: each renewal is seen by one look.
TEST_F(SqlClient, AFirstWaiterLooksOnceForALease) {
    acquire(600s);
    for (int i = 0; i < 3; ++i) {
        queue();
        EXPECT_EQ(advance_until_asked(), 20s);
        ASSERT_EQ(asked(), "refresh");
    }
}

//   the holder and the first two waiters stop together, and nobody tells the third one | it looks 5
//   to 8 s after the end of the lease that it knows of
TEST_F(SqlClient, AFarWaiterLooksAfterTheEndOfTheLease) {
    const auto made = acquire(600s);
    for (int i = 0; i < 3; ++i) {
        answer({{"q", std::nullopt, "20000", "f", std::nullopt, "5000000"}});
        const auto passed = advance_until_asked();
        EXPECT_TRUE(passed >= 25s && passed <= 28s + 50ms) << passed / 1ms;
        ASSERT_EQ(asked(), "refresh");
    }
    answer({{"g", "9", "30000"}});
    EXPECT_TRUE(made->granted);
}

//   the waiter knows of a lease of an hour | its holder releases, and its session ends before the
//   message is sent | the waiter looks within 40 s
TEST_F(SqlClient, ALostMessageCostsALimitedTime) {
    for (const char* is_first : {"t", "f"}) {
        const auto made = acquire(600s, is_first);
        answer({{"q", std::nullopt, "3600000", is_first, std::nullopt, "5000000"}});
        const auto passed = advance_until_asked();
        EXPECT_TRUE(passed >= 30s && passed <= 40s + 50ms) << passed / 1ms;
        ASSERT_EQ(asked(), "refresh");
        answer({{"g", "9", "30000"}});
        EXPECT_TRUE(made->granted);
    }
}

//   two claims are sent on a session that does not listen | A's answer: it begins to listen | B's
//   lock is released, and its message lost, as B's place is older than the listening | B's answer:
//   it must look, too
TEST_F(SqlClient, AClaimThatIsOlderThanTheListeningLooks) {
    test_.is_listening = false;
    const auto first = acquire(60s, "A"), second = acquire(60s, "B");
    queue();
    EXPECT_TRUE(test_.is_listening);
    ASSERT_EQ(asked(), "acquire");
    queue();
    for (const auto& made : {first, second}) {
        ASSERT_EQ(asked(), "refresh");
        EXPECT_EQ(test_.calls.front()->text(2), made->requested.owner);
        answer({{"g", "9", "1700"}});
        EXPECT_TRUE(made->granted);
    }
    acquire(60s, "C");
    queue();
    EXPECT_EQ(asked(), "");
}

TEST_F(SqlClient, OnlyALongHoldListensWithoutAWait) {
    test_.is_listening = false;
    acquire(60s);
    answer({{"g", "9", "30000"}});
    EXPECT_FALSE(test_.is_listening);
    // It would notice a forced release only with its first renewal, after 20 minutes.
    acquire(60s, "long", 1h);
    answer({{"g", "10", "3600000"}});
    EXPECT_TRUE(test_.is_listening);
}

//   a session cannot listen any more | its waiters look, and again every 5 to 8 s
TEST_F(SqlClient, WithoutMessagesAWaiterLooksMoreOften) {
    acquire(600s);
    queue();
    for (int i = 0; i < 2; ++i)
        test_.present->handlers.on_hearing(false);
    run_ready();
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(asked(), "refresh");
        queue();
        const auto passed = advance_until_asked();
        EXPECT_TRUE(passed >= 5s && passed <= 8s + 50ms) << passed / 1ms;
    }
    test_.present->handlers.on_hearing(true);
    ASSERT_EQ(asked(), "refresh");
    queue();
    EXPECT_EQ(advance_until_asked(), 20s);
}

}  // namespace
}  // namespace pawl::sql
