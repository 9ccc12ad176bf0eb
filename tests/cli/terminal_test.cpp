// A terminal: who has it, keys that send signals, jobs that are stopped and continued.
#include "on_terminal.hpp"

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
    const world here;
    on_terminal one(here, {pawl, "run", "x", "--", "sh", "-c",
                           "echo ready; read line; echo \"got $line\"; exit 6"});
    ASSERT_TRUE(one.shows("ready"));
    EXPECT_NE(one.foreground(), one.pid()) << "the command's group has it";
    one.type("word\n");
    EXPECT_TRUE(one.shows("got word"));
    const int status = one.wait();
    EXPECT_EQ(WEXITSTATUS(status), 6);
}

TEST(Terminal, CtrlCGoesToTheCommandAndThenToTheScriptAroundIt) {
    const world here;
    on_terminal one(
        here, {"sh", "-c", pawl + " run x -- sh -c 'echo ready; exec sleep 600'; echo after"});
    ASSERT_TRUE(one.shows("ready"));
    one.type("\x03");
    const int status = one.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_EQ(one.all().find("after"), std::string::npos);
    EXPECT_FALSE(here.held("x"));
}

TEST(Terminal, ACommandThatHandlesCtrlCKeepsItsStatus) {
    const world here;
    on_terminal one(here, {pawl, "run", "x", "--", "sh", "-c",
                           "trap 'exit 7' INT; echo ready; while :; do sleep 0.01; done"});
    ASSERT_TRUE(one.shows("ready"));
    one.type("\x03");
    EXPECT_EQ(WEXITSTATUS(one.wait()), 7);
}

// The first is ours already: it is the other one that we wait for.
TEST(Terminal, APersonWhoWaitsForSeveralIsToldForWhich) {
    const world here;
    const auto holder = here.start({"run", "b", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("b"));
    on_terminal one(here, {pawl, "run", "a", "--also", "b", "--", "echo", "ran"});
    EXPECT_TRUE(one.shows("Waiting for 'b', held by ")) << one.all();
    holder->signal(SIGTERM);
    EXPECT_TRUE(one.shows("ran"));
    EXPECT_EQ(WEXITSTATUS(one.wait()), 0);
}

TEST(Terminal, ReleaseSaysHowManyItTakesItFrom) {
    const world here;
    const auto first = here.start({"run", "--shared", "x", "--", "sleep", "600"});
    const auto second = here.start({"run", "--shared", "x", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(here.run({"status", "x", "--json"}).out, "len(it['others'])") == "1";
    }));
    on_terminal one(here, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(one.shows("and by 1 other.")) << one.all();
    one.type("n\n");
    EXPECT_EQ(WEXITSTATUS(one.wait()), 1);
    EXPECT_TRUE(here.held("x"));
}

TEST(Terminal, CtrlCWhileWaitingEndsIt) {
    const world here;
    const auto holder = here.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("x"));
    on_terminal one(here, {pawl, "run", "x", "--", "echo", "ran"});
    ASSERT_TRUE(support::eventually([&] {
        return from_json(here.run({"status", "x", "--json"}).out, "it['waiters']") == "1";
    }));
    EXPECT_TRUE(one.shows("Waiting for 'x', held by ")) << "a person is told for whom";
    one.type("\x03");
    EXPECT_EQ(WEXITSTATUS(one.wait()), 128 + SIGINT);
}

TEST(Terminal, AJobIsStoppedAndContinuedAndKeepsItsLock) {
    const world here;
    on_terminal shell(here, {"bash", "--norc", "-i"});
    shell.type("PS1='prompt> '\n");
    ASSERT_TRUE(shell.shows("prompt> "));
    shell.type(pawl + " run --ttl 1s x -- sh -c 'echo rea''dy; read line; echo \"g\"ot $line'\n");
    ASSERT_TRUE(shell.shows("ready"));
    shell.type("\x1a");
    ASSERT_TRUE(shell.shows("Stopped"));
    EXPECT_EQ(shell.foreground(), shell.pid());
    const auto until = boot_time() + 2'500'000'000;
    while (boot_time() < until)
        ASSERT_TRUE(here.held("x")) << "longer than the ttl";
    shell.type("fg\n");
    ASSERT_TRUE(support::eventually([&] { return shell.foreground() != shell.pid(); }));
    shell.type("word\n");
    EXPECT_TRUE(shell.shows("got word")) << shell.all();
    EXPECT_TRUE(support::eventually([&] { return shell.foreground() == shell.pid(); }));
    shell.type("exit\n");
    shell.wait();
}

