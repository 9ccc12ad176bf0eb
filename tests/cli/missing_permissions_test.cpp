// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Processes that pawl may not kill or cannot see: pawl reports them, and does not claim that
// nothing is left.
#include "command.hpp"
#include "confined.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace cli_test;

constexpr int outlived = 73;

// pawl runs as nobody. Its command becomes root through a setuid program, like sudo. Only root can
// prepare this.
class OtherUser : public ::testing::Test {
protected:
    void SetUp() override {
        namespace fs = std::filesystem;
        fs::permissions(sandbox_.file("."), fs::perms(0755));
        fs::copy_file(PAWL_COMMAND, pawl_copy_);
        fs::copy_file("/usr/bin/setpriv", become_root_);
        fs::permissions(become_root_, fs::perms(04755));
    }
    void TearDown() override {
        for (pid_t left = 0; (left = heartbeat_with_argument(file_)) != 0;)
            ::kill(left, SIGKILL);
    }
    void start(const words& command, const std::string& ttl = "2s") {
        process_ = std::make_unique<started_process>(
            as_nobody() + words{pawl_copy_, "run", "--ttl", ttl, "x", "--"} + command +
                heartbeat(file_),
            sandbox_.environment());
        ASSERT_TRUE(is_beating(file_)) << process_->err();
    }
    [[nodiscard]] bool eventually_says(const std::string& text) const {
        return support::eventually([&] { return process_->err().find(text) != std::string::npos; });
    }

    support::redis_server server_;
    test_sandbox sandbox_{server_.url()};
    std::string pawl_copy_ = sandbox_.file("pawl");
    std::string become_root_ = sandbox_.file("become-root");
    std::string file_ = sandbox_.file("beats");
    std::unique_ptr<started_process> process_;
};

TEST_F(OtherUser, ACommandThatMayNotBeKilledIsWaitedForAndNothingIsPromised) {
    if (::geteuid() != 0) return;
    start({become_root_, "--reuid=0"});
    server_.freeze();
    EXPECT_TRUE(eventually_says("No permission to stop")) << process_->err();
    EXPECT_TRUE(
        eventually_says("The lease ended while processes of the command were still running"))
        << process_->err();
    EXPECT_TRUE(process_->is_running()) << "the command is its child and still there";
    EXPECT_TRUE(is_beating(file_));
    ::kill(heartbeat_with_argument(file_), SIGKILL);
    EXPECT_EQ(process_->wait().code, outlived) << process_->err();
    server_.thaw();
}

TEST_F(OtherUser, AStrayThatMayNotBeKilledIsNamed) {
    if (::geteuid() != 0) return;
    start({"sh", "-c", "setsid " + become_root_ + " --reuid=0 \"$@\" & wait", "sh"});
    server_.freeze();
    const auto result = process_->wait();
    EXPECT_EQ(result.code, outlived);
    EXPECT_NE(result.err.find("No permission to stop pawl_cli_tests ("), std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find("sudo pawl run"), std::string::npos) << "what to do";
    EXPECT_TRUE(is_beating(file_));
    server_.thaw();
}

TEST_F(OtherUser, ASignalThatMayNotBePassedOnIsReported) {
    if (::geteuid() != 0) return;
    start({become_root_, "--reuid=0"});
    process_->signal(SIGTERM);
    EXPECT_TRUE(eventually_says("No permission to")) << process_->err();
    ::kill(heartbeat_with_argument(file_), SIGKILL);
    EXPECT_EQ(process_->wait().code, 128 + SIGKILL) << process_->err();
}

// The supervisor is killed, and the command cannot be killed: the lock is not released. A lock
// process that hangs gives up 10 s after the lease; this one does not hang.
TEST_F(OtherUser, OfAKilledPawlKeepsTheLock) {
    if (::geteuid() != 0) return;
    start({become_root_, "--reuid=0"}, "6s");
    const pid_t lock_process = child_named(process_->pid(), "lock-process");
    process_->signal(SIGKILL);
    const auto next = sandbox_.run({"run", "--wait", "18s", "x", "--", "true"});
    EXPECT_EQ(next.code, 75) << "renewed as long as it is seen to live: " << next.err;
    ::kill(heartbeat_with_argument(file_), SIGKILL);
    EXPECT_TRUE(support::eventually([&] { return !is_alive(lock_process); }));
    EXPECT_EQ(sandbox_.run({"run", "x", "--", "true"}).code, 0);
}

