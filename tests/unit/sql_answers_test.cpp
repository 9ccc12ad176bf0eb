// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a database's answers and messages say, without a database. Any program may send messages.
#include "sql/answers.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::sql {
namespace {

using namespace std::chrono_literals;
using kind = core::attempt_result::kind;

constexpr time_point asked_at{100s};
constexpr time_point now{101s};

claim claim_of(duration ttl, lock_mode mode = lock_mode::exclusive) {
    claim made;
    made.name = "it";
    made.owner = "owner";
    made.ttl = ttl;
    made.mode = mode;
    return made;
}

errc reason_of(const row& answer, const claim& requested = claim_of(30s)) {
    try {
        static_cast<void>(read_attempt(requested, answer, asked_at, now));
    } catch (const error& failed) {
        return failed.reason();
    }
    return errc{};
}

TEST(SqlMessage, OfAGrant) {
    const auto parsed = parse_message("g owner 7 1800 1700000000000000");
    EXPECT_EQ(parsed.kind, 'g');
    EXPECT_EQ(parsed.subject, "owner");
    EXPECT_EQ(parsed.token.value(), 7u);
    EXPECT_EQ(parsed.span, 1800ms);
    EXPECT_EQ(parsed.clock, 1'700'000'000'000'000);
}

TEST(SqlMessage, NamesMayHaveSpaces) {
    const auto forced = parse_message("f owner a lock with spaces ");
    EXPECT_EQ(forced.kind, 'f');
    EXPECT_EQ(forced.subject, "owner");
    EXPECT_EQ(forced.name, "a lock with spaces ");
    const auto latch = parse_message("l a latch");
    EXPECT_EQ(latch.kind, 'l');
    EXPECT_EQ(latch.name, "a latch");
    EXPECT_EQ(parse_message("w owner").subject, "owner");
}

TEST(SqlMessage, WhatIsNotUnderstoodHasNoKind) {
    const std::string nul("g\0owner 7 1800 1", 16);
    for (const std::string& text : {std::string(),
                                    std::string("g"),
                                    std::string("g "),
                                    std::string("go owner 7 1800 1"),
                                    std::string("x owner"),
                                    std::string("G owner 7 1800 1"),
                                    std::string("g owner"),
                                    std::string("g owner 7"),
                                    std::string("g owner 7 1800"),
                                    std::string("g owner 7 1800 "),
                                    std::string("g owner 0 1800 1"),
                                    std::string("g owner 7 0 1"),
                                    std::string("g owner 7 -1800 1"),
                                    std::string("g owner 7 1800 0"),
                                    std::string("g owner 7 1800 -1"),
                                    std::string("g owner 7x 1800 1"),
                                    std::string("g owner 7 1800ms 1"),
                                    std::string("g owner  7 1800 1"),
                                    std::string("g owner 99999999999999999999 1800 1"),
                                    std::string("g owner 7 99999999999999999999 1"),
                                    std::string("g owner +7 1800 1"),
                                    nul})
        EXPECT_EQ(parse_message(text).kind, '\0') << text;
}

TEST(SqlMessage, OfANewFirstWaiter) {
    const auto parsed = parse_message("n owner 700");
    EXPECT_EQ(parsed.kind, 'n');
    EXPECT_EQ(parsed.subject, "owner");
    EXPECT_EQ(parsed.span, 700ms);
    for (const char* text : {"n owner", "n owner soon", "n owner -5"})
        EXPECT_EQ(parse_message(text).span, duration{}) << text;
}

TEST(SqlMessage, MoreWordsThanKnownAreLeftToLaterFormats) {
    EXPECT_EQ(parse_message("g owner 7 1800 1 more").kind, 'g');
}

// The window becomes a time: no number may overflow it.
TEST(SqlMessage, AHugeWindowDoesNotOverflow) {
    for (const char* text : {"g owner 7 9223372036854775807 1", "g owner 7 9223372036855 1",
                             "g owner 7 20000000000000 1"}) {
        const auto parsed = parse_message(text);
        EXPECT_TRUE(parsed.kind == '\0' || parsed.span > duration{}) << text;
    }
}

TEST(SqlMessage, OfAnyBytes) {
    std::string text = "g owner 7 1800 1700000000000000";
    for (std::size_t at = 0; at < text.size(); ++at)
        for (const char byte : {'\0', ' ', '\xFF', '-', '9'}) {
            auto changed = text;
            changed[at] = byte;
            const auto parsed = parse_message(changed);
            EXPECT_TRUE(parsed.kind == '\0' || parsed.span > duration{}) << changed;
            static_cast<void>(parse_message(std::string_view(text).substr(0, at)));
        }
}

TEST(SqlAttempt, AGrantCountsFromTheRequest) {
    const auto result =
        read_attempt(claim_of(30s), {"g", "5", "30000", "", "", "9"}, asked_at, now);
    EXPECT_EQ(result.outcome, kind::granted);
    EXPECT_EQ(result.token.value(), 5u);
    EXPECT_EQ(result.expires, asked_at + 30s);
    EXPECT_FALSE(result.needs_renewal);
}

TEST(SqlAttempt, AGrantForAWindowNeedsARenewal) {
    const auto result = read_attempt(claim_of(30s), {"g", "5", "1700"}, asked_at, now);
    EXPECT_EQ(result.expires, asked_at + 1700ms);
    EXPECT_TRUE(result.needs_renewal);
}

TEST(SqlAttempt, APlaceAndABusyLock) {
    for (const char* first : {"t", "true", "1"}) {
        const auto queued =
            read_attempt(claim_of(30s), {"q", std::nullopt, "4000", first}, asked_at, now);
        EXPECT_EQ(queued.outcome, kind::waiting);
        EXPECT_TRUE(queued.is_first) << first;
        EXPECT_EQ(queued.expires, now + 4s);
    }
    EXPECT_FALSE(
        read_attempt(claim_of(30s), {"q", std::nullopt, "4000", "f"}, asked_at, now).is_first);
    const auto unknown = read_attempt(claim_of(30s), {"q", {}, {}, "f"}, asked_at, now);
    EXPECT_EQ(unknown.expires, time_point::max());
    const auto busy = read_attempt(claim_of(30s), {"b", std::nullopt, "4000"}, asked_at, now);
    EXPECT_EQ(busy.outcome, kind::not_queued);
    EXPECT_EQ(busy.expires, now + 4s);
}

TEST(SqlAttempt, PermitsThatCannotBeGranted) {
    auto requested = claim_of(30s, lock_mode::permits);
    requested.permits = 5;
    requested.total_permits = 6;
    for (const char* status : {"n", "t", "m"})
        EXPECT_EQ(reason_of({status, {}, {}, {}, "4"}, requested), errc::bad_option) << status;
}

TEST(SqlAttempt, WhatNobodyAnswersIsAnError) {
    for (const row& answer :
         {row{}, row{""}, row{std::nullopt}, row{"x"}, row{"g", "five", "1"}, row{"g", "5", "1 "},
          row{"q", {}, "soon"}, row{"g", "5", ""}, row{"g", "5", "99999999999999999999"}})
        EXPECT_EQ(reason_of(answer), errc::protocol);
}

TEST(SqlLocks, RowsOfOneNameAreOneLock) {
    const auto locks = read_locks({
        {"a", "2", "0", "0123456789abcdef", "host 42 a command", "0", "1", "9", "1000", "500"},
        {"b", "0", "3", "1123456789abcdef", "host 43 other", "2", "2", "10", "2000", "600"},
        {"b", "0", "3", "2123456789abcdef", "host 44 other", "2", "1", "11", "3000", "700"},
    });
    ASSERT_EQ(locks.size(), 2u);
    EXPECT_EQ(locks[0].name, "a");
    ASSERT_TRUE(locks[0].held_by);
    EXPECT_EQ(locks[0].held_by->host, "host");
    EXPECT_EQ(locks[0].held_by->pid, 42);
    EXPECT_EQ(locks[0].held_by->command, "a command");
    EXPECT_EQ(locks[0].held_by->owner, "01234567");
    EXPECT_EQ(locks[0].held_by->remaining, 500ms);
    EXPECT_EQ(locks[1].permits, 3u);
    EXPECT_EQ(locks[1].others.size(), 1u);
    EXPECT_EQ(locks[1].free_permits, 0u);
}

// Whoever may write the tables can put anything into them.
TEST(SqlLocks, StrangeRows) {
    const auto locks = read_locks({
        {"free", "0", "0", {}, {}, {}, {}, {}, {}, {}},
        {"short", "0", "0"},
        {"strange", "0", "0", "me", {}, "77", "-1", "-1", "-1", "-1"},
        {"mode", "0", "0", "me", "", "-5", "0", "0", "0", "0"},
        {{}, {}, {}, "", " 12 ", {}, {}, {}, {}, {}},
    });
    ASSERT_EQ(locks.size(), 5u);
    EXPECT_FALSE(locks[0].held_by);
    EXPECT_FALSE(locks[1].held_by);
    ASSERT_TRUE(locks[2].held_by);
    EXPECT_EQ(locks[2].held_by->mode, lock_mode::permits);
    EXPECT_EQ(locks[2].held_by->owner, "me");
    ASSERT_TRUE(locks[3].held_by);
    EXPECT_EQ(locks[3].held_by->mode, lock_mode::exclusive);
    EXPECT_THROW(read_locks({{"it", "many", "0"}}), error);
    EXPECT_TRUE(read_locks({}).empty());
}

TEST(SqlCall, ALeaveSaysWhoSentTheClaimUnlessSessionsAreShared) {
    const std::string name_space = "pawl", process = "host 1 test";
    session_facts facts{.client = "new"};
    const caller from{name_space, facts, process};
    const auto claimed_by = [&](const caller& by) {
        return std::get<std::string>(leave_call(by, claim_of(30s), "old", false).parameters[4]);
    };
    EXPECT_EQ(claimed_by(from), "old");
    facts.is_pushed = false;
    EXPECT_EQ(claimed_by(from), "");
    EXPECT_EQ(from.place_kind(true), 2);
    EXPECT_EQ(from.place_kind(false), 0);
}

}  // namespace
}  // namespace pawl::sql
