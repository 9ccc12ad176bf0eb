// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl run`: the environment and the exit status of the command.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <sstream>
#include <utility>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

words sh(const std::string& script) { return {"--", "sh", "-c", script}; }

TEST(Run, GivesTheCommandsOwnStatus) {
    const test_sandbox sandbox;
    EXPECT_EQ(sandbox.run(words{"run", "x"} + sh("exit 0")).code, 0);
    EXPECT_EQ(sandbox.run(words{"run", "x"} + sh("exit 37")).code, 37);
    EXPECT_EQ(sandbox.run(words{"run", "x"} + sh("kill -KILL $$")).code, 128 + SIGKILL);
    EXPECT_EQ(sandbox.run(words{"run", "x"} + sh("kill -TERM $$")).code, 128 + SIGTERM);
    EXPECT_EQ(sandbox.run({"run", "x", "--", "no-such-command"}).code, 127);
    EXPECT_EQ(sandbox.run({"run", "x", "--", "/"}).code, 126);
    EXPECT_EQ(sandbox.run({"status", "x"}).code, 1) << "released after each";
}

// --busy-exit applies only to a lock that is not free.
TEST(Run, OtherFailuresAreNotBusy) {
    const test_sandbox sandbox;
    const words busy{"run", "--busy-exit", "3", "x"};
    EXPECT_EQ(sandbox.run(busy + sh("exit 37")).code, 37);
    EXPECT_EQ(sandbox.run(busy + sh("exit 75")).code, 75);
    EXPECT_EQ(sandbox.run(busy + words{"--", "no-such-command"}).code, 127);
    support::redis_server server;
    const auto url = server.url();
    server.kill9();
    EXPECT_EQ(sandbox
                  .run(words{"run", "--wait", "0", "--on", url} + words{"--busy-exit", "3", "x"} +
                       sh("true"))
                  .code,
              69);
}

// Under cron, each line on stderr becomes a mail.
TEST(Run, QuietSaysNothingOfALockThatIsNotFree) {
    const test_sandbox sandbox;
    const auto first = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    for (const char* option : {"-q", "--quiet"}) {
        const auto busy = sandbox.run({"run", option, "--wait", "0", "x", "--", "echo", "ran"});
        EXPECT_EQ(busy.code, 75);
        EXPECT_EQ(busy.out + busy.err, "");
    }
    EXPECT_EQ(
        sandbox.run({"run", "-q", "--wait", "50ms", "--busy-exit", "3", "x", "--", "true"}).code,
        3);
    EXPECT_NE(sandbox.run({"run", "--wait", "0", "x", "--", "true"}).err, "");
    const auto other = sandbox.run({"run", "-q", "y", "--", "no-such-command"});
    EXPECT_EQ(other.code, 127);
    EXPECT_NE(other.err, "");
    const auto away = sandbox.run({"run", "-q", "--wait", "0", "--on",
                                   "redis+unix://" + sandbox.file("absent"), "x", "--", "true"});
    EXPECT_EQ(away.code, 69);
    EXPECT_NE(away.err, "");
}

