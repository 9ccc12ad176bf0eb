// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sql_client_fixture.hpp"

namespace pawl::sql {
namespace {

TEST_F(SqlClient, ALeaseCountsFromTheRequest) {
    const auto began_at = time_.now();
    const auto made = acquire(10s);
    ASSERT_EQ(asked(), "acquire");
    advance(400ms);
    answer({{"g", "7", "30000"}});
    ASSERT_TRUE(made->granted);
    EXPECT_EQ(made->granted->deadline, began_at + 30s - drift(30s));
    EXPECT_EQ(made->granted->token.value(), 7u);
}

TEST_F(SqlClient, ALostAnswerIsUndone) {
    const auto made = acquire(0s);
    advance(1s);
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::unreachable);
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->text(2), "owner");
    EXPECT_EQ(test_.calls.front()->text(4), "session 1");
    EXPECT_EQ(test_.calls.front()->number(6), 0);
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, ARefusedClaimNeedsNoUndo) {
    const auto made = acquire(10s);
    fail(error(errc::refused, "no rights"));
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::refused);
    EXPECT_EQ(asked(), "");
}

// A request of the ended session may still arrive at the database.
TEST_F(SqlClient, AnUndoIsRepeatedUntilTheOldSessionHasEnded) {
    const auto made = acquire(10s);
    end_session();
    ASSERT_TRUE(made->failure);
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(asked(), "leave") << i;
        EXPECT_EQ(test_.calls.front()->client, "session 2");
        EXPECT_EQ(test_.calls.front()->text(4), "session 1");
        answer({{"e", std::nullopt, std::nullopt, "f"}});
        advance_slowly(1s);
    }
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, AnUndoWithoutAnswersGoesOn) {
    acquire(10s);
    end_session();
    ASSERT_EQ(asked(), "leave");
    end_session();
    advance_slowly(1s);
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->client, "session 3");
    EXPECT_EQ(test_.calls.front()->text(4), "session 1");
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, AnUndoEndsAfterTheTtl) {
    acquire(10s, "owner", 5s);
    end_session();
    const int count = answer_undos("f", 6s);
    EXPECT_GT(count, 4);
    EXPECT_EQ(answer_undos("f", 30s), 0);
}

TEST_F(SqlClient, AWaitEndsWithItsSession) {
    const auto made = acquire(60s);
    queue();
    EXPECT_FALSE(made->is_over);
    end_session();
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::unreachable);
    EXPECT_TRUE(made->failure->is_transient());
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->text(4), "session 1");
    EXPECT_EQ(possible_losses_, 1);
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

// A server that starts again refuses for a while: the wait ends, and nothing runs in circles.
TEST_F(SqlClient, AWaitEndsWhileTheServerStarts) {
    const auto made = acquire(60s);
    queue();
    test_.refusal = error(errc::unavailable, "The database is starting.");
    end_session();
    ASSERT_TRUE(made->failure);
    EXPECT_TRUE(made->failure->is_transient());
    test_.refusal.reset();
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, ARefreshThatTheDatabaseCouldNotRunIsRepeated) {
    const auto made = acquire(60s);
    queue();
    advance(20s);
    ASSERT_EQ(asked(), "refresh");
    fail(error(errc::unavailable, "deadlock"));
    EXPECT_FALSE(made->is_over);
    advance_slowly(700ms);
    ASSERT_EQ(asked(), "refresh");
    answer({{"g", "8", "30000"}});
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, ARestartedServerWantsAHello) {
    const auto made = acquire(10s);
    answer({{"r"}});
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::unavailable);
    EXPECT_TRUE(made->failure->is_transient());
    EXPECT_EQ(test_.closed, 1u);
    EXPECT_EQ(asked(), "");
    acquire(10s, "another");
    EXPECT_EQ(test_.connects, 2u);
    EXPECT_EQ(possible_losses_, 1);
    ASSERT_EQ(asked(), "acquire");
    answer({{"g", "9", "30000"}});
}

TEST_F(SqlClient, APushedGrantCountsFromTheServersTime) {
    const auto asked_at = time_.now();
    const auto made = acquire(60s);
    queue(5'000'000);
    advance(2s);
    push("g owner 9 1800 6500000");
    ASSERT_TRUE(made->granted);
    EXPECT_EQ(made->granted->deadline, asked_at + 1500ms + 1800ms - drift(1800ms));
    EXPECT_TRUE(made->granted->needs_renewal);
    EXPECT_EQ(asked(), "");
}

// The server's clock was set forward: the lease began before the message came.
TEST_F(SqlClient, APushedGrantBeganBeforeItsMessage) {
    const auto made = acquire(60s);
    queue(5'000'000);
    advance(2s);
    push("g owner 9 1800 9000000000000000");
    ASSERT_TRUE(made->granted);
    EXPECT_EQ(made->granted->deadline, time_.now() + 1800ms - drift(1800ms));
}

