// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl redlock`: the set of nodes of Redlock, for operators.
#include "command.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>
#include <support/redlock_group.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace {

using namespace cli_test;
using support::redlock_group;
using testing::HasSubstr;
using testing::Not;

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
    EXPECT_EQ(again.code, 0);
    EXPECT_THAT(again.err, HasSubstr("These nodes are a set already, and it grants locks; there is "
                                     "nothing to do."));
    EXPECT_EQ(redlock(group.url(), {"init", "--yes", "--force"}).code, 0);
}

TEST(RedlockVerb, ANewSetSaysForHowLongItWaits) {
    redlock_group group;
    const auto url = group.url("?ttl_max=60000");
    // Once the client has asked all nodes.
    outcome early;
    EXPECT_TRUE(support::eventually([&] {
        early = test_sandbox(url).run({"run", "--wait", "0", "x", "--", "true"});
        return early.err.find("has joined the set lately, and votes in 6") != std::string::npos;
    }));
    EXPECT_EQ(early.code, 76) << early.err;
    EXPECT_THAT(early.err, HasSubstr("pawl redlock init ends the wait."));
    const auto status = redlock(url, {"status"});
    EXPECT_EQ(status.code, 1);
    EXPECT_THAT(status.out, HasSubstr("has joined the set lately, and votes in 6"));
    const auto begun = redlock(url, {"init", "--yes"});
    EXPECT_EQ(begun.code, 0) << begun.err;
    EXPECT_THAT(begun.out, HasSubstr("3 of 3 nodes vote"));
}

// Waiting does not help, so even a run without a limit ends.
TEST(RedlockVerb, AnotherSetEndsTheWait) {
    redlock_group group;
    ASSERT_EQ(redlock(group.url(), {"init", "--yes"}).code, 0);
    const test_sandbox sandbox(group.url("?ttl_max=30000"));
    for (const char* verb : {"run", "elect"}) {
        const auto refused = sandbox.run({verb, "x", "--", "true"});
        EXPECT_EQ(refused.code, 76) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr("belongs to another set"));
    }
    EXPECT_EQ(sandbox.run({"ls"}).code, 76);
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

TEST(RedlockVerb, ALostSetIsCalledLost) {
    redlock_group group;
    ASSERT_EQ(redlock(group.url(), {"init", "--yes"}).code, 0);
    for (std::size_t i = 0; i < 2; ++i)
        (void)group.node(i).execute({"FLUSHALL"});
    const auto status = redlock(group.url(), {"status"});
    EXPECT_EQ(status.code, 1);
    EXPECT_THAT(status.out, HasSubstr("a majority of the nodes has lost its data"));
    EXPECT_THAT(status.out, Not(HasSubstr("waits to join the set")));
    const auto examined = test_sandbox(group.url()).run({"doctor", "--json"});
    EXPECT_THAT(
        from_json(examined.out,
                  "[each['advice'] for each in it['findings'] if each['topic'] == 'majority']"),
        HasSubstr("pawl redlock init --force"));
    const auto begun = redlock(group.url(), {"init", "--yes"});
    EXPECT_EQ(begun.code, 64);
    EXPECT_THAT(begun.err, HasSubstr("already, of which too few members are left; "));
    EXPECT_EQ(redlock(group.url(), {"init", "--yes", "--force"}).code, 0);
}

// An operator looks at new nodes before `init`.
TEST(RedlockVerb, ReadingBeginsNoSet) {
    redlock_group group;
    const test_sandbox sandbox(group.url());
    for (const words& reading :
         {words{"ls"}, words{"status", "x"}, words{"release", "--force", "--yes", "x"}}) {
        const auto refused = sandbox.run(reading);
        EXPECT_EQ(refused.code, 76) << reading[0] << refused.out;
        EXPECT_THAT(refused.err, HasSubstr("the nodes form no set yet; ")) << reading[0];
        EXPECT_THAT(refused.err, HasSubstr("pawl redlock init")) << reading[0];
    }
    EXPECT_EQ(sandbox.run({"doctor"}).code, 1);
    EXPECT_THAT(redlock(group.url(), {"status"}).out, HasSubstr("the nodes form no set yet; "));
    const auto begun = redlock(group.url(), {"init", "--yes"});
    EXPECT_EQ(begun.code, 0) << begun.err;
}

TEST(RedlockVerb, DoctorKnowsANodeThatIsNamedAlone) {
    redlock_group group;
    const auto grade_of = [&] {
        const auto examined = test_sandbox("redis://" + group.name_of(0)).run({"doctor", "--json"});
        return from_json(examined.out,
                         "[each['grade'] for each in it['findings'] if "
                         "each['topic'] == 'redlock']");
    };
    EXPECT_EQ(grade_of(), "[]");
    ASSERT_EQ(redlock(group.url(), {"init", "--yes"}).code, 0);
    EXPECT_EQ(grade_of(), "['bad']");
    EXPECT_EQ(test_sandbox(group.url()).run({"doctor"}).out.find("redlock  "), std::string::npos);
}

class RedlockVerbPassword : public testing::Test {
protected:
    // The nodes, after `user_info`.
    [[nodiscard]] std::string url(const std::string& user_info) const {
        return "redlock://" + user_info + "@" +
               group_.url().substr(std::string("redlock://").size());
    }
    static void write(const std::string& path, const std::string& line) {
        std::ofstream(path) << line << '\n';
        std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    }

    redlock_group group_{3, {.config = {"requirepass s3cret"}, .password = "s3cret"}};
};

