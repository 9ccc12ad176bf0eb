// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The two processes of `pawl run` watch each other.
#include "command.hpp"

#include <run/control_group.hpp>

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <filesystem>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

class MutualSupervision : public ::testing::Test {
protected:
    void start(const char* ttl, const std::string& mode) {
        process_ = sandbox_.start(words{"run", "--ttl", ttl, "x", "--"} + heartbeat(file_, mode));
        ASSERT_TRUE(is_beating(file_)) << process_->err();
        lock_process_ = child_named(process_->pid(), "lock-process");
        ASSERT_NE(lock_process_, 0);
    }

    support::redis_server server_;
    test_sandbox sandbox_{server_.url()};
    std::string file_ = sandbox_.file("beats");
    std::unique_ptr<started_process> process_;
    pid_t lock_process_ = 0;
};

// If a cgroup shows that no process is left, the lock is free long before the ttl.
TEST_F(MutualSupervision, KilledPawlStopsTheGroupAndReleasesTheLock) {
    auto cgroup = pawl::cli::control_group::make("pawl-test-" + std::to_string(::getpid()));
    const bool exact = static_cast<bool>(cgroup);
    cgroup.remove();
    start(exact ? "30s" : "5s", "pair");
    process_->kill_supervisor();
    EXPECT_TRUE(eventually_silent(file_));
    EXPECT_TRUE(support::eventually([&] { return !sandbox_.is_held("x"); }));
    EXPECT_TRUE(support::eventually([&] { return !is_alive(lock_process_); }));
}

TEST_F(MutualSupervision, KilledPawlWithAFrozenServerStopsTheGroup) {
    start("30s", "pair");
    server_.freeze();
    process_->signal(SIGKILL);
    EXPECT_TRUE(eventually_silent(file_));
    server_.thaw();
}

TEST_F(MutualSupervision, BothKilledStopTheCommand) {
    start("30s", "stubborn");
    ::kill(lock_process_, SIGKILL);
    process_->signal(SIGKILL);
    EXPECT_TRUE(eventually_silent(file_));
}

TEST_F(MutualSupervision, KilledLockProcessStopsTheCommandBeforeTheLeaseEnds) {
    start("2s", "pair");
    const auto deadline = boot_time() + 2 * second;
    ::kill(lock_process_, SIGKILL);
    const auto result = process_->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_LT(last_beat(file_), deadline);
    EXPECT_TRUE(eventually_silent(file_));
}

TEST_F(MutualSupervision, FrozenLockProcessStopsTheCommandBeforeTheLeaseEnds) {
    start("2s", "pair");
    ::kill(lock_process_, SIGSTOP);
    const auto deadline = boot_time() + 2 * second;
    const auto result = process_->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_LT(last_beat(file_), deadline);
    EXPECT_TRUE(eventually_silent(file_));
    ::kill(lock_process_, SIGKILL);
}

// The command has ended, and pawl keeps the lock for the rest of --min-hold.
class MinimumHold : public MutualSupervision {
protected:
    void start(const words& options) {
        process_ = sandbox_.start(words{"run"} + options + words{"x", "--", "touch", file_});
        ASSERT_TRUE(sandbox_.eventually_held("x"));
        lock_process_ = child_named(process_->pid(), "lock-process");
        ASSERT_NE(lock_process_, 0);
        ASSERT_TRUE(support::eventually([&] {
            return std::filesystem::exists(file_) && child_named(process_->pid(), "touch") == 0;
        }));
        process_->wait_until_asleep();
    }
    static bool is_loss_reported(const outcome& result) {
        return result.err.find("Lost 'x' before the end of the 10 min of --min-hold") !=
               std::string::npos;
    }
};

//   the command ends | kill -9 of the lock process | the lease ends | the end of --min-hold
TEST_F(MinimumHold, IsLostWithAKilledLockProcess) {
    start({"--ttl", "5s", "--min-hold", "10min"});
    ::kill(lock_process_, SIGKILL);
    const auto result = process_->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_TRUE(is_loss_reported(result)) << result.err;
}

//   the command ends | kill -STOP of the lock process | the lease ends | the end of --min-hold
TEST_F(MinimumHold, IsLostWithAFrozenLockProcess) {
    start({"--ttl", "2s", "--min-hold", "10min"});
    ::kill(lock_process_, SIGSTOP);
    const auto result = process_->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_TRUE(is_loss_reported(result)) << result.err;
    ::kill(lock_process_, SIGKILL);
}

TEST_F(MinimumHold, ItsLossKeepsTheCommandsStatusIfTheCommandMayContinue) {
    start({"--ttl", "5s", "--min-hold", "10min", "--on-loss", "continue"});
    ::kill(lock_process_, SIGKILL);
    const auto result = process_->wait();
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(is_loss_reported(result)) << result.err;
}

//   the command ends | kill -9 of the lock process | the end of --min-hold | the lease ends
TEST_F(MinimumHold, IsNotLostIfTheLeaseLastsLonger) {
    start({"--ttl", "1h", "--min-hold", "10min"});
    ::kill(lock_process_, SIGKILL);
    const auto result = process_->wait();
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.err.find("did not confirm the release"), std::string::npos) << result.err;
    EXPECT_TRUE(sandbox_.is_held("x"));
}

TEST_F(MutualSupervision, FrozenPawlKeepsItsLock) {
    start("1s", "");
    process_->signal(SIGSTOP);
    const auto until = boot_time() + 3 * second;
    while (boot_time() < until)
        ASSERT_TRUE(sandbox_.is_held("x"));
    EXPECT_TRUE(is_beating(file_));
    process_->signal(SIGCONT);
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait().code, 128 + SIGTERM);
}

TEST_F(MutualSupervision, FrozenPawlAndFrozenServerStillStopTheCommandInTime) {
    start("2s", "pair");
    process_->signal(SIGSTOP);
    server_.freeze();
    const auto deadline = boot_time() + 2 * second;
    EXPECT_TRUE(eventually_silent(file_));
    EXPECT_LT(last_beat(file_), deadline);
    process_->signal(SIGCONT);
    EXPECT_EQ(process_->wait().code, 70);
    server_.thaw();
}

TEST_F(MutualSupervision, TheLockProcessIgnoresSignalsToAll) {
    start("30s", "");
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGTSTP})
        ::kill(lock_process_, number);
    EXPECT_TRUE(is_beating(file_));
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait().code, 128 + SIGTERM);
    EXPECT_FALSE(sandbox_.is_held("x"));
}

}  // namespace