// With -v, also without a terminal.
TEST(Run, VerboseNamesTheHolder) {
    const test_sandbox sandbox;
    const auto first = sandbox.start({"run", "x", "--label", "night", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    const auto waiting = sandbox.start({"run", "-v", "x", "--", "true"});
    EXPECT_TRUE(support::eventually(
        [&] { return waiting->err().find("Waiting for 'x', held by ") != std::string::npos; }));
    EXPECT_NE(waiting->err().find("/" + std::to_string(first->pid()) + " (night) for "),
              std::string::npos)
        << waiting->err();
}

// The outer run releases the lock when its command has ended, and its command is the inner run.
TEST(Run, InsideARunOfTheSameLockIsRefused) {
    const test_sandbox sandbox;
    const auto inner = [&](const words& outer, const std::string& options) {
        return sandbox.run(words{"run"} + outer +
                           sh(PAWL_COMMAND " run " + options + " -- echo ran; echo \"exit $?\""));
    };
    const auto refused = inner({"x"}, "x");
    EXPECT_EQ(refused.out, "exit 64\n");
    EXPECT_NE(refused.err.find("'x' is held by the `pawl run` around this one, process "),
              std::string::npos)
        << refused.err;
    EXPECT_EQ(inner({"a", "--also", "x"}, "--wait 600s y --also x").out, "exit 64\n");
    EXPECT_EQ(inner({"--shared", "x"}, "x").out, "exit 64\n");
    EXPECT_EQ(inner({"x"}, "--wait 0 x").out, "exit 75\n");
    EXPECT_EQ(inner({"x"}, "y").out, "ran\nexit 0\n");
    EXPECT_EQ(inner({"--shared", "x"}, "--shared x").out, "ran\nexit 0\n");
    EXPECT_EQ(inner({"--permits", "1/2", "x"}, "--permits 1 x").out, "ran\nexit 0\n");
    // Two levels of outer runs, with another lock between.
    EXPECT_EQ(sandbox
                  .run(words{"run", "x"} + sh(PAWL_COMMAND " run y -- " PAWL_COMMAND
                                                           " run x -- echo ran; echo \"exit $?\""))
                  .out,
              "exit 64\n");
}

TEST(Run, PassesArgumentsAndOutputThroughUntouched) {
    const test_sandbox sandbox;
    const auto result = sandbox.run(
        {"run", "x", "--", "printf", "%s|", "a b", "", "--json", "--", "{}", "[1,2]", "*"});
    EXPECT_EQ(result.out, "a b||--json|--|{}|[1,2]|*|");
    EXPECT_EQ(result.err, "");
}

TEST(Run, SetsTheCommandsVariables) {
    const test_sandbox sandbox;
    const auto before = boot_time();
    const auto result = sandbox.run(
        words{"run", "--ttl", "20s", "cron/ä", "--", "sh", "-c",
              R"(printf '%s\n' "$PAWL_NAME" "$PAWL_TOKEN" "$PAWL_SAFE_UNTIL" "$PAWL_URL")"});
    std::istringstream lines(result.out);
    std::string name, token, until, url;
    std::getline(lines, name);
    std::getline(lines, token);
    std::getline(lines, until);
    std::getline(lines, url);
    EXPECT_EQ(name, "cron/ä");
    EXPECT_GT(std::stoull(token), 0U);
    EXPECT_EQ(url, "sqlite:" + sandbox.file(".local/state/pawl/locks.db"));
    EXPECT_EQ(until.size() - until.find('.'), 10U) << until;
    EXPECT_GT(std::stod(until), static_cast<double>(before) / 1e9 + 15);
    EXPECT_LT(std::stod(until), static_cast<double>(boot_time()) / 1e9 + 20);
}

TEST(Run, WithoutATokenTheCommandHasNoneOfAnybody) {
    const test_sandbox sandbox;
    const words tokens{"--", "sh", "-c", "env | grep -c TOKEN"};
    EXPECT_EQ(sandbox.run(words{"run", "x", "--also", "y"} + tokens).out, "2\n");
    EXPECT_EQ(sandbox
                  .run(words{"run", "--no-token", "x", "--also", "y"} + tokens,
                       {{"PAWL_TOKEN", "7"}, {"PAWL_ALSO_1_TOKEN", "7"}})
                  .out,
              "0\n");
    EXPECT_EQ(sandbox.run({"elect", "--no-token", "x", "--", "true"}).code, 64) << "its term";
}

TEST(Run, TheTokenGrowsFromHoldToHold) {
    const test_sandbox sandbox;
    std::uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        const auto token = std::stoull(sandbox.run(words{"run", "x"} + sh("echo $PAWL_TOKEN")).out);
        EXPECT_GT(token, before);
        before = token;
    }
}

TEST(Run, LeaksNoDescriptorIntoTheCommand) {
    const test_sandbox sandbox;
    EXPECT_EQ(sandbox.run({"run", "x", "--", "sh", "-c", "cd /proc/self/fd && echo [0-9]*"}).out,
              "0 1 2 3\n")
        << "3 is the folder that sh reads";
}

TEST(Run, StateFolderFollowsXdg) {
    const test_sandbox sandbox;
    const auto result = sandbox.run(words{"run", "--local", "x"} + sh("echo $PAWL_URL"),
                                    {{"XDG_STATE_HOME", sandbox.file("a%b?c")}});
    EXPECT_EQ(result.out, "sqlite:" + sandbox.file("a%25b%3Fc/pawl/locks.db") + "\n");
    EXPECT_EQ(sandbox.run({"--help"}).code, 0);
}

// The inner lock process is still ending when the outer command has ended. Repeated, so that this
// happens.
void check_nested_runs(const test_sandbox& sandbox) {
    for (int i = 0; i < 5; ++i) {
        const auto direct = sandbox.run(
            {"run", "--permits", "1/3", "nest", "--", PAWL_COMMAND, "run", "other", "--", "true"});
        EXPECT_EQ(direct.code, 0);
        EXPECT_EQ(direct.err, "");
        const auto in_shell =
            sandbox.run(words{"run", "x"} + sh(PAWL_COMMAND " run other -- true; true"));
        EXPECT_EQ(in_shell.code, 0);
        EXPECT_EQ(in_shell.err, "");
    }
}

TEST(Run, OneInsideTheOtherSaysNothingOnSqlite) { check_nested_runs(test_sandbox()); }
TEST(Run, OneInsideTheOtherSaysNothingOnRedis) {
    support::redis_server server;
    check_nested_runs(test_sandbox(server.url()));
}

TEST(Run, SecondOneDoesNotStartWhileTheFirstRuns) {
    const test_sandbox sandbox;
    const auto first = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));

    const auto at_once = sandbox.run({"run", "--wait", "0", "x", "--", "echo", "ran"});
    EXPECT_EQ(at_once.code, 75);
    for (const int code : {0, 3, 255}) {
        const auto busy = sandbox.run(
            {"run", "--wait", "0", "--busy-exit", std::to_string(code), "x", "--", "echo", "ran"});
        EXPECT_EQ(busy.code, code);
        EXPECT_EQ(busy.out, "");
        EXPECT_EQ(busy.err, at_once.err);
    }
    EXPECT_EQ(at_once.out, "");
    EXPECT_EQ(at_once.err.find("pawl: "), 0U);
    EXPECT_EQ(sandbox.run({"run", "--wait", "200ms", "x", "--", "echo", "ran"}).code, 75);

    const auto waiting = sandbox.start({"run", "x", "--", "echo", "ran"});
    EXPECT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
    }));
    EXPECT_EQ(waiting->out(), "");
    first->signal(SIGTERM);
    EXPECT_EQ(first->wait().code, 128 + SIGTERM);
    const auto second = waiting->wait();
    EXPECT_EQ(second.code, 0);
    EXPECT_EQ(second.out, "ran\n");
}