TEST(Terminal, AJobInTheBackgroundThatReadsIsStoppedUntilForeground) {
    const world here;
    on_terminal shell(here, {"bash", "--norc", "-i"});
    shell.type("PS1='prompt> '\n");
    ASSERT_TRUE(shell.shows("prompt> "));
    shell.type(pawl + " run x -- sh -c 'read line; echo \"g\"ot $line' &\n");
    ASSERT_TRUE(support::eventually([&] {
        shell.type("jobs\n");
        return shell.all().find("Stopped") != std::string::npos;
    })) << shell.all();
    shell.type("fg\n");
    ASSERT_TRUE(support::eventually([&] { return shell.foreground() != shell.pid(); }))
        << shell.all();
    shell.type("word\n");
    EXPECT_TRUE(shell.shows("got word")) << shell.all();
}

TEST(Terminal, ThePagerBehindAPipeKeepsTheKeyboard) {
    const world here;
    on_terminal shell(here, {"bash", "--norc", "-i"});
    shell.type("PS1='prompt> '\n");
    ASSERT_TRUE(shell.shows("prompt> "));
    shell.type(pawl + " run x -- echo text | (read a; read b < /dev/tty; echo \"g\"ot $a $b)\n");
    ASSERT_TRUE(support::eventually([&] { return shell.foreground() != shell.pid(); }));
    shell.type("word\n");
    EXPECT_TRUE(shell.shows("got text word")) << shell.all();
}

TEST(Terminal, ModesAreRestoredWhenTheCommandIsKilled) {
    const world here;
    on_terminal one(
        here,
        {"sh", "-c", pawl + " run x -- sh -c 'stty -echo -icanon; kill -9 $$'; stty -a; echo end"});
    ASSERT_TRUE(one.shows("end"));
    EXPECT_NE(one.all().find(" icanon"), std::string::npos) << one.all();
    EXPECT_NE(one.all().find(" echo "), std::string::npos) << one.all();
}

TEST(Terminal, ReleaseAsksFirst) {
    const world here;
    const auto holder = here.start({"run", "x", "--", "sleep", "600"});
    ASSERT_TRUE(here.soon_held("x"));
    on_terminal no(here, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(no.shows("Take the lock away? [y/N]"));
    no.type("n\n");
    EXPECT_EQ(WEXITSTATUS(no.wait()), 1);
    EXPECT_TRUE(here.held("x"));
    on_terminal yes(here, {pawl, "release", "--force", "x"});
    ASSERT_TRUE(yes.shows("[y/N]"));
    yes.type("y\n");
    EXPECT_EQ(WEXITSTATUS(yes.wait()), 0);
    EXPECT_EQ(holder->wait().code, 70);
}

TEST(Terminal, WatchRedrawsAndLeavesTheScreenAsItWas) {
    const world here;
    on_terminal one(here, {pawl, "watch", "--interval", "50ms"});
    ASSERT_TRUE(one.shows("\x1b[?1049h"));
    ASSERT_TRUE(one.shows("No locks here now."));
    const auto holder = here.start({"run", "backup", "--", "sleep", "600"});
    ASSERT_TRUE(one.shows("backup"));
    one.type("q");
    EXPECT_EQ(WEXITSTATUS(one.wait()), 0);
    EXPECT_TRUE(one.all().ends_with("\x1b[?25h\x1b[?1049l"));
}

}  // namespace
