// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// After a loss, no process of the command continues, wherever it is. Each process tree below has a
// process that ignores SIGTERM outside of the command's group, started as ordinary scripts do it.
//
//   sh, in the group           gets SIGTERM and dies of it: the group is empty
//   `- timeout, its own group  belongs to the supervisor now, with all that it started
//      `- the worker           must be dead when the lease ends, although no signal to the group
//                              has ever reached it
#include "command.hpp"
#include "confined.hpp"

#include <support/redis_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <filesystem>
#include <ostream>

namespace {

using namespace cli_test;

struct process_tree {
    const char* name;
    const char* shell;
    const char* script;  // "$@" is the worker
};

// Whether a cgroup can be created for the command. Without one, pawl walks over /proc.
enum class cgroups { if_allowed, hidden };

struct stray_case {
    process_tree tree;
    cgroups cgroup_access;
};

void PrintTo(const stray_case& value, std::ostream* out) { *out << value.tree.name; }

constexpr process_tree process_trees[]{
    {"Timeout", "sh", "timeout 1000 \"$@\"; true"},
    {"TimeoutInTheBackground", "sh", "timeout 1000 \"$@\" & wait"},
    {"Setsid", "sh", "setsid \"$@\" & wait"},
    {"JobControl", "bash", "set -m; \"$@\" & wait"},
    {"Daemon", "sh", "(setsid sh -c '(\"$@\" &) ; exec sleep 1000' sh \"$@\" &); exec sleep 1000"},
    {"TimeoutBehindSetsid", "sh", "setsid sh -c 'timeout 1000 \"$@\"; true' sh \"$@\" & wait"},
};

class Strays : public ::testing::TestWithParam<stray_case> {
protected:
    // "$@" is a worker that ignores SIGTERM.
    void start(const std::string& ttl, const std::string& shell, const std::string& script,
               const std::string& mode = "stubborn") {
        const words pawl{PAWL_COMMAND, "run", "--ttl", ttl, "x", "--", shell, "-c", script, shell};
        const words confinement =
            GetParam().cgroup_access == cgroups::hidden ? without_cgroups() : words{};
        process_ = std::make_unique<started_process>(confinement + pawl + heartbeat(file_, mode),
                                                     sandbox_.environment());
        ASSERT_TRUE(is_beating(file_)) << process_->err();
    }
    void start(const std::string& ttl) {
        start(ttl, GetParam().tree.shell, GetParam().tree.script);
    }
    void TearDown() override {
        for (pid_t left = 0; (left = heartbeat_with_argument(file_)) != 0;)
            ::kill(left, SIGKILL);
    }
    [[nodiscard]] bool is_silent() const { return !heartbeat_with_argument(file_); }