// A hand-over ends with its claim window (1.2 s on Redis, 1.8 s in a file) unless a renewal
// confirms it. With a ttl of a few windows, the warning time of a quarter of the lease is before
// the confirmation.
// A lock that is taken for lost is lost each time; one attempt may meet a machine that is busy for
// longer than the lease.
TEST(Run, WhatIsHandedOverIsNotTakenForLost) {
    support::redis_server server;
    const test_sandbox file, redis(server.url());
    const auto hand_over = [](const test_sandbox& sandbox, const std::string& ttl) {
        const auto first = sandbox.start({"run", "x", "--", "sleep", "600"});
        EXPECT_TRUE(sandbox.eventually_held("x"));
        const auto next = sandbox.start({"run", "--ttl", ttl, "x", "--", "sleep", "0.3"});
        EXPECT_TRUE(support::eventually([&] {
            return from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
        }));
        first->signal(SIGTERM);
        first->wait();
        return next->wait();
    };
    for (const auto* const each : {&file, &redis}) {
        for (const std::string ttl :
             {"500ms", "2s", "2300ms", "3500ms", "4400ms", "6500ms", "7s"}) {
            auto result = hand_over(*each, ttl);
            for (int repetition = 0; repetition < 3 && result.code != 0; ++repetition)
                result = hand_over(*each, ttl);
            EXPECT_EQ(result.code, 0) << ttl << ": " << result.err;
            EXPECT_EQ(result.err, "") << ttl;
        }
    }
}

