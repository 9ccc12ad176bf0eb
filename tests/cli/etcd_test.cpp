// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command with locks in etcd.
#include "command.hpp"

#include <support/etcd_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace cli_test;
using testing::HasSubstr;

class EtcdCommand : public testing::Test {
protected:
    // Throws "NOT RUN: …" without etcd: ctest knows these words.
    support::etcd_cluster cluster;
    const test_sandbox pawl{cluster.url()};
};

TEST_F(EtcdCommand, RunsAndShowsALock) {
    const auto first = pawl.start({"run", "--ttl", "5s", "it", "--", "sleep", "600"});
    ASSERT_TRUE(pawl.eventually_held("it")) << first->err();
    EXPECT_EQ(pawl.run({"run", "--wait", "0", "it", "--", "true"}).code, 75);
    EXPECT_THAT(pawl.run({"ls"}).out, HasSubstr("it"));
    const auto status = pawl.run({"status", "it"});
    EXPECT_THAT(status.out, HasSubstr("'it' is held"));
    EXPECT_THAT(status.out, HasSubstr("sleep"));
    EXPECT_EQ(pawl.run({"release", "--force", "--yes", "it"}).code, 0);
    EXPECT_EQ(first->wait().code, 70);
    EXPECT_EQ(pawl.run({"run", "it", "--", "true"}).code, 0);
}

TEST_F(EtcdCommand, ReadersPermitsAndSeveralLocks) {
    EXPECT_EQ(pawl.run({"run", "--shared", "it", "--", "true"}).code, 0);
    EXPECT_EQ(pawl.run({"run", "--permits", "1/3", "room", "--", "true"}).code, 0);
    EXPECT_EQ(pawl.run({"resize", "room", "5"}).code, 0);
    EXPECT_EQ(pawl.run({"run", "a", "--also", "b", "--", "true"}).code, 0);
}

TEST_F(EtcdCommand, ALeaderIsElected) {
    const auto leader = pawl.start({"elect", "--ttl", "5s", "role", "--", "sleep", "600"});
    ASSERT_TRUE(pawl.eventually_held("role")) << leader->err();
    const auto next = pawl.start({"elect", "--ttl", "5s", "role", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return pawl.run({"status", "role"}).out.find("waiters    1") != std::string::npos;
    })) << next->err();
    leader->signal(SIGTERM);
    EXPECT_TRUE(pawl.eventually_held("role"));
}

TEST_F(EtcdCommand, DoctorExaminesTheMembers) {
    const auto doctor = pawl.run({"doctor"});
    EXPECT_THAT(doctor.out, HasSubstr("etcd 3."));
    EXPECT_THAT(doctor.out, HasSubstr("run 3 members"));
    EXPECT_THAT(doctor.out, HasSubstr("leader"));
}

TEST_F(EtcdCommand, AStoreThatIsAwayIsNamed) {
    cluster.kill9(0);
    const auto away = pawl.run({"run", "--wait", "0", "it", "--", "true"});
    EXPECT_EQ(away.code, 69);
    EXPECT_THAT(away.err, HasSubstr("etcd at 127.0.0.1:"));
}

}  // namespace
