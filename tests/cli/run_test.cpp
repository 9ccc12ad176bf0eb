// `pawl run`: what the command gets, what comes back.
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
    const world here;
    EXPECT_EQ(here.run(words{"run", "x"} + sh("exit 0")).code, 0);
    EXPECT_EQ(here.run(words{"run", "x"} + sh("exit 37")).code, 37);
    EXPECT_EQ(here.run(words{"run", "x"} + sh("kill -KILL $$")).code, 128 + SIGKILL);
    EXPECT_EQ(here.run(words{"run", "x"} + sh("kill -TERM $$")).code, 128 + SIGTERM);
    EXPECT_EQ(here.run({"run", "x", "--", "no-such-command"}).code, 127);
    EXPECT_EQ(here.run({"run", "x", "--", "/"}).code, 126);
    EXPECT_EQ(here.run({"status", "x"}).code, 1) << "given back after each";
}

// --busy-exit is for a lock that is not free, and for nothing else.
TEST(Run, OtherFailuresAreNotBusy) {
    const world here;
    const words busy{"run", "--busy-exit", "3", "x"};
    EXPECT_EQ(here.run(busy + sh("exit 37")).code, 37);
    EXPECT_EQ(here.run(busy + sh("exit 75")).code, 75);
    EXPECT_EQ(here.run(busy + words{"--", "no-such-command"}).code, 127);
    support::redis_server server;
    const auto url = server.url();
    server.kill9();
    EXPECT_EQ(here.run(words{"run", "--wait", "0", "--on", url} + words{"--busy-exit", "3", "x"} +
                       sh("true"))
                  .code,
              69);
}

// Under cron, where each word on stderr becomes a mail.
TEST(Run, QuietSaysNothingOfALockThatIsNotFree) {
    const world here;
    const auto first = here.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("x"));
    for (const char* option : {"-q", "--quiet"}) {
        const auto busy = here.run({"run", option, "--wait", "0", "x", "--", "echo", "ran"});
        EXPECT_EQ(busy.code, 75);
        EXPECT_EQ(busy.out + busy.err, "");
    }
    EXPECT_EQ(here.run({"run", "-q", "--wait", "50ms", "--busy-exit", "3", "x", "--", "true"}).code,
              3);
    EXPECT_NE(here.run({"run", "--wait", "0", "x", "--", "true"}).err, "");
    const auto other = here.run({"run", "-q", "y", "--", "no-such-command"});
    EXPECT_EQ(other.code, 127);
    EXPECT_NE(other.err, "");
    const auto away = here.run({"run", "-q", "--wait", "0", "--on",
                                "redis+unix://" + here.file("absent"), "x", "--", "true"});
    EXPECT_EQ(away.code, 69);
    EXPECT_NE(away.err, "");
}

