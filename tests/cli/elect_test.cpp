// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl elect`: one of many candidates runs its command, and another takes over.
#include "command.hpp"

#include <support/redis_server.hpp>
#include <support/scripted_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <sstream>

namespace {

using namespace cli_test;

// Each term writes a line with its token. The command then runs until it is stopped.
words candidate(const std::string& terms, const std::string& ttl = "2s") {
    return {"elect", "--ttl", ttl,  "x",
            "--",    "sh",    "-c", "echo $PAWL_TOKEN $$ >> " + terms + "; exec sleep 1000"};
}

struct term {
    std::uint64_t token = 0;
    pid_t command = 0;
};

std::vector<term> terms_in(const std::string& file) {
    std::istringstream lines(read_file(file));
    std::vector<term> terms;
    for (term next_term; lines >> next_term.token >> next_term.command;)
        terms.push_back(next_term);
    return terms;
}

bool eventually_has_terms(const std::string& file, std::size_t count) {
    return support::eventually([&] { return terms_in(file).size() == count; });
}

void expect_increasing_tokens(const std::string& file) {
    const auto all = terms_in(file);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_GT(all[i].token, all[i - 1].token);
}

// The leader's supervisor is killed: its lock process ends the command and resigns, and the second
// candidate leads.
void check_killed_leader(const test_sandbox& sandbox) {
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    const auto second = sandbox.start(candidate(file));
    ASSERT_TRUE(support::eventually([&] {
        return std::stoi(from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']")) ==
               1;
    }));
    first->signal(SIGKILL);
    ASSERT_TRUE(eventually_has_terms(file, 2)) << second->err();
    expect_increasing_tokens(file);
    EXPECT_FALSE(is_alive(terms_in(file)[0].command));
}

TEST(Elect, AKilledLeaderIsFollowedOnRedis) {
    support::redis_server server;
    check_killed_leader(test_sandbox(server.url()));
}
TEST(Elect, AKilledLeaderIsFollowedOnSqlite) { check_killed_leader(test_sandbox()); }

// 1. The first candidate leads. 2. Its supervisor, its lock process and its command are stopped for
// longer than the ttl. 3. The second candidate leads. 4. The stopped processes continue: the first
// command must end, and the first candidate waits in the queue again. 5. The second is killed: the
// first leads again, with a later token.
TEST(Elect, AStoppedLeaderThatContinuesWaitsInTheQueue) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    const auto command = terms_in(file)[0].command;
    const auto lock_process = child_named(first->pid(), "lock-process");
    ASSERT_GT(lock_process, 0);
    for (const pid_t each : {first->pid(), lock_process, command})
        ::kill(each, SIGSTOP);
    const auto second = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 2)) << second->err();
    for (const pid_t each : {lock_process, first->pid(), command})
        ::kill(each, SIGCONT);
    EXPECT_TRUE(support::eventually(
        [&] {
            return first->err().find("Standing for election as 'x' again") != std::string::npos;
        },
        std::chrono::seconds(30)))
        << first->err();
    EXPECT_TRUE(support::eventually([&] { return !is_alive(command); }));
    EXPECT_TRUE(support::eventually([&] {
        return std::stoi(from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']")) ==
               1;
    }));
    second->signal(SIGKILL);
    ASSERT_TRUE(eventually_has_terms(file, 3)) << first->err();
    expect_increasing_tokens(file);
}

TEST(Elect, ALeaderRemovedByForceStandsAgain) {
    const test_sandbox sandbox;
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "x"}).code, 0);
    ASSERT_TRUE(eventually_has_terms(file, 2)) << first->err();
    expect_increasing_tokens(file);
    EXPECT_FALSE(is_alive(terms_in(file)[0].command));
    ::kill(first->pid(), SIGTERM);
    EXPECT_EQ(first->wait().code, 128 + SIGTERM) << "a signal ends it for good";
}

// 1. The first candidate leads. 2. The server dies: the command ends, and the candidate tries in
// vain. 3. The server is back without data: the candidate leads again, with a later term.
TEST(Elect, AServiceThatGoesAwayIsWaitedFor) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    server.kill9();
    // The messages: the loss, the new candidacy, and the wait for the service.
    const auto sentences = [&] {
        const auto messages = first->err();
        return std::count(messages.begin(), messages.end(), '\n');
    };
    ASSERT_TRUE(support::eventually([&] { return sentences() >= 3; }, std::chrono::seconds(30)))
        << first->err();
    EXPECT_FALSE(is_alive(terms_in(file)[0].command));
    EXPECT_TRUE(first->is_running());
    server.start(false);
    ASSERT_TRUE(
        support::eventually([&] { return terms_in(file).size() == 2; }, std::chrono::seconds(30)))
        << first->err();
    expect_increasing_tokens(file);
}

