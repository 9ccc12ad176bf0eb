// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl run --durable` and `pawl elect --durable`, with a replica that comes late.
#include "command.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace cli_test;

class Durable : public testing::Test {
protected:
    support::redis_options replica_options() const {
        return {.config = {"replicaof 127.0.0.1 " + std::to_string(server.port())}};
    }

    support::redis_server server{{.config = {"repl-diskless-sync-delay 0"}}};
    test_sandbox sandbox{server.url()};
};

// The last two are well-formed, but the lock file of this host has neither replicas nor an
// append-only file.
TEST(Durability, OfAnUnknownLevelIsRefused) {
    const test_sandbox local;
    for (const std::string level :
         {"always", "replicas", "replicas:", "replicas:0", "replicas:1001", "replicas:1", "disk"}) {
        for (const std::string verb : {"run", "elect"}) {
            const auto result = local.run({verb, "--durable", level, "x", "--", "true"});
            EXPECT_EQ(result.code, 64) << level << ": " << result.err;
            EXPECT_TRUE(result.err.ends_with(".\n")) << result.err;
        }
    }
    EXPECT_EQ(local.run({"run", "--durable", "replicas:0", "x", "--", "true"}).err,
              "pawl: '0' is not a number of replicas for --durable; use a whole number from 1 to "
              "1000, such as 1.\n");
}

TEST_F(Durable, RunStartsNothingWithoutTheReplica) {
    const auto result = sandbox.run(
        {"run", "--durable", "replicas:1", "--wait", "300ms", "x", "--", "echo", "started"});
    EXPECT_EQ(result.code, 69);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "pawl: The lock 'x' was granted, but only 0 of 1 replica acknowledged it in time, so "
              "it was released; see whether the replicas follow (INFO replication), or require "
              "fewer.\n");
    EXPECT_EQ(sandbox.run({"run", "--wait", "0", "x", "--", "true"}).code, 0) << "it is not free";
}

TEST_F(Durable, RunStartsTheCommandWhenTheReplicaHasTheLock) {
    const support::redis_server replica(replica_options());
    ASSERT_TRUE(support::eventually([&] {
        return server.execute({"INFO", "replication"}).text.find("state=online") !=
               std::string::npos;
    }));
    const auto result =
        sandbox.run({"run", "--durable", "replicas:1", "x", "--", "echo", "started"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "started\n");
}

// The candidate stands again until there is a replica.
TEST_F(Durable, ElectStandsAgain) {
    const auto candidate = sandbox.start(
        {"elect", "--durable", "replicas:1", "--ttl", "500ms", "x", "--", "echo", "leads"});
    ASSERT_TRUE(support::eventually(
        [&] { return candidate->err().find("0 of 1 replica acknowledged") != std::string::npos; }));
    const support::redis_server replica(replica_options());
    const auto result = candidate->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "leads\n");
}

}  // namespace