// In a log as well as on a terminal, where somebody asks for it.
TEST(Run, VerboseSaysWhoHasTheLockThatIsWaitedFor) {
    const world here;
    const auto first = here.start({"run", "x", "--label", "night", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("x"));
    const auto waiting = here.start({"run", "-v", "x", "--", "true"});
    EXPECT_TRUE(support::eventually(
        [&] { return waiting->err().find("Waiting for 'x', held by ") != std::string::npos; }));
    EXPECT_NE(waiting->err().find("/" + std::to_string(first->pid()) + " (night)."),
              std::string::npos)
        << waiting->err();
}

// The outer one gives the lock back when its command has ended, and the command is the inner one.
TEST(Run, InsideARunOfTheSameLockIsRefused) {
    const world here;
    const auto inner = [&](const words& outer, const std::string& options) {
        return here.run(words{"run"} + outer +
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
    // Two runs further out, with another lock between.
    EXPECT_EQ(here.run(words{"run", "x"} + sh(PAWL_COMMAND " run y -- " PAWL_COMMAND
                                                           " run x -- echo ran; echo \"exit $?\""))
                  .out,
              "exit 64\n");
}

TEST(Run, PassesArgumentsAndOutputThroughUntouched) {
    const world here;
    const auto found = here.run(
        {"run", "x", "--", "printf", "%s|", "a b", "", "--json", "--", "{}", "[1,2]", "*"});
    EXPECT_EQ(found.out, "a b||--json|--|{}|[1,2]|*|");
    EXPECT_EQ(found.err, "");
}

TEST(Run, TellsTheCommandWhatItHolds) {
    const world here;
    const auto before = boot_time();
    const auto found = here.run(
        words{"run", "--ttl", "20s", "cron/ä", "--", "sh", "-c",
              R"(printf '%s\n' "$PAWL_NAME" "$PAWL_TOKEN" "$PAWL_SAFE_UNTIL" "$PAWL_URL")"});
    std::istringstream lines(found.out);
    std::string name, token, until, url;
    std::getline(lines, name);
    std::getline(lines, token);
    std::getline(lines, until);
    std::getline(lines, url);
    EXPECT_EQ(name, "cron/ä");
    EXPECT_GT(std::stoull(token), 0U);
    EXPECT_EQ(url, "sqlite:" + here.file(".local/state/pawl/locks.db"));
    EXPECT_EQ(until.size() - until.find('.'), 10U) << until;
    EXPECT_GT(std::stod(until), static_cast<double>(before) / 1e9 + 15);
    EXPECT_LT(std::stod(until), static_cast<double>(boot_time()) / 1e9 + 20);
}

TEST(Run, WithoutATokenTheCommandHasNoneOfAnybody) {
    const world here;
    const words tokens{"--", "sh", "-c", "env | grep -c TOKEN"};
    EXPECT_EQ(here.run(words{"run", "x", "--also", "y"} + tokens).out, "2\n");
    EXPECT_EQ(here.run(words{"run", "--no-token", "x", "--also", "y"} + tokens,
                       {{"PAWL_TOKEN", "7"}, {"PAWL_ALSO_1_TOKEN", "7"}})
                  .out,
              "0\n");
    EXPECT_EQ(here.run({"elect", "--no-token", "x", "--", "true"}).code, 64) << "its term";
}

TEST(Run, TheTokenGrowsFromHoldToHold) {
    const world here;
    std::uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        const auto token = std::stoull(here.run(words{"run", "x"} + sh("echo $PAWL_TOKEN")).out);
        EXPECT_GT(token, before);
        before = token;
    }
}

TEST(Run, LeaksNoDescriptorIntoTheCommand) {
    const world here;
    EXPECT_EQ(here.run({"run", "x", "--", "sh", "-c", "cd /proc/self/fd && echo [0-9]*"}).out,
              "0 1 2 3\n")
        << "3 is the folder that sh reads";
}

TEST(Run, StateFolderFollowsXdg) {
    const world here;
    const auto found = here.run(words{"run", "--local", "x"} + sh("echo $PAWL_URL"),
                                {{"XDG_STATE_HOME", here.file("a%b?c")}});
    EXPECT_EQ(found.out, "sqlite:" + here.file("a%25b%3Fc/pawl/locks.db") + "\n");
    EXPECT_EQ(here.run({"--help"}).code, 0);
}

// The inner keeper is still ending when the outer command is gone. Often enough, to meet it.
void nested(const world& here) {
    for (int i = 0; i < 5; ++i) {
        const auto direct = here.run(
            {"run", "--permits", "1/3", "nest", "--", PAWL_COMMAND, "run", "other", "--", "true"});
        EXPECT_EQ(direct.code, 0);
        EXPECT_EQ(direct.err, "");
        const auto in_shell =
            here.run(words{"run", "x"} + sh(PAWL_COMMAND " run other -- true; true"));
        EXPECT_EQ(in_shell.code, 0);
        EXPECT_EQ(in_shell.err, "");
    }
}

TEST(Run, OneInsideTheOtherSaysNothingOnSqlite) { nested(world()); }
TEST(Run, OneInsideTheOtherSaysNothingOnRedis) {
    support::redis_server server;
    nested(world(server.url()));
}

TEST(Run, SecondOneDoesNotStartWhileTheFirstRuns) {
    const world here;
    const auto first = here.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("x"));

    const auto at_once = here.run({"run", "--wait", "0", "x", "--", "echo", "ran"});
    EXPECT_EQ(at_once.code, 75);
    for (const int code : {0, 3, 255}) {
        const auto busy = here.run(
            {"run", "--wait", "0", "--busy-exit", std::to_string(code), "x", "--", "echo", "ran"});
        EXPECT_EQ(busy.code, code);
        EXPECT_EQ(busy.out, "");
        EXPECT_EQ(busy.err, at_once.err);
    }
    EXPECT_EQ(at_once.out, "");
    EXPECT_EQ(at_once.err.find("pawl: "), 0U);
    EXPECT_EQ(here.run({"run", "--wait", "200ms", "x", "--", "echo", "ran"}).code, 75);

    const auto waiting = here.start({"run", "x", "--", "echo", "ran"});
    EXPECT_TRUE(support::eventually([&] {
        return from_json(here.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
    }));
    EXPECT_EQ(waiting->out(), "");
    first->signal(SIGTERM);
    EXPECT_EQ(first->wait().code, 128 + SIGTERM);
    const auto second = waiting->wait();
    EXPECT_EQ(second.code, 0);
    EXPECT_EQ(second.out, "ran\n");
}

// What was handed over ends with its claim window (1.2 s on Redis, 1.8 s in a file) unless a
// renewal confirms it. With a ttl of a few windows a quarter of it, when the command would be told
// to stop, is before the confirmation has been seen.
TEST(Run, WhatIsHandedOverIsNotTakenForLost) {
    support::redis_server server;
    const world file, redis(server.url());
    for (const auto* const each : {&file, &redis}) {
        const auto& here = *each;
        for (const std::string ttl :
             {"500ms", "2s", "2300ms", "3500ms", "4400ms", "6500ms", "7s"}) {
            const auto first = here.start({"run", "x", "--", "sleep", "600"});
            ASSERT_TRUE(here.soon_held("x"));
            const auto next = here.start({"run", "--ttl", ttl, "x", "--", "sleep", "0.3"});
            EXPECT_TRUE(support::eventually([&] {
                return from_json(here.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
            }));
            first->signal(SIGTERM);
            first->wait();
            const auto found = next->wait();
            EXPECT_EQ(found.code, 0) << ttl << ": " << found.err;
            EXPECT_EQ(found.err, "") << ttl;
        }
    }
}

TEST(Run, ManyContendersNeverOverlap) {
    const world here;
    // mkdir fails if somebody else is inside.
    const std::string script = "mkdir " + here.file("inside") + " && echo in >> " +
                               here.file("log") + " && rmdir " + here.file("inside");
    std::vector<std::unique_ptr<started>> all;
    for (int i = 0; i < 8; ++i)
        all.push_back(here.start(words{"run", "x"} + sh(script)));
    for (const auto& each : all)
        EXPECT_EQ(each->wait(60s).code, 0);
    EXPECT_EQ(read_file(here.file("log")).size(), 8 * 3U);
}

TEST(Run, KeepsTheLockForTheMinimum) {
    const world here;
    const auto began = boot_time();
    EXPECT_EQ(here.run(words{"run", "--min-hold", "700ms", "x"} + sh("exit 4")).code, 4);
    EXPECT_GE(boot_time() - began, 700'000'000);

    // The second is nearly 292 years, which added to now is more than the clock can say.
    for (const std::string minimum : {"1h", "106751d23h"}) {
        const auto long_one = here.start(words{"run", "--min-hold", minimum, "x", "--", "true"});
        ASSERT_TRUE(here.soon_held("x"));
        EXPECT_TRUE(support::eventually([&] { return child_named(long_one->pid(), "true") == 0; }));
        EXPECT_TRUE(here.held("x"));
        long_one->signal(SIGTERM);
        EXPECT_EQ(long_one->wait().code, 128 + SIGTERM);
        EXPECT_FALSE(here.held("x"));
    }
}

TEST(Run, ASignalWhileWaitingEndsItAndLeavesNoWaiter) {
    const world here;
    const auto holder = here.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("x"));
    const auto waiters = [&] {
        return from_json(here.run({"status", "x", "--json"}).out, "it['waiters']");
    };
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        const auto waiting = here.start({"run", "x", "--", "echo", "ran"});
        ASSERT_TRUE(support::eventually([&] { return waiters() == "1"; }));
        waiting->signal(number);
        const auto found = waiting->wait();
        EXPECT_EQ(found.code, 128 + number);
        EXPECT_EQ(found.out + found.err, "");
        EXPECT_TRUE(support::eventually([&] { return waiters() == "0"; }));
    }
}

TEST(Run, PassesSignalsOnToTheWholeGroup) {
    const world here;
    const std::vector<std::pair<const char*, int>> passed{{"TERM", SIGTERM}, {"INT", SIGINT},
                                                          {"HUP", SIGHUP},   {"QUIT", SIGQUIT},
                                                          {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
    for (const auto& [name, number] : passed) {
        // Both the shell and its child have to hear of it.
        const auto script = "trap 'echo got $?; exit 5' " + std::string(name) +
                            "; sh -c 'trap \"exit 6\" " + name +
                            "; echo ready; while :; do sleep 0.01; done'; exit 9";
        const auto one = here.start(words{"run", "x"} + sh(script));
        ASSERT_TRUE(support::eventually([&] { return one->out() == "ready\n"; }));
        one->signal(number);
        const auto found = one->wait();
        EXPECT_EQ(found.out, "ready\ngot 6\n") << name;
        EXPECT_EQ(found.code, 5) << name;
    }
}

TEST(Run, NohupStaysInForce) {
    const world here;
    const auto one = std::make_unique<started>(
        words{"nohup", PAWL_COMMAND, "run", "x", "--", "sh", "-c", "echo ready; sleep 600"},
        here.environment());
    ASSERT_TRUE(support::eventually([&] { return one->out() == "ready\n"; }));
    one->signal(SIGHUP);
    one->signal(SIGTERM);
    EXPECT_EQ(one->wait().code, 128 + SIGTERM) << "SIGHUP came first and was ignored";
}

TEST(Run, WhatTheCommandLeavesInItsGroupIsStopped) {
    const world here;
    const auto file = here.file("beats");
    std::string stubborn;
    for (const auto& each : heartbeat(file, "stubborn"))
        stubborn += each + " ";
    const auto found = here.run(words{"run", "--ttl", "4s", "x"} +
                                sh(stubborn + "& until [ -s " + file + " ]; do :; done"));
    EXPECT_EQ(found.code, 0);
    EXPECT_NE(found.err.find("told to stop"), std::string::npos) << found.err;
    EXPECT_TRUE(soon_silent(file));
}

TEST(Run, WhatLeftTheGroupRunsOnAndIsNamed) {
    const world here;
    const auto file = here.file("beats");
    const auto found = here.run(words{"run", "x", "--"} + heartbeat(file, "away"));
    EXPECT_EQ(found.code, 0);
    EXPECT_TRUE(beats(file));
    const auto at = found.err.find(" (");
    ASSERT_NE(at, std::string::npos) << found.err;
    ::kill(std::stoi(found.err.substr(at + 2)), SIGKILL);
    EXPECT_TRUE(soon_silent(file));
}

TEST(Run, LabelIsWhatOthersSee) {
    const world here;
    const auto shown = [&](const words& more) {
        const auto one = here.start(words{"run"} + more + words{"x", "--", "sleep", "600"});
        EXPECT_TRUE(here.soon_held("x"));
        auto found = here.run({"status", "x", "--json"}).out;
        EXPECT_EQ(from_json(found, "it['holder']['pid']"), std::to_string(one->pid()));
        one->signal(SIGTERM);
        one->wait();
        return from_json(found, "it['holder']['command']");
    };
    EXPECT_EQ(shown({}), "sleep");
    EXPECT_EQ(shown({"--label", "nightly"}), "nightly");
}

}  // namespace