//   the first candidate leads | the server hangs: the command is killed, and the release has no
//   reply for seconds | SIGTERM to the first candidate: no command is there to get it
TEST(Elect, ASignalDuringTheReleaseEndsIt) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    const auto command = terms_in(file)[0].command;
    server.freeze();
    ASSERT_TRUE(support::eventually([&] { return !is_alive(command); })) << first->err();
    first->signal(SIGTERM);
    EXPECT_EQ(first->wait().code, 70) << first->err();
    EXPECT_EQ(first->err().find("again"), std::string::npos) << first->err();
    server.thaw();
}

// 1. The first candidate leads, and the second waits in the queue and has never led. 2. The server
// dies until the second has reported it. 3. The server is back: one leads, and both processes run.
TEST(Elect, ACandidateInTheQueueWaitsForTheService) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    const auto second = sandbox.start(candidate(file));
    const auto waiters = [&] {
        return std::stoi(from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']"));
    };
    ASSERT_TRUE(support::eventually([&] { return waiters() == 1; }));
    server.kill9();
    const auto lines = [&] {
        const auto messages = second->err();
        return std::count(messages.begin(), messages.end(), '\n');
    };
    ASSERT_TRUE(support::eventually([&] { return lines() >= 1 || !second->is_running(); },
                                    std::chrono::seconds(30)));
    EXPECT_TRUE(second->is_running()) << second->err();
    server.start(false);
    ASSERT_TRUE(support::eventually([&] { return terms_in(file).size() >= 2 && waiters() == 1; },
                                    std::chrono::seconds(60)))
        << first->err() << second->err();
    expect_increasing_tokens(file);
    for (const auto* each : {&first, &second})
        EXPECT_TRUE((*each)->is_running()) << (*each)->err();
}

// --wait includes the time while the service is unavailable.
TEST(Elect, WaitIncludesAnUnavailableService) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file, "30s"));
    ASSERT_TRUE(eventually_has_terms(file, 1)) << first->err();
    const auto second = sandbox.start({"elect", "--wait", "4s", "x", "--", "true"});
    ASSERT_TRUE(support::eventually([&] {
        return std::stoi(from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']")) ==
               1;
    }));
    server.kill9();
    EXPECT_EQ(second->wait().code, 69) << second->err();
}

// The exit status is that of an unavailable service, but waiting does not help.
TEST(Elect, AnInvalidReplyIsNotWaitedFor) {
    const support::scripted_server server([](support::scripted_connection& peer) {
        while (peer.complete_handshake())
            peer.send("-ERR odd\r\n");
    });
    const auto end = test_sandbox(server.url()).run({"elect", "--wait", "20s", "x", "--", "true"});
    EXPECT_EQ(end.code, 69) << end.err;
    const auto first = end.err.find("ERR odd");
    ASSERT_NE(first, std::string::npos) << end.err;
    EXPECT_EQ(end.err.find("ERR odd", first + 1), std::string::npos) << end.err;
}

TEST(Elect, EndsWithItsCommand) {
    const test_sandbox sandbox;
    EXPECT_EQ(sandbox.run({"elect", "x", "--", "sh", "-c", "exit 7"}).code, 7);
    EXPECT_EQ(sandbox.run({"status", "x"}).code, 1) << "it has resigned";
    EXPECT_EQ(sandbox.run({"elect", "x", "--", "no-such-command"}).code, 127);
    const auto as_if_away = sandbox.run({"elect", "x", "--", "sh", "-c", "echo ran; exit 69"});
    EXPECT_EQ(as_if_away.code, 69);
    EXPECT_EQ(as_if_away.out, "ran\n");
}

TEST(Elect, SaysWhatIsWrong) {
    const test_sandbox sandbox;
    EXPECT_EQ(sandbox.run({"elect", "x"}).code, 64);
    EXPECT_EQ(sandbox.run({"elect", "x", "sleep", "1"}).code, 64);
    EXPECT_EQ(sandbox.run({"elect", "--on-loss", "term", "x", "--", "true"}).code, 64);
    const auto away =
        sandbox.run({"elect", "--wait", "4s", "--on", "redis://127.0.0.1:1", "x", "--", "true"});
    EXPECT_EQ(away.code, 69);
    EXPECT_NE(away.err.find("Waiting for the service: "), std::string::npos) << away.err;
    const auto file = sandbox.file("terms");
    const auto first = sandbox.start(candidate(file));
    ASSERT_TRUE(eventually_has_terms(file, 1));
    EXPECT_EQ(sandbox.run({"elect", "--wait", "100ms", "x", "--", "true"}).code, 75);
}

}  // namespace
