// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command on Consul: its verbs, and what it says when something is wrong.
#include "command.hpp"

#include <support/consul_server.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using cli_test::test_sandbox;

const support::consul_server& server() {
    static const support::consul_server one;
    return one;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(ConsulCommand, AHeldLockIsShownAndReleased) {
    const test_sandbox sandbox(server().url());
    const auto holder = sandbox.start({"run", "job", "--", "sleep", "1000"});
    ASSERT_TRUE(sandbox.eventually_held("job"));
    const auto busy = sandbox.run({"run", "--wait", "0", "job", "--", "true"});
    EXPECT_EQ(busy.code, 75) << busy.err;
    const auto shown = sandbox.run({"status", "job"});
    EXPECT_TRUE(has(shown.out, "sleep")) << shown.out << shown.err;
    EXPECT_TRUE(has(sandbox.run({"ls"}).out, "job"));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "job"}).code, 0);
    EXPECT_NE(holder->wait(std::chrono::seconds(60)).code, 0);
    EXPECT_FALSE(sandbox.is_held("job"));
}

TEST(ConsulCommand, ARunHasAToken) {
    const test_sandbox sandbox(server().url("?namespace=tokens"));
    const auto first = sandbox.run({"run", "job", "--", "sh", "-c", "echo $PAWL_TOKEN"});
    const auto second = sandbox.run({"run", "job", "--", "sh", "-c", "echo $PAWL_TOKEN"});
    EXPECT_LT(std::stoull(first.out), std::stoull(second.out));
}

TEST(ConsulCommand, ALeaderIsElected) {
    const test_sandbox sandbox(server().url("?namespace=election"));
    const auto leads = sandbox.start({"elect", "leader", "--", "sleep", "1000"});
    EXPECT_TRUE(sandbox.eventually_held("leader"));
}

TEST(ConsulCommand, DoctorExaminesTheService) {
    const test_sandbox sandbox(server().url());
    const auto examined = sandbox.run({"doctor"});
    EXPECT_TRUE(has(examined.out, "Consul 1.")) << examined.out << examined.err;
    EXPECT_TRUE(has(examined.out, "twice")) << examined.out;
}

TEST(ConsulCommand, WhatIsWrongHasASentence) {
    const test_sandbox sandbox(server().url());
    const auto brief = sandbox.run({"run", "--ttl", "5s", "job", "--", "true"});
    EXPECT_TRUE(has(brief.err, "between 10 s and 1 d")) << brief.err;
    const auto shared = sandbox.run({"run", "--shared", "job", "--", "true"});
    EXPECT_NE(shared.code, 0);
    const test_sandbox nowhere("consul://127.0.0.1:1");
    const auto away = nowhere.run({"status", "job"});
    EXPECT_TRUE(has(away.err, "cannot be reached")) << away.err;
}

}  // namespace