TEST(Run, ManyContendersNeverOverlap) {
    const test_sandbox sandbox;
    // mkdir fails if another process is inside.
    const std::string script = "mkdir " + sandbox.file("inside") + " && echo in >> " +
                               sandbox.file("log") + " && rmdir " + sandbox.file("inside");
    std::vector<std::unique_ptr<started_process>> all;
    for (int i = 0; i < 8; ++i)
        all.push_back(sandbox.start(words{"run", "x"} + sh(script)));
    for (const auto& each : all)
        EXPECT_EQ(each->wait(60s).code, 0);
    EXPECT_EQ(read_file(sandbox.file("log")).size(), 8 * 3U);
}

TEST(Run, KeepsTheLockForTheMinimum) {
    const test_sandbox sandbox;
    const auto began = boot_time();
    EXPECT_EQ(sandbox.run(words{"run", "--min-hold", "700ms", "x"} + sh("exit 4")).code, 4);
    EXPECT_GE(boot_time() - began, 700'000'000);

    // The second value is nearly 292 years. Added to the current time, it exceeds the range of the
    // clock.
    for (const std::string minimum : {"1h", "106751d23h"}) {
        const auto process = sandbox.start(words{"run", "--min-hold", minimum, "x", "--", "true"});
        ASSERT_TRUE(sandbox.eventually_held("x"));
        EXPECT_TRUE(support::eventually([&] { return child_named(process->pid(), "true") == 0; }));
        EXPECT_TRUE(sandbox.is_held("x"));
        process->signal(SIGTERM);
        EXPECT_EQ(process->wait().code, 128 + SIGTERM);
        EXPECT_FALSE(sandbox.is_held("x"));
    }
}

TEST(Run, ASignalWhileWaitingEndsItAndLeavesNoWaiter) {
    const test_sandbox sandbox;
    const auto holder = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    const auto waiters = [&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']");
    };
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        const auto waiting = sandbox.start({"run", "x", "--", "echo", "ran"});
        ASSERT_TRUE(support::eventually([&] { return waiters() == "1"; }));
        waiting->signal(number);
        const auto result = waiting->wait();
        EXPECT_EQ(result.code, 128 + number);
        EXPECT_EQ(result.out + result.err, "");
        EXPECT_TRUE(support::eventually([&] { return waiters() == "0"; }));
    }
}

// The lock process takes the place in the queue back when the service answers again.
TEST(Run, ASignalEndsItWhileTheServiceIsSilent) {
    support::redis_server server;
    const test_sandbox sandbox(server.url("?reply_timeout=60000"));
    const auto holder = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    const auto waiting = sandbox.start({"run", "x", "--", "echo", "ran"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
    }));
    server.freeze();
    waiting->signal(SIGTERM);
    const auto result = waiting->wait();
    EXPECT_EQ(result.code, 128 + SIGTERM);
    EXPECT_EQ(result.out + result.err, "");
    server.thaw();
    EXPECT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']") == "0";
    }));
}

TEST(Run, SaysWhereToSeeTheHolder) {
    const test_sandbox sandbox;
    const auto holder = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    const auto url = sandbox.environment().at("PAWL_URL");
    const auto busy = [&](const words& location) {
        return sandbox.run(words{"run"} + location + words{"--wait", "0", "x", "--", "true"}).err;
    };
    EXPECT_NE(busy({}).find("`pawl status 'x'`"), std::string::npos) << busy({});
    EXPECT_NE(busy({"--on", url}).find("`pawl status --on '" + url + "' 'x'`"), std::string::npos)
        << busy({"--on", url});
    EXPECT_NE(busy({"--local"}).find("`pawl status --local 'x'`"), std::string::npos)
        << busy({"--local"});
}