// The supervisor cannot open files any more, because a limit is reached. It sees no process, and
// must not take that for the end of the command.
class NoDescriptor : public ::testing::Test {
protected:
    void start(const std::string& script) {
        process_ = std::make_unique<started_process>(
            without_cgroups() +
                words{PAWL_COMMAND, "run", "--ttl", "4s", "x", "--", "sh", "-c", script, "sh"} +
                heartbeat(file_, "stubborn"),
            sandbox_.environment());
        ASSERT_TRUE(is_beating(file_)) << process_->err();
        limit_files(3);
    }
    void limit_files(rlim_t count) const {
        const rlimit limit{.rlim_cur = count, .rlim_max = count};
        ASSERT_EQ(::prlimit(process_->pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
    }
    void TearDown() override {
        for (pid_t left = 0; (left = heartbeat_with_argument(file_)) != 0;)
            ::kill(left, SIGKILL);
    }

    test_sandbox sandbox_;
    std::string file_ = sandbox_.file("beats");
    std::unique_ptr<started_process> process_;
};

TEST_F(NoDescriptor, NothingIsPromisedAfterALoss) {
    start("setsid \"$@\" & exec sleep 600");
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto end = process_->wait();
    EXPECT_EQ(end.code, outlived);
    EXPECT_NE(end.err.find("Cannot see whether processes of the command are left"),
              std::string::npos)
        << end.err;
    EXPECT_EQ(heartbeat_with_argument(file_), 0) << "the lock process sees it";
}

TEST_F(NoDescriptor, TheGroupIsStoppedAllTheSame) {
    start("\"$@\" & until [ -e " + sandbox_.file("go") + " ]; do sleep 0.02; done; exit 3");
    std::ofstream(sandbox_.file("go")) << "\n";
    const auto end = process_->wait();
    EXPECT_EQ(end.code, 3) << end.err;
    EXPECT_EQ(heartbeat_with_argument(file_), 0);
}

// poll refuses to wait for more descriptors than the limit.
TEST_F(NoDescriptor, ALimitBelowTheWatchedDescriptorsEndsPawlWithOneSentence) {
    start("\"$@\" & wait");
    limit_files(2);
    process_->signal(SIGWINCH);  // ends the wait that began before
    const auto end = process_->wait();
    EXPECT_EQ(end.code, 71);
    EXPECT_EQ(end.err,
              "pawl: The limit of open files is below 3, so pawl cannot wait for its events; raise "
              "the limit (ulimit -n).\n");
    EXPECT_TRUE(eventually_silent(file_)) << "the lock process stops the command";
}

class PidNamespace : public OtherUser {
protected:
    void SetUp() override {}
    outcome run(const words& confinement, const words& arguments) {
        process_ = std::make_unique<started_process>(confinement + words{PAWL_COMMAND} + arguments,
                                                     sandbox_.environment());
        return process_->wait();
    }
};

TEST_F(PidNamespace, NamesNoProcessOfAnother) {
    for (const auto& confinement :
         {in_a_pid_namespace(), without_cgroups() + in_a_pid_namespace()}) {
        const auto result = run(confinement, {"run", "x", "--", "sh", "-c", "true; exit 3"});
        EXPECT_EQ(result.code, 3);
        EXPECT_EQ(result.err, "");
    }
}

TEST_F(PidNamespace, StopsTheGroupAndSaysThatItSeesNoMore) {
    process_ = std::make_unique<started_process>(
        without_cgroups() + in_a_pid_namespace() +
            words{PAWL_COMMAND, "run", "--ttl", "2s", "x", "--"} + heartbeat(file_, "pair"),
        sandbox_.environment());
    ASSERT_TRUE(is_beating(file_)) << process_->err();
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto result = process_->wait();
    EXPECT_EQ(result.code, outlived);
    EXPECT_NE(result.err.find("/proc shows another PID namespace"), std::string::npos)
        << result.err;
    EXPECT_EQ(heartbeat_with_argument(file_), 0);
}

// Processes that remain in the group are stopped even if /proc cannot be used.
TEST_F(PidNamespace, StopsWhatTheCommandLeavesInItsGroup) {
    const auto script = "\"$@\" & until [ -s " + file_ + " ]; do :; done";
    const auto result =
        run(without_cgroups() + in_a_pid_namespace(),
            words{"run", "--ttl", "4s", "x", "--", "sh", "-c", script, "sh"} + heartbeat(file_));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("which pawl stops"), std::string::npos) << result.err;
    EXPECT_EQ(heartbeat_with_argument(file_), 0);
}

}  // namespace
