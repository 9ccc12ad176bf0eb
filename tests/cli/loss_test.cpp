// The lock is lost: nothing of the command may run when the next holder can start.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000'000;

// A stubborn child of a child beats on while the server is frozen: only SIGKILL ends it.
void frozen_server(const std::string& how) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("beats");
    const auto one = here.start(words{"run", "--ttl", "2s", "x", "--"} + heartbeat(file, how));
    ASSERT_TRUE(beats(file)) << one->err();
    server.freeze();
    const auto deadline =
        boot_time() + 2 * second;  // no renewal can be confirmed that was sent later
    const auto found = one->wait();
    EXPECT_LT(last_beat(file), deadline);
    EXPECT_EQ(found.code, 70);
    EXPECT_NE(found.err.find("no renewal was confirmed"), std::string::npos) << found.err;
    EXPECT_TRUE(soon_silent(file));
    server.thaw();
}

TEST(Loss, AFrozenServerStopsAWillingCommand) { frozen_server(""); }
TEST(Loss, AFrozenServerStopsAStubbornCommand) { frozen_server("stubborn"); }
TEST(Loss, AFrozenServerStopsTheWholeGroup) { frozen_server("pair"); }

TEST(Loss, ADeadServerStopsTheCommandInTime) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("beats");
    const auto one =
        here.start(words{"run", "--ttl", "2s", "x", "--"} + heartbeat(file, "stubborn"));
    ASSERT_TRUE(beats(file)) << one->err();
    server.kill9();
    const auto deadline = boot_time() + 2 * second;
    EXPECT_EQ(one->wait().code, 70);
    EXPECT_LT(last_beat(file), deadline);
}

TEST(Loss, RenewalsKeepTheCommandAliveFarBeyondTheTtl) {
    support::redis_server server;
    const world here(server.url());
    const auto found =
        here.run({"run", "--ttl", "1s", "x", "--", "sh", "-c", "sleep 3.5; echo done"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out, "done\n");
}

void forced(const world& here) {
    const auto file = here.file("beats");
    const auto victim =
        here.start(words{"run", "--ttl", "6s", "x", "--"} + heartbeat(file, "pair"));
    ASSERT_TRUE(beats(file)) << victim->err();
    const auto before =
        std::stoull(from_json(here.run({"status", "x", "--json"}).out, "it['holder']['token']"));

    const auto released = here.run({"release", "--force", "--yes", "x"});
    EXPECT_EQ(released.code, 0) << released.err;
    const auto next = here.run({"run", "x", "--", "sh", "-c", "echo $PAWL_TOKEN"});
    EXPECT_GT(std::stoull(next.out), before) << "its token is overtaken";
    const auto found = victim->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_NE(found.err.find("Lost 'x'"), std::string::npos) << found.err;
    EXPECT_TRUE(soon_silent(file));
}

TEST(Loss, AForcedReleaseStopsTheVictimOnRedis) {
    support::redis_server server;
    forced(world(server.url()));
}
TEST(Loss, AForcedReleaseStopsTheVictimOnSqlite) { forced(world()); }

TEST(Loss, AServerThatForgotTheLockIsNoticedAtTheEndAtTheLatest) {
    support::redis_server server;
    const world here(server.url());
    const auto one =
        here.start({"run", "x", "--", "sh", "-c",
                    "echo ready; until [ -e " + here.file("go") + " ]; do sleep 0.01; done"});
    ASSERT_TRUE(support::eventually([&] { return one->out() == "ready\n"; }));
    server.ask({"FLUSHALL"});
    EXPECT_EQ(here.run({"run", "y", "--", "touch", here.file("go")}).code, 0);
    EXPECT_EQ(one->wait().code, 70) << one->err();
}

TEST(Loss, TermOnlyLeavesTheEndToTheCommand) {
    const world here;
    const auto one =
        here.start({"run", "--ttl", "2s", "--on-loss", "term", "x", "--", "sh", "-c",
                    "trap 'echo told' TERM; echo ready; i=0; while [ $i -lt 150 ]; do sleep 0.02; "
                    "i=$((i+1)); done; echo end; exit 3"});
    ASSERT_TRUE(support::eventually([&] { return one->out() == "ready\n"; }));
    EXPECT_EQ(here.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto found = one->wait();
    EXPECT_EQ(found.out, "ready\ntold\nend\n");
    EXPECT_EQ(found.code, 70);
}

TEST(Loss, ContinueOnlyWarns) {
    const world here;
    const auto one = here.start(
        {"run", "--ttl", "2s", "--on-loss", "continue", "x", "--", "sh", "-c",
         "echo ready; until [ -e " + here.file("go") + " ]; do sleep 0.02; done; exit 3"});
    ASSERT_TRUE(support::eventually([&] { return one->out() == "ready\n"; }));
    EXPECT_EQ(here.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_TRUE(support::eventually(
        [&] { return one->err().find("runs on without it") != std::string::npos; }));
    EXPECT_EQ(here.run({"run", "x", "--", "touch", here.file("go")}).code, 0);
    EXPECT_EQ(one->wait().code, 3);
}

TEST(Loss, MaxHoldEndsTheCommand) {
    const world here;
    const auto file = here.file("beats");
    const auto began = boot_time();
    const auto one = here.start(words{"run", "--ttl", "1s", "--max-hold", "2s", "x", "--"} +
                                heartbeat(file, "stubborn"));
    const auto found = one->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_NE(found.err.find("--max-hold are over"), std::string::npos) << found.err;
    EXPECT_GT(last_beat(file), began + second) << "it had been renewed";
    EXPECT_TRUE(soon_silent(file));
}

// Nobody else has it: it stays until its lease ends.
TEST(Loss, DataBesideTheLockIsNone) {
    support::redis_server server;
    const world here(server.url());
    server.ask({"RPUSH", "pawl:{x}:q", "theirs"});
    const auto found = here.run({"run", "x", "--", "true"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.err,
              "pawl: The service did not confirm the release of 'x'; it ends by itself within "
              "30 s.\n");
    EXPECT_EQ(server.ask({"EXISTS", "pawl:{x}"}).number(), 1);
}

}  // namespace
