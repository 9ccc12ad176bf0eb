// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl ls` and `watch` at a cluster of which one node does not answer.
#include "command.hpp"

#include <support/cluster_group.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;
using testing::HasSubstr;

class ClusterCommand : public testing::Test {
protected:
    support::cluster_group group{{.node_timeout = 60s, .full_coverage = false}};
    const test_sandbox sandbox{group.url("?connect_timeout=1000&reply_timeout=1000")};
    const std::string first = group.name_on(0), second = group.name_on(1);
};

TEST_F(ClusterCommand, LsShowsTheLocksOfTheNodesThatAnswer) {
    const auto holder = sandbox.start({"run", first, "--ttl", "60s", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held(first));
    group.node(1).freeze();
    const auto names = sandbox.run({"ls", "--names"});
    EXPECT_EQ(names.code, 69);
    EXPECT_EQ(names.out, first + "\n");
    EXPECT_THAT(names.err, HasSubstr("pawl: The list lacks the locks of 1 of 3 servers: "));
    const auto json = sandbox.run({"ls", "--json"});
    EXPECT_EQ(json.code, 69);
    EXPECT_EQ(from_json(json.out, "it[0]['name']"), first);
}

TEST_F(ClusterCommand, WatchKeepsTheLocksOfANodeThatIsAway) {
    const auto of_first = sandbox.start({"run", first, "--ttl", "60s", "--", "sleep", "600"});
    const auto of_second = sandbox.start({"run", second, "--ttl", "60s", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held(first) && sandbox.eventually_held(second));
    const auto watcher = sandbox.start({"watch", "--interval", "100ms"});
    ASSERT_TRUE(support::eventually([&] {
        return watcher->out().find(second + "  held") != std::string::npos;
    })) << watcher->out();
    group.node(1).freeze();
    ASSERT_TRUE(support::eventually(
        [&] { return watcher->err().find("1 of 3 servers") != std::string::npos; }));
    EXPECT_EQ(watcher->out().find("freed"), std::string::npos) << watcher->out();
    group.node(1).thaw();
}

}  // namespace
