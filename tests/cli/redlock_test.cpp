// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl redlock`: the set of nodes of Redlock, for operators.
#include "command.hpp"

#include <support/eventually.hpp>
#include <support/redlock_group.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace cli_test;
using support::redlock_group;
using testing::HasSubstr;

outcome redlock(const std::string& url, const words& arguments) {
    return test_sandbox(url).run(words{"redlock"} + arguments);
}

TEST(RedlockVerb, InitMakesASetThatGrantsAtOnce) {
    redlock_group group;
    const test_sandbox sandbox(group.url());
    EXPECT_EQ(redlock(group.url(), {"status"}).code, 1);
    const auto begun = redlock(group.url(), {"init", "--yes"});
    EXPECT_EQ(begun.code, 0) << begun.err;
    EXPECT_THAT(begun.out, HasSubstr("3 of 3 nodes vote; a lock needs 2.\n"));
    const auto granted = sandbox.run({"run", "--wait", "0", "x", "--", "true"});
    EXPECT_EQ(granted.code, 0) << granted.err;
    const auto again = redlock(group.url(), {"init", "--yes"});
    EXPECT_EQ(again.code, 64);
    EXPECT_THAT(again.err, HasSubstr("pawl redlock init --force begins a new set."));
    EXPECT_EQ(redlock(group.url(), {"init", "--yes", "--force"}).code, 0);
}

TEST(RedlockVerb, ANewSetSaysForHowLongItWaits) {
    redlock_group group;
    const auto url = group.url("?ttl_max=60000");
    const auto early = test_sandbox(url).run({"run", "--wait", "0", "x", "--", "true"});
    EXPECT_EQ(early.code, 69) << early.err;
    EXPECT_THAT(early.err, HasSubstr("has joined the set lately, and votes in 6"));
    const auto status = redlock(url, {"status"});
    EXPECT_EQ(status.code, 1);
    EXPECT_THAT(status.out, HasSubstr("has joined the set lately, and votes in 6"));
}

TEST(RedlockVerb, RejoinLetsANodeJoinAgain) {
    redlock_group group;
    const auto url = group.url("?ttl_max=500");
    ASSERT_EQ(redlock(url, {"init", "--yes"}).code, 0);
    (void)group.node(0).execute({"FLUSHALL"});
    const auto lost = redlock(url, {"status", "--json"});
    EXPECT_EQ(lost.code, 0) << "two of three vote";
    EXPECT_EQ(from_json(lost.out, "[each['objection'] for each in it if not each['votes']]"),
              "['has lost its data, or is new, and waits to join the set']");
    EXPECT_EQ(redlock(url, {"rejoin"}).code, 0);
    EXPECT_TRUE(support::eventually([&] {
        return redlock(url, {"status"}).out.find("3 of 3 nodes vote") != std::string::npos;
    }));
    EXPECT_EQ(from_json(redlock(url, {"status", "--json"}).out,
                        "sorted(each['incarnation'] for each in it)"),
              "[1, 1, 2]");
}

TEST(RedlockVerb, RejoinSaysWhyALostSetStays) {
    redlock_group group;
    ASSERT_EQ(redlock(group.url(), {"init", "--yes"}).code, 0);
    for (std::size_t i = 0; i < 2; ++i)
        (void)group.node(i).execute({"FLUSHALL"});
    const auto lost = redlock(group.url(), {"rejoin"});
    EXPECT_EQ(lost.code, 1);
    EXPECT_THAT(lost.out, HasSubstr("a majority of the nodes has lost its data at the same time"));
    EXPECT_THAT(lost.out, HasSubstr("pawl redlock init --force"));
}

TEST(RedlockVerb, ServersThatDoNotFitAreNamed) {
    redlock_group group;
    const auto port = std::to_string(group.node(0).port());
    const auto twice =
        redlock("redlock://127.0.0.1:" + port + ",localhost:" + port + "," + group.name_of(1),
                {"init", "-y"});
    EXPECT_EQ(twice.code, 69);
    EXPECT_THAT(twice.err, HasSubstr("A set begins only when all of its nodes can join; "));
    EXPECT_THAT(twice.err, HasSubstr("is the same server as"));
    group.node(2).terminate();
    const auto away = redlock(group.url(), {"init", "-y"});
    EXPECT_EQ(away.code, 69);
    EXPECT_THAT(away.err, HasSubstr(group.name_of(2) + ": Connection refused."));
}

TEST(RedlockVerb, WrongUseIsRefused) {
    const std::string url = "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
    const struct {
        std::string url;
        words arguments;
        std::string part;
    } table[] = {
        {url, {}, "OPERATION is missing"},
        {url, {"repair"}, "There is no operation 'repair' of a set; use status, init or rejoin."},
        {url, {"init"}, "There is no terminal for the confirmation; add --yes"},
        {url, {"status", "--force"}, "Only init has --force and --yes"},
        {url, {"rejoin", "--yes"}, "Only init has --force and --yes"},
        {url + "?fenced=no", {"status"}, "has no set of nodes"},
        {"redlock://127.0.0.1:1,127.0.0.1:2", {"status"}, "give 3, 5 or 7"},
        {"redis://127.0.0.1:1", {"status"}, "Only Redlock has a set of nodes"},
    };
    for (const auto& each : table) {
        const auto result = redlock(each.url, each.arguments);
        EXPECT_EQ(result.code, 64) << each.part << ": " << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr(each.part));
    }
}

}  // namespace
