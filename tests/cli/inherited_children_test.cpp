// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `exec pawl` in a script: pawl has the shell's children. They do not belong to the command,
// however the command ends.
#include "command.hpp"
#include "confined.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <fstream>

namespace {

using namespace cli_test;

std::string joined(const words& command) {
    std::string text;
    for (const auto& each : command)
        text += each + " ";
    return text;
}

// The parameter: without a cgroup, so that only the walk over /proc finds processes.
class InheritedChildren : public ::testing::TestWithParam<bool> {
protected:
    // A shell that starts `before` and then becomes pawl, which runs `command`.
    void start(const std::string& before, const std::string& command) {
        const auto script =
            before + " & exec " PAWL_COMMAND " run --ttl 4s x -- sh -c '" + command + "'";
        const words confinement = GetParam() ? without_cgroups() : words{};
        pawl_ = std::make_unique<started_process>(confinement + words{"sh", "-c", script},
                                                  sandbox_.environment());
    }
    void lose() { EXPECT_EQ(sandbox_.run({"release", "--force", "--yes", "x"}).code, 0); }
    void TearDown() override {
        for (const auto& file : {sidecar_, worker_})
            for (pid_t left = 0; (left = heartbeat_with_argument(file)) != 0;)
                ::kill(left, SIGKILL);
    }
    void touch(const std::string& name) const { std::ofstream(sandbox_.file(name)) << "\n"; }
    [[nodiscard]] std::string until_there(const std::string& name) const {
        return "until [ -e " + sandbox_.file(name) + " ]; do sleep 0.02; done; ";
    }

    test_sandbox sandbox_;
    std::string sidecar_ = sandbox_.file("sidecar");
    std::string worker_ = sandbox_.file("worker");
    std::string beat_aside_ = joined(heartbeat(sidecar_));
    std::string work_away_ = "setsid " + joined(heartbeat(worker_, "stubborn")) + " & wait";
    std::unique_ptr<started_process> pawl_;
};

TEST_P(InheritedChildren, LiveOnAfterALoss) {
    start(beat_aside_, work_away_);
    ASSERT_TRUE(is_beating(worker_) && is_beating(sidecar_)) << pawl_->err();
    lose();
    const auto end = pawl_->wait();
    EXPECT_EQ(end.code, 70) << end.err;
    EXPECT_EQ(heartbeat_with_argument(worker_), 0) << "the command's own";
    EXPECT_TRUE(is_beating(sidecar_));
}

TEST_P(InheritedChildren, LiveOnWhenTheLockProcessStopsTheCommand) {
    start(beat_aside_, work_away_);
    ASSERT_TRUE(is_beating(worker_) && is_beating(sidecar_)) << pawl_->err();
    pawl_->signal(SIGSTOP);
    lose();
    EXPECT_TRUE(support::eventually([&] { return heartbeat_with_argument(worker_) == 0; }));
    EXPECT_TRUE(is_beating(sidecar_));
    pawl_->signal(SIGCONT);
    EXPECT_EQ(pawl_->wait().code, 70) << pawl_->err();
    EXPECT_TRUE(is_beating(sidecar_));
}

TEST_P(InheritedChildren, AreNotNamedAsLeftOver) {
    start(beat_aside_, until_there("go") + "exit 3");
    ASSERT_TRUE(is_beating(sidecar_)) << pawl_->err();
    touch("go");
    const auto end = pawl_->wait();
    EXPECT_EQ(end.code, 3);
    EXPECT_EQ(end.err, "");
    EXPECT_TRUE(is_beating(sidecar_));
}

// Started after the command, by a child that then ends: pawl is the reaper of all orphans.
TEST_P(InheritedChildren, MayLeaveOrphansThatLiveOn) {
    start("{ " + until_there("go") + beat_aside_ + "& }", work_away_);
    ASSERT_TRUE(is_beating(worker_)) << pawl_->err();
    touch("go");
    ASSERT_TRUE(is_beating(sidecar_)) << pawl_->err();
    ASSERT_TRUE(support::eventually([&] {
        return child_named(pawl_->pid(), "pawl_cli_tests") == heartbeat_with_argument(sidecar_);
    }));
    lose();
    EXPECT_EQ(pawl_->wait().code, 70) << pawl_->err();
    EXPECT_EQ(heartbeat_with_argument(worker_), 0) << "the command's own";
    EXPECT_TRUE(is_beating(sidecar_));
}

// A process of the command is recognised by its environment, even in the group of pawl itself.
TEST_P(InheritedChildren, DoNotHideAProcessOfTheCommandInTheirGroup) {
    const auto join =
        "import os, sys; os.setpgid(0, os.getpgid(os.getppid())); "
        "os.execv(sys.argv[1], sys.argv[1:])";
    std::ofstream(sandbox_.file("join.py")) << join;
    start(beat_aside_, "exec python3 " + sandbox_.file("join.py") + " " +
                           joined(heartbeat(worker_, "stubborn")));
    ASSERT_TRUE(is_beating(worker_) && is_beating(sidecar_)) << pawl_->err();
    lose();
    EXPECT_EQ(pawl_->wait().code, 70) << pawl_->err();
    EXPECT_EQ(heartbeat_with_argument(worker_), 0) << "the command's own";
    EXPECT_TRUE(is_beating(sidecar_));
}

std::string cgroup_setting_of(const ::testing::TestParamInfo<bool>& info) {
    return info.param ? "NoCgroup" : "CgroupIfAllowed";
}

INSTANTIATE_TEST_SUITE_P(With, InheritedChildren, ::testing::Values(false, true),
                         cgroup_setting_of);

}  // namespace