TEST_F(SqlClient, AMessageBeforeTheAnswerMakesTheWaiterLook) {
    const auto made = acquire(60s);
    push("g owner 9 1800 6000000");
    queue();
    ASSERT_EQ(asked(), "refresh");
    answer({{"g", "9", "1700"}});
    ASSERT_TRUE(made->granted);
    EXPECT_TRUE(made->granted->needs_renewal);
}

// Two releases send their messages after their commits, so the older message may come later.
TEST_F(SqlClient, ALateMessageTakesNoGrantBack) {
    const auto made = acquire(60s);
    queue();
    test_.present->handlers.on_message("g owner 9 1800 6000000");
    push("n owner 1800");
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, ANewFirstWaiterLooksAtTheEndOfTheLease) {
    const auto made = acquire(60s);
    answer({{"q", std::nullopt, "20000", "f", std::nullopt, "5000000"}});
    push("n owner 700");
    EXPECT_EQ(asked(), "");
    advance(700ms);
    ASSERT_EQ(asked(), "refresh");
    answer({{"g", "9", "30000"}});
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, ForgedMessagesDoNothing) {
    const auto made = acquire(60s);
    queue();
    for (const char* text :
         {"", "g", "g other 9 1800 6000000", "g owner 0 1800 6000000", "g owner 9 -5 6000000",
          "w other", "n other 5", "w", "l ", "l nothing", "\xFF\xFE x"})
        push(text);
    EXPECT_FALSE(made->is_over);
    EXPECT_EQ(asked(), "");
    push("w owner");
    ASSERT_EQ(asked(), "refresh");
    queue();
    EXPECT_FALSE(made->is_over);
    push("g owner 9 1800 6000000");
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, AForcedReleaseIsConfirmed) {
    const auto made = acquire(60s);
    answer({{"g", "9", "30000"}});
    push("f owner it");
    ASSERT_EQ(asked(), "inspect");
    answer({{"it", "0", "0", "owner", "host 1 me", "0", "1", "9", "0", "30000"}});
    EXPECT_TRUE(lost_.empty());
    push("f owner it");
    answer({{"it", "0", "0", {}, {}, {}, {}, {}, {}, {}}});
    EXPECT_EQ(lost_, std::vector<std::string>{"owner"});
    push("f owner it");
    fail(error(errc::refused, "no rights"));
    EXPECT_EQ(possible_losses_, 1);
}

TEST_F(SqlClient, AFailedConnectNamesTheTimeOfTheNext) {
    test_.refusal = error(errc::unreachable, "Nobody answers.");
    const auto first = acquire(10s);
    ASSERT_TRUE(first->failure);
    EXPECT_EQ(first->failure->reason(), errc::unreachable);
    EXPECT_GT(first->failure->retry_at(), time_.now());
    EXPECT_EQ(backend_->unreachable_reason("it"), "Nobody answers.");
    const auto second = acquire(10s, "second");
    EXPECT_TRUE(second->failure);
    EXPECT_EQ(test_.connects, 1u);
    advance(1s);
    test_.refusal.reset();
    acquire(10s, "third");
    EXPECT_EQ(test_.connects, 2u);
    ASSERT_EQ(asked(), "acquire");
    EXPECT_EQ(backend_->unreachable_reason("it"), "");
    answer({{"g", "9", "30000"}});
}

TEST_F(SqlClient, ALastingFailureIsNotTransient) {
    test_.refusal = error(errc::refused, "wrong password");
    const auto made = acquire(10s);
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::refused);
    EXPECT_FALSE(made->failure->is_transient());
}

TEST_F(SqlClient, AWaiterThatGivesUpLeavesAndMayGetTheLockThen) {
    const auto made = acquire(5s);
    queue();
    advance(5s);
    ASSERT_EQ(asked(), "refresh");
    queue();
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->number(6), 1);
    answer({{"g", "11", "1500", "t"}});
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, CloseWaitsForUndosUntilItsLimit) {
    acquire(0s);
    advance(1s);
    ASSERT_EQ(asked(), "leave");
    const auto closed = close(time_.now() + 3s);
    EXPECT_FALSE(*closed);
    answer({{"e", std::nullopt, std::nullopt, "t"}});
    EXPECT_TRUE(*closed);
    EXPECT_EQ(test_.closed, 1u);
    const auto late = acquire(10s, "late");
    ASSERT_TRUE(late->failure);
    EXPECT_EQ(late->failure->reason(), errc::cancelled);
}

TEST_F(SqlClient, CloseGivesUpAtItsLimit) {
    acquire(0s);
    advance(1s);
    const auto closed = close(time_.now() + 300ms);
    advance(300ms);
    EXPECT_TRUE(*closed);
    EXPECT_EQ(test_.closed, 1u);
}

}  // namespace
}  // namespace pawl::sql
