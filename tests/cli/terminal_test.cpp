// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The terminal: its foreground group, keys that send signals, jobs that are stopped and continued.
#include "terminal_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <array>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

const std::string pawl = PAWL_COMMAND;

TEST(Terminal, TheCommandReadsAndWritesIt) {
    const test_sandbox sandbox;
    terminal_process terminal(sandbox, {pawl, "run", "x", "--", "sh", "-c",
                                        "echo ready; read line; echo \"got $line\"; exit 6"});
    ASSERT_TRUE(terminal.eventually_shows("ready"));
    EXPECT_NE(terminal.foreground(), terminal.pid()) << "the command's group has it";
    terminal.type("word\n");
    EXPECT_TRUE(terminal.eventually_shows("got word"));
    const int status = terminal.wait();
    EXPECT_EQ(WEXITSTATUS(status), 6);
}

TEST(Terminal, CtrlCGoesToTheCommandAndThenToTheScriptAroundIt) {
    const test_sandbox sandbox;
    terminal_process terminal(
        sandbox, {"sh", "-c", pawl + " run x -- sh -c 'echo ready; exec sleep 600'; echo after"});
    ASSERT_TRUE(terminal.eventually_shows("ready"));
    terminal.type("\x03");
    const int status = terminal.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_EQ(terminal.all_output().find("after"), std::string::npos);
    EXPECT_FALSE(sandbox.is_held("x"));
}

TEST(Terminal, ACommandThatHandlesCtrlCKeepsItsStatus) {
    const test_sandbox sandbox;
    terminal_process terminal(sandbox,
                              {pawl, "run", "x", "--", "sh", "-c",
                               "trap 'exit 7' INT; echo ready; while :; do sleep 0.01; done"});
    ASSERT_TRUE(terminal.eventually_shows("ready"));
    terminal.type("\x03");
    EXPECT_EQ(WEXITSTATUS(terminal.wait()), 7);
}

// The first lock is already held. The message names the second.
TEST(Terminal, AWaitForSeveralNamesTheMissingLock) {
    const test_sandbox sandbox;
    const auto holder = sandbox.start({"run", "b", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("b"));
    terminal_process terminal(sandbox, {pawl, "run", "a", "--also", "b", "--", "echo", "ran"});
    EXPECT_TRUE(terminal.eventually_shows("Waiting for 'b', held by ")) << terminal.all_output();
    holder->signal(SIGTERM);
    EXPECT_TRUE(terminal.eventually_shows("ran"));
    EXPECT_EQ(WEXITSTATUS(terminal.wait()), 0);
}

TEST(Terminal, ReleaseSaysHowManyItTakesItFrom) {
    const test_sandbox sandbox;
    const auto first = sandbox.start({"run", "--shared", "x", "--", "sleep", "600"});
    const auto second = sandbox.start({"run", "--shared", "x", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "len(it['others'])") == "1";
    }));
    terminal_process terminal(sandbox, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(terminal.eventually_shows("and by 1 other.")) << terminal.all_output();
    terminal.type("n\n");
    EXPECT_EQ(WEXITSTATUS(terminal.wait()), 1);
    EXPECT_TRUE(sandbox.is_held("x"));
}

// Each hold of permits has a token of its own.
TEST(Terminal, ReleaseTakesItFromAllThatItHasShown) {
    const test_sandbox sandbox;
    const words run{"run", "--permits", "1/2", "x", "--", "sleep", "600"};
    const auto first = sandbox.start(run), second = sandbox.start(run);
    ASSERT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "len(it['others'])") == "1";
    }));
    terminal_process release(sandbox, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(release.eventually_shows("from all of them? [y/N]")) << release.all_output();
    release.type("y\n");
    EXPECT_EQ(WEXITSTATUS(release.wait()), 0);
    EXPECT_EQ(first->wait().code, 70);
    EXPECT_EQ(second->wait().code, 70);
}

TEST(Terminal, CtrlCWhileWaitingEndsIt) {
    const test_sandbox sandbox;
    const auto holder = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    terminal_process terminal(sandbox, {pawl, "run", "x", "--", "echo", "ran"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(sandbox.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
    }));
    EXPECT_TRUE(terminal.eventually_shows("Waiting for 'x', held by ")) << "names the holder";
    terminal.type("\x03");
    EXPECT_EQ(WEXITSTATUS(terminal.wait()), 128 + SIGINT);
}