    support::redis_server server_;
    test_sandbox sandbox_{server_.url()};
    std::string file_ = sandbox_.file("beats");
    std::unique_ptr<started_process> process_;
};

// Long leases: what is stopped a quarter of the lease before its end is in time on a busy machine.
TEST_P(Strays, AreDeadWhenTheLeaseEnds) {
    start("6s");
    server_.freeze();
    const auto deadline = boot_time() + 6 * second;
    const auto result = process_->wait();
    EXPECT_TRUE(is_silent()) << "pawl ended before them";
    EXPECT_LT(last_beat(file_), deadline);
    EXPECT_EQ(result.code, 70) << result.err;
    server_.thaw();
}

TEST_P(Strays, OfAKilledPawlAreDeadBeforeTheNextHolderBegins) {
    start("2s");
    process_->signal(SIGKILL);
    const auto next = sandbox_.run({"run", "x", "--", "cat", "/proc/uptime"});
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_LT(static_cast<double>(last_beat(file_)) / 1e9, std::stod(next.out) + 0.01);
    EXPECT_TRUE(is_silent());
}

TEST_P(Strays, AreStoppedInTimeAlsoWhenPawlItselfIsFrozen) {
    start("10s");
    process_->signal(SIGSTOP);
    server_.freeze();
    const auto deadline = boot_time() + 10 * second;
    EXPECT_TRUE(eventually_silent(file_));
    EXPECT_LT(last_beat(file_), deadline);
    process_->signal(SIGCONT);
    EXPECT_EQ(process_->wait().code, 70) << process_->err();
    server_.thaw();
}

std::vector<stray_case> stray_cases() {
    std::vector<stray_case> all;
    for (const auto access : {cgroups::if_allowed, cgroups::hidden})
        for (const process_tree& each : process_trees)
            all.push_back({each, access});
    return all;
}

std::string name_of_stray(const ::testing::TestParamInfo<stray_case>& info) {
    return std::string(info.param.tree.name) +
           (info.param.cgroup_access == cgroups::hidden ? "WithoutCgroups" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, Strays, ::testing::ValuesIn(stray_cases()), name_of_stray);

// The same fixture for tests that do not need every process tree.
class Loose : public Strays {};

// After a forced release there is no deadline, but every process is stopped.
TEST_P(Loose, AreStoppedAfterAForcedRelease) {
    start("6s", "sh", "timeout 1000 \"$@\"; true");
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(process_->wait().code, 70) << process_->err();
    EXPECT_TRUE(is_silent());
}

TEST_P(Loose, AreTerminatedBeforeTheyAreKilled) {
    start("12s", "sh",
          "setsid sh -c 'trap \"touch " + file_ +
              ".told; exit\" TERM; echo ready; "
              "while :; do sleep 0.02; done' & \"$@\" & wait");
    ASSERT_TRUE(support::eventually([&] { return process_->out() == "ready\n"; }));
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(process_->wait().code, 70) << process_->err();
    EXPECT_TRUE(std::filesystem::exists(file_ + ".told"));
}

// The worker stopped itself: only SIGKILL reaches it.
TEST_P(Loose, AreKilledAlsoWhenTheyAreStopped) {
    start("12s", "sh",
          "setsid \"$@\" & until [ -s " + file_ +
              " ]; do :; done; "
              "kill -STOP $!; echo stopped; wait");
    ASSERT_TRUE(support::eventually([&] { return process_->out() == "stopped\n"; }));
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(process_->wait().code, 70) << process_->err();
    EXPECT_TRUE(is_silent());
}

// A worker whose main thread has ended looks like a zombie in /proc, but still runs.
TEST_P(Loose, AreKilledAlsoWithoutTheirMainThread) {
    start("2s", "sh", "setsid \"$@\" & wait", "headless");
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(process_->wait().code, 70) << process_->err();
    EXPECT_TRUE(is_silent());
}

// A chain of processes, each of which lives for a moment only and ends when its child is there. No
// walk over /proc is as fast, but a signal to the group leaves no room for a fork:
//
//   walk: sees process 7 of the group | 7 forks 8 | 7 ends | walk: the signal to 7 finds nobody
//   walk: signals the group           | 8 cannot complete a fork any more
TEST_P(Loose, AreKilledAlsoWhileTheyRunFromProcessToProcess) {
    start("6s", "sh", "setsid \"$@\" & exec sleep 1000", "runner");
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(process_->wait().code, 70) << process_->err();
    const auto ended = boot_time();
    EXPECT_EQ(sandbox_.run({"run", "x", "--", "sleep", "0.1"}).code, 0);
    EXPECT_LT(last_beat(file_), ended) << process_->err();
}

// In a new session each time, so that only repeated rounds can catch the processes. The race has no
// time limit: pawl may be late, and reports it, but does not end before all are stopped.
TEST_P(Loose, AreCaughtAlsoWhileTheyRunFromSessionToSession) {
    start("6s", "sh", "setsid \"$@\" & exec sleep 1000", "hopper");
    EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_THAT(process_->wait().code, testing::AnyOf(70, 73)) << process_->err();
    const auto ended = boot_time();
    EXPECT_EQ(sandbox_.run({"run", "x", "--", "sleep", "0.1"}).code, 0);
    EXPECT_LT(last_beat(file_), ended) << process_->err();
}

// The supervisor is dead, no process is the reaper of the chain, and the lock process finds it by
// its environment.
TEST_P(Loose, OfAKilledPawlAreCaughtWhileTheyRunFromProcessToProcess) {
    start("6s", "sh", "setsid \"$@\" & exec sleep 1000", "runner");
    process_->signal(SIGKILL);
    const auto next = sandbox_.run({"run", "x", "--", "cat", "/proc/uptime"});
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_LT(static_cast<double>(last_beat(file_)) / 1e9, std::stod(next.out) + 0.01);
    EXPECT_TRUE(is_silent());
}

// Without a loss, a daemon remains, in the cgroup of pawl's caller. The command's cgroup is
// removed.
TEST_P(Loose, StayAndLeaveNoCgroupBehindWhenTheLockWasKept) {
    const words pawl{PAWL_COMMAND, "run", "x", "--"};
    const words confinement =
        GetParam().cgroup_access == cgroups::hidden ? without_cgroups() : words{};
    started_process process(confinement + pawl + heartbeat(file_, "away"), sandbox_.environment());
    const auto result = process.wait();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("continue without the lock"), std::string::npos) << result.err;
    ASSERT_TRUE(is_beating(file_));
    const pid_t worker = heartbeat_with_argument(file_);
    EXPECT_EQ(cgroup_of(worker), cgroup_of(::getpid()));
    ::kill(worker, SIGKILL);
    EXPECT_TRUE(eventually_silent(file_));
    EXPECT_TRUE(leftover_cgroups(process.pid()).empty());
}

INSTANTIATE_TEST_SUITE_P(Once, Loose,
                         ::testing::Values(stray_case{process_trees[0], cgroups::if_allowed},
                                           stray_case{process_trees[0], cgroups::hidden}),
                         name_of_stray);

}  // namespace
