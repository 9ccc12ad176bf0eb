// The two processes of `pawl run` watch over each other.
#include "command.hpp"

#include <control_group.hpp>

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000'000;

class Watchers : public ::testing::Test {
protected:
    void start(const char* ttl, const std::string& how) {
        one_ = here_.start(words{"run", "--ttl", ttl, "x", "--"} + heartbeat(file_, how));
        ASSERT_TRUE(beats(file_)) << one_->err();
        keeper_ = child_named(one_->pid(), "lock-keeper");
        ASSERT_NE(keeper_, 0);
    }

    support::redis_server server_;
    world here_{server_.url()};
    std::string file_ = here_.file("beats");
    std::unique_ptr<started> one_;
    pid_t keeper_ = 0;
};

// Where a cgroup shows that nothing is left, long before the ttl.
TEST_F(Watchers, KilledPawlTakesTheWholeGroupWithItAndGivesTheLockBack) {
    auto cgroup = pawl::cli::control_group::make("pawl-test-" + std::to_string(::getpid()));
    const bool exact = static_cast<bool>(cgroup);
    cgroup.remove();
    start(exact ? "30s" : "5s", "pair");
    one_->signal(SIGKILL);
    EXPECT_TRUE(soon_silent(file_));
    EXPECT_TRUE(support::eventually([&] { return !here_.held("x"); }));
    EXPECT_TRUE(support::eventually([&] { return !alive(keeper_); }));
}

TEST_F(Watchers, KilledPawlWithAFrozenServerTakesTheGroupWithIt) {
    start("30s", "pair");
    server_.freeze();
    one_->signal(SIGKILL);
    EXPECT_TRUE(soon_silent(file_));
    server_.thaw();
}

TEST_F(Watchers, BothKilledTakeTheCommandWithThem) {
    start("30s", "stubborn");
    ::kill(keeper_, SIGKILL);
    one_->signal(SIGKILL);
    EXPECT_TRUE(soon_silent(file_));
}

TEST_F(Watchers, KilledKeeperStopsTheCommandBeforeTheLeaseEnds) {
    start("2s", "pair");
    const auto deadline = boot_time() + 2 * second;
    ::kill(keeper_, SIGKILL);
    const auto found = one_->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_LT(last_beat(file_), deadline);
    EXPECT_TRUE(soon_silent(file_));
}

TEST_F(Watchers, FrozenKeeperStopsTheCommandBeforeTheLeaseEnds) {
    start("2s", "pair");
    ::kill(keeper_, SIGSTOP);
    const auto deadline = boot_time() + 2 * second;
    const auto found = one_->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_LT(last_beat(file_), deadline);
    EXPECT_TRUE(soon_silent(file_));
    ::kill(keeper_, SIGKILL);
}

TEST_F(Watchers, FrozenPawlKeepsItsLock) {
    start("1s", "");
    one_->signal(SIGSTOP);
    const auto until = boot_time() + 3 * second;
    while (boot_time() < until)
        ASSERT_TRUE(here_.held("x"));
    EXPECT_TRUE(beats(file_));
    one_->signal(SIGCONT);
    one_->signal(SIGTERM);
    EXPECT_EQ(one_->wait().code, 128 + SIGTERM);
}

TEST_F(Watchers, FrozenPawlAndFrozenServerStillStopTheCommandInTime) {
    start("2s", "pair");
    one_->signal(SIGSTOP);
    server_.freeze();
    const auto deadline = boot_time() + 2 * second;
    EXPECT_TRUE(soon_silent(file_));
    EXPECT_LT(last_beat(file_), deadline);
    one_->signal(SIGCONT);
    EXPECT_EQ(one_->wait().code, 70);
    server_.thaw();
}

TEST_F(Watchers, TheKeeperIsNotDisturbedBySignalsToAll) {
    start("30s", "");
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGTSTP})
        ::kill(keeper_, number);
    EXPECT_TRUE(beats(file_));
    one_->signal(SIGTERM);
    EXPECT_EQ(one_->wait().code, 128 + SIGTERM);
    EXPECT_FALSE(here_.held("x"));
}

}  // namespace