TEST_F(RedlockVerbPassword, ComesFromEachSourceOfTheUrl) {
    const auto secret = url(":s3cret");
    ASSERT_EQ(redlock(secret, {"init", "--yes"}).code, 0) << "PAWL_URL";
    const test_sandbox sandbox;
    const auto file = sandbox.file("url");
    write(file, secret);
    const auto host_file = sandbox.file("pawl.conf");
    write(host_file, "url = " + url("default:s3cret"));
    const std::pair<words, variables> sources[] = {
        {{}, {{"PAWL_URL", secret}}},
        {{"--on", secret}, {}},
        {{"--on", url("default:s3cret")}, {}},
        {{"--url-file", file}, {}},
        {{}, {{"PAWL_URL", ""}, {"PAWL_URL_FILE", file}}},
        {{}, {{"PAWL_URL", ""}, {"PAWL_CONFIG", host_file}}},
        {{"--on", group_.url("?password_env=SECRET")}, {{"SECRET", "s3cret"}}}};
    for (const auto& [arguments, environment] : sources) {
        for (const char* operation : {"status", "rejoin"}) {
            const auto result = sandbox.run(words{"redlock", operation} + arguments, environment);
            EXPECT_EQ(result.code, 0) << testing::PrintToString(arguments) << result.err;
            EXPECT_THAT(result.out, HasSubstr("3 of 3 nodes vote"));
            EXPECT_THAT(result.out + result.err, Not(HasSubstr("s3cret")));
        }
    }
}

TEST_F(RedlockVerbPassword, AWrongOneIsRefused) {
    const auto status = redlock(url(":wr0ng"), {"status"});
    EXPECT_EQ(status.code, 1);
    EXPECT_THAT(status.out, HasSubstr("WRONGPASS"));
    EXPECT_THAT(status.out + status.err, Not(HasSubstr("wr0ng")));
    EXPECT_THAT(redlock(url(":wr0ng"), {"init", "--yes"}).err, HasSubstr("WRONGPASS"));
    EXPECT_THAT(redlock(group_.url(), {"status"}).out, HasSubstr("NOAUTH"));
}

TEST(RedlockVerb, AHoldWithoutATokenSetsNoVariable) {
    redlock_group group;
    const auto token = words{"--", "sh", "-c", "echo ${PAWL_TOKEN-none} ${PAWL_ALSO_1_TOKEN-none}"};
    const test_sandbox classic(group.url("?fenced=no"));
    const variables outer{{"PAWL_TOKEN", "7"}};
    EXPECT_EQ(classic.run(words{"run", "x", "--also", "y"} + token, outer).out, "none none\n");
    EXPECT_EQ(classic.run(words{"elect", "x"} + token, outer).out, "none none\n");
}

TEST(RedlockVerb, BenchFitsTheLongestTtl) {
    redlock_group group;
    const auto url = group.url("?ttl_max=2000");
    ASSERT_EQ(redlock(url, {"init", "--yes"}).code, 0);
    const auto result = test_sandbox(url).run({"bench", "--for", "200ms", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(from_json(result.out, "it['uncontended']['requests'] >= 6"), "True") << result.out;
    EXPECT_EQ(from_json(result.out, "it['hand_off']['requests'] > 2"), "True") << result.out;
}

TEST(RedlockVerb, PermitsAreRefusedAtOnce) {
    const auto refused =
        test_sandbox("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3").run({"resize", "x", "3"});
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("Redlock has no permits"));
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

// Each name once in a message.
TEST(RedlockVerb, ServersThatRefuseAreNamedOnce) {
    redlock_group group(2);
    const support::redis_server guarded(
        {.config = {"requirepass s3cret"}, .sentinel = true, .password = "s3cret"});
    const auto sentinel = "127.0.0.1:" + std::to_string(guarded.port());
    const test_sandbox monitored("redlock://" + group.name_of(0) + "," + group.name_of(1) +
                                 ",orders=" + sentinel);
    const auto examined = monitored.run({"doctor"});
    EXPECT_THAT(examined.out, HasSubstr("sentinel  the server says \"NOAUTH"));
    EXPECT_THAT(examined.out, HasSubstr("give the password by sentinel_password_file"));
    EXPECT_THAT(examined.out, HasSubstr("as a crash of that node"));
    const auto tried = monitored.run({"run", "-v", "--wait", "0", "x", "--", "true"});
    EXPECT_THAT(tried.err, HasSubstr("the Sentinel " + sentinel + ": the server says"));
    EXPECT_THAT(tried.err, Not(HasSubstr("the Sentinel " + sentinel + ": the Sentinel")));

    const support::redis_server replica(
        {.config = {"replicaof 127.0.0.1 " + std::to_string(group.node(0).port())}});
    const auto name = "127.0.0.1:" + std::to_string(replica.port());
    const auto refused =
        test_sandbox(group.url("," + name)).run({"run", "-v", "--wait", "0", "x", "--", "true"});
    EXPECT_THAT(refused.err, HasSubstr("the node " + name + ": it is a replica; "));
    EXPECT_THAT(refused.err, HasSubstr(name + ": is a replica; "));
    EXPECT_THAT(refused.err, Not(HasSubstr(name + ": " + name)));
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
    // Without a URL, too, and without the line about the default file.
    EXPECT_EQ(test_sandbox().run({"redlock", "init"}, {{"PAWL_URL", ""}}).err,
              "pawl: Only Redlock has a set of nodes; name them, as in: pawl redlock init --on "
              "redlock://HOST1,HOST2,HOST3.\n");
}

}  // namespace