TEST(Run, SaysThatACommandNeedsAShell) {
    const test_sandbox sandbox;
    const auto refused = sandbox.run({"run", "x", "--", "echo hi | cat"});
    EXPECT_EQ(refused.code, 127);
    EXPECT_EQ(refused.err,
              "pawl: Cannot run 'echo hi | cat': it looks like a command for a shell; "
              "write it as in: -- sh -c 'COMMAND'.\n");
    EXPECT_EQ(sandbox.run({"run", "x", "--", "no-such-command"}).err,
              "pawl: Cannot run 'no-such-command': No such file or directory.\n");
}

TEST(Run, PassesSignalsOnToTheWholeGroup) {
    const test_sandbox sandbox;
    const std::vector<std::pair<const char*, int>> passed{{"TERM", SIGTERM}, {"INT", SIGINT},
                                                          {"HUP", SIGHUP},   {"QUIT", SIGQUIT},
                                                          {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
    for (const auto& [name, number] : passed) {
        // Both the shell and its child must get the signal.
        const auto script = "trap 'echo got $?; exit 5' " + std::string(name) +
                            "; sh -c 'trap \"exit 6\" " + name +
                            "; echo ready; while :; do sleep 0.01; done'; exit 9";
        const auto process = sandbox.start(words{"run", "x"} + sh(script));
        ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
        process->signal(number);
        const auto result = process->wait();
        EXPECT_EQ(result.out, "ready\ngot 6\n") << name;
        EXPECT_EQ(result.code, 5) << name;
    }
}

TEST(Run, NohupStaysInForce) {
    const test_sandbox sandbox;
    const auto process = std::make_unique<started_process>(
        words{"nohup", PAWL_COMMAND, "run", "x", "--", "sh", "-c", "echo ready; sleep 600"},
        sandbox.environment());
    ASSERT_TRUE(support::eventually([&] { return process->out() == "ready\n"; }));
    process->signal(SIGHUP);
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait().code, 128 + SIGTERM) << "SIGHUP came first and was ignored";
}

TEST(Run, WhatTheCommandLeavesInItsGroupIsStopped) {
    const test_sandbox sandbox;
    const auto file = sandbox.file("beats");
    std::string stubborn;
    for (const auto& each : heartbeat(file, "stubborn"))
        stubborn += each + " ";
    const auto result = sandbox.run(words{"run", "--ttl", "4s", "x"} +
                                    sh(stubborn + "& until [ -s " + file + " ]; do :; done"));
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.err.find("which pawl stops"), std::string::npos) << result.err;
    EXPECT_TRUE(eventually_silent(file));
}

TEST(Run, WhatLeftTheGroupRunsOnAndIsNamed) {
    const test_sandbox sandbox;
    const auto file = sandbox.file("beats");
    const auto result = sandbox.run(words{"run", "x", "--"} + heartbeat(file, "away"));
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(is_beating(file));
    const auto position = result.err.find(" (");
    ASSERT_NE(position, std::string::npos) << result.err;
    ::kill(std::stoi(result.err.substr(position + 2)), SIGKILL);
    EXPECT_TRUE(eventually_silent(file));
}

TEST(Run, LabelIsWhatOthersSee) {
    const test_sandbox sandbox;
    const auto shown = [&](const words& more) {
        const auto process = sandbox.start(words{"run"} + more + words{"x", "--", "sleep", "600"});
        EXPECT_TRUE(sandbox.eventually_held("x"));
        auto status_json = sandbox.run({"status", "x", "--json"}).out;
        EXPECT_EQ(from_json(status_json, "it['holder']['pid']"), std::to_string(process->pid()));
        process->signal(SIGTERM);
        process->wait();
        return from_json(status_json, "it['holder']['command']");
    };
    EXPECT_EQ(shown({}), "sleep");
    EXPECT_EQ(shown({"--label", "nightly"}), "nightly");
    // As many bytes as Redis keeps, and no part of a character.
    const std::string longest(63, 'x');
    EXPECT_EQ(shown({"--label", longest + "yz"}), longest + "y");
    EXPECT_EQ(shown({"--label", longest + "üz"}), longest);
}

}  // namespace
