// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// After the loss of the lock, no process of the command may run when the next holder can start.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <filesystem>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

// A grandchild that ignores SIGTERM writes heartbeats while the server is frozen. Only SIGKILL ends
// it.
void check_frozen_server(const std::string& mode) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("beats");
    const auto process =
        sandbox.start(words{"run", "--ttl", "2s", "x", "--"} + heartbeat(file, mode));
    ASSERT_TRUE(is_beating(file)) << process->err();
    server.freeze();
    const auto deadline =
        boot_time() + 2 * second;  // renewals that are sent later cannot be confirmed
    const auto result = process->wait();
    EXPECT_LT(last_beat(file), deadline);
    EXPECT_EQ(result.code, 70);
    EXPECT_NE(result.err.find("no renewal was confirmed"), std::string::npos) << result.err;
    EXPECT_TRUE(eventually_silent(file));
    server.thaw();
}

TEST(Loss, AFrozenServerStopsAWillingCommand) { check_frozen_server(""); }
TEST(Loss, AFrozenServerStopsAStubbornCommand) { check_frozen_server("stubborn"); }
TEST(Loss, AFrozenServerStopsTheWholeGroup) { check_frozen_server("pair"); }

TEST(Loss, ADeadServerStopsTheCommandInTime) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("beats");
    const auto process =
        sandbox.start(words{"run", "--ttl", "2s", "x", "--"} + heartbeat(file, "stubborn"));
    ASSERT_TRUE(is_beating(file)) << process->err();
    server.kill9();
    const auto deadline = boot_time() + 2 * second;
    EXPECT_EQ(process->wait().code, 70);
    EXPECT_LT(last_beat(file), deadline);
}

TEST(Loss, RenewalsKeepTheCommandAliveFarBeyondTheTtl) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto result =
        sandbox.run({"run", "--ttl", "1s", "x", "--", "sh", "-c", "sleep 3.5; echo done"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "done\n");
}

void check_forced_release(const test_sandbox& sandbox) {
    const auto file = sandbox.file("beats");
    const auto victim =
        sandbox.start(words{"run", "--ttl", "6s", "x", "--"} + heartbeat(file, "pair"));
    ASSERT_TRUE(is_beating(file)) << victim->err();
    const auto before =
        std::stoull(from_json(sandbox.run({"status", "x", "--json"}).out, "it['holder']['token']"));

    const auto released = sandbox.run({"release", "--force", "--yes", "x"});
    EXPECT_EQ(released.code, 0) << released.err;
    const auto next = sandbox.run({"run", "x", "--", "sh", "-c", "echo $PAWL_TOKEN"});
    EXPECT_GT(std::stoull(next.out), before) << "its token is overtaken";
    const auto result = victim->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_NE(result.err.find("Lost 'x'"), std::string::npos) << result.err;
    EXPECT_TRUE(eventually_silent(file));
}

TEST(Loss, AForcedReleaseStopsTheVictimOnRedis) {
    support::redis_server server;
    check_forced_release(test_sandbox(server.url()));
}
TEST(Loss, AForcedReleaseStopsTheVictimOnSqlite) { check_forced_release(test_sandbox()); }

TEST(Loss, AServerThatForgotTheLockIsNoticedAtTheEndAtTheLatest) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto process =
        sandbox.start({"run", "x", "--", "sh", "-c",
                       "echo ready; until [ -e " + sandbox.file("go") + " ]; do sleep 0.01; done"});
    ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
    server.execute({"FLUSHALL"});
    EXPECT_EQ(sandbox.run({"run", "y", "--", "touch", sandbox.file("go")}).code, 0);
    EXPECT_EQ(process->wait().code, 70) << process->err();
}

TEST(Loss, TermOnlyLeavesTheEndToTheCommand) {
    const test_sandbox sandbox;
    const auto process = sandbox.start(
        {"run", "--ttl", "2s", "--on-loss", "term", "x", "--", "sh", "-c",
         "trap 'echo told' TERM; echo ready; i=0; while [ $i -lt 150 ]; do sleep 0.02; "
         "i=$((i+1)); done; echo end; exit 3"});
    ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto result = process->wait();
    EXPECT_EQ(result.out, "ready\ntold\nend\n");
    EXPECT_EQ(result.code, 73);
    EXPECT_NE(result.err.find("lease ended while the command was still"), std::string::npos)
        << result.err;
}

// The shell dies of SIGTERM; its child cleans up, and pawl leaves it alone.
TEST(Loss, TermLeavesAlsoTheRestOfTheCommandAlone) {
    const test_sandbox sandbox;
    const auto cleaned = sandbox.file("cleaned");
    const auto process =
        sandbox.start({"run", "--ttl", "20s", "--on-loss", "term", "x", "--", "sh", "-c",
                       "sh -c 'trap \"sleep 1; echo > " + cleaned +
                           "; exit\" TERM; echo ready; while :; do sleep 0.05; done' & wait"});
    ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto result = process->wait();
    EXPECT_EQ(result.code, 73) << result.err;
    EXPECT_NE(result.err.find("continue without the lock"), std::string::npos) << result.err;
    EXPECT_TRUE(support::eventually([&] { return std::filesystem::exists(cleaned); }));
}

TEST(Loss, ACommandThatEndsInTimeAfterTermHasNotOutlivedTheLease) {
    const test_sandbox sandbox;
    const auto process = sandbox.start({"run", "--ttl", "20s", "--on-loss", "term", "x", "--", "sh",
                                        "-c", "echo ready; exec sleep 600"});
    ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(process->wait().code, 70);
}

TEST(Loss, ContinueOnlyWarns) {
    const test_sandbox sandbox;
    const auto process = sandbox.start(
        {"run", "--ttl", "2s", "--on-loss", "continue", "x", "--", "sh", "-c",
         "echo ready; until [ -e " + sandbox.file("go") + " ]; do sleep 0.02; done; exit 3"});
    ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_TRUE(support::eventually(
        [&] { return process->err().find("continues without the lock") != std::string::npos; }));
    EXPECT_EQ(sandbox.run({"run", "x", "--", "touch", sandbox.file("go")}).code, 0);
    EXPECT_EQ(process->wait().code, 3);
}

TEST(Loss, MaxHoldEndsTheCommand) {
    const test_sandbox sandbox;
    const auto file = sandbox.file("beats");
    const auto began = boot_time();
    const auto process = sandbox.start(words{"run", "--ttl", "1s", "--max-hold", "2s", "x", "--"} +
                                       heartbeat(file, "stubborn"));
    const auto result = process->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_NE(result.err.find("--max-hold are over"), std::string::npos) << result.err;
    EXPECT_GT(last_beat(file), began + second) << "it had been renewed";
    EXPECT_TRUE(eventually_silent(file));
}

// The lock is still free for its holder: it stays until its lease ends.
TEST(Loss, DataBesideTheLockIsNone) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    server.execute({"RPUSH", "pawl:{x}:q", "theirs"});
    const auto result = sandbox.run({"run", "x", "--", "true"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err,
              "pawl: The service did not confirm the release of 'x'; the lock is free within "
              "30 s.\n");
    EXPECT_EQ(server.execute({"EXISTS", "pawl:{x}"}).number(), 1);
}

}  // namespace