TEST(Terminal, AJobIsStoppedAndContinuedAndKeepsItsLock) {
    const test_sandbox sandbox;
    terminal_process shell(sandbox, {"bash", "--norc", "-i"});
    shell.type("PS1='prompt> '\n");
    ASSERT_TRUE(shell.eventually_shows("prompt> "));
    shell.type(pawl + " run --ttl 4s x -- sh -c 'echo rea''dy; read line; echo \"g\"ot $line'\n");
    ASSERT_TRUE(shell.eventually_shows("ready"));
    shell.type("\x1a");
    ASSERT_TRUE(shell.eventually_shows("Stopped"));
    EXPECT_EQ(shell.foreground(), shell.pid());
    const auto until = boot_time() + 6'000'000'000;
    while (boot_time() < until)
        ASSERT_TRUE(sandbox.is_held("x")) << "longer than the ttl";
    shell.type("fg\n");
    ASSERT_TRUE(support::eventually([&] { return shell.foreground() != shell.pid(); }));
    shell.type("word\n");
    EXPECT_TRUE(shell.eventually_shows("got word")) << shell.all_output();
    EXPECT_TRUE(support::eventually([&] { return shell.foreground() == shell.pid(); }));
    shell.type("exit\n");
    shell.wait();
}

TEST(Terminal, AJobInTheBackgroundThatReadsIsStoppedUntilForeground) {
    const test_sandbox sandbox;
    terminal_process shell(sandbox, {"bash", "--norc", "-i"});
    shell.type("PS1='prompt> '\n");
    ASSERT_TRUE(shell.eventually_shows("prompt> "));
    shell.type(pawl + " run x -- sh -c 'read line; echo \"g\"ot $line' &\n");
    ASSERT_TRUE(support::eventually([&] {
        shell.type("jobs\n");
        return shell.all_output().find("Stopped") != std::string::npos;
    })) << shell.all_output();
    shell.type("fg\n");
    ASSERT_TRUE(support::eventually([&] { return shell.foreground() != shell.pid(); }))
        << shell.all_output();
    shell.type("word\n");
    EXPECT_TRUE(shell.eventually_shows("got word")) << shell.all_output();
}

TEST(Terminal, ThePagerBehindAPipeKeepsTheKeyboard) {
    const test_sandbox sandbox;
    terminal_process shell(sandbox, {"bash", "--norc", "-i"});
    shell.type("PS1='prompt> '\n");
    ASSERT_TRUE(shell.eventually_shows("prompt> "));
    shell.type(pawl + " run x -- echo text | (read a; read b < /dev/tty; echo \"g\"ot $a $b)\n");
    ASSERT_TRUE(support::eventually([&] { return shell.foreground() != shell.pid(); }));
    shell.type("word\n");
    EXPECT_TRUE(shell.eventually_shows("got text word")) << shell.all_output();
}

TEST(Terminal, ModesAreRestoredWhenTheCommandIsKilled) {
    const test_sandbox sandbox;
    terminal_process terminal(
        sandbox,
        {"sh", "-c", pawl + " run x -- sh -c 'stty -echo -icanon; kill -9 $$'; stty -a; echo end"});
    ASSERT_TRUE(terminal.eventually_shows("end"));
    EXPECT_NE(terminal.all_output().find(" icanon"), std::string::npos) << terminal.all_output();
    EXPECT_NE(terminal.all_output().find(" echo "), std::string::npos) << terminal.all_output();
}

TEST(Terminal, ReleaseAsksFirst) {
    const test_sandbox sandbox;
    const auto holder = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    terminal_process no(sandbox, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(no.eventually_shows("Take the lock away? [y/N]"));
    no.type("n\n");
    EXPECT_EQ(WEXITSTATUS(no.wait()), 1);
    EXPECT_TRUE(sandbox.is_held("x"));
    terminal_process yes(sandbox, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(yes.eventually_shows("[y/N]"));
    yes.type("y\n");
    EXPECT_EQ(WEXITSTATUS(yes.wait()), 0);
    EXPECT_EQ(holder->wait().code, 70);
}

// The question names A | A releases | B acquires | the operator answers yes: B keeps the lock.
TEST(Terminal, ReleaseTakesNothingFromAnotherHolderThanTheOneShown) {
    const test_sandbox sandbox;
    const auto first = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    terminal_process release(sandbox, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(release.eventually_shows("Take the lock away? [y/N]"));
    first->signal(SIGTERM);
    (void)first->wait();
    const auto next = sandbox.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("x"));
    release.type("y\n");
    ASSERT_TRUE(release.eventually_shows("Nothing was released: 'x' is now held by"));
    EXPECT_EQ(WEXITSTATUS(release.wait()), 1);
    EXPECT_TRUE(sandbox.is_held("x"));
}

TEST(Terminal, WatchRedrawsAndLeavesTheScreenAsItWas) {
    const test_sandbox sandbox;
    terminal_process terminal(sandbox, {pawl, "watch", "--interval", "50ms"});
    ASSERT_TRUE(terminal.eventually_shows("\x1b[?1049h"));
    ASSERT_TRUE(terminal.eventually_shows("No locks now."));
    const auto holder = sandbox.start({"run", "backup", "--", "sleep", "600"});
    ASSERT_TRUE(terminal.eventually_shows("backup"));
    terminal.type("q");
    EXPECT_EQ(WEXITSTATUS(terminal.wait()), 0);
    EXPECT_TRUE(terminal.all_output().ends_with("\x1b[?25h\x1b[?1049l"));
}

}  // namespace
