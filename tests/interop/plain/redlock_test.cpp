// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Libraries with Redlock, and Pawl with redlock://…?fenced=no, on the same independent servers.
#include "crowd.hpp"
#include "libraries.hpp"

#include <support/eventually.hpp>
#include <support/redlock_group.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace {

using namespace plain;
using namespace std::chrono_literals;
using pawl::release_result;

class Redlock : public testing::TestWithParam<library> {
protected:
    static std::vector<std::uint16_t> ports_of(support::redlock_group& group) {
        std::vector<std::uint16_t> ports;
        for (std::size_t i = 0; i < group.node_count(); ++i)
            ports.push_back(group.node(i).port());
        return ports;
    }
    static void expect_no_overlap_over(std::size_t nodes);
};
INSTANTIATE_TEST_SUITE_P(Plain, Redlock, testing::ValuesIn(libraries_with_redlock()),
                         [](const auto& parameter) { return parameter.param.name; });

void Redlock::expect_no_overlap_over(std::size_t nodes) {
    support::redlock_group group(nodes);
    const auto ports = ports_of(group);
    crowd processes;
    for (int i = 0; i < 2; ++i) {
        processes.start_theirs({GetParam(), ports}, 10000);
        processes.start_ours({{"pawl", "", "", GetParam().key}, ports}, 10000);
    }
    EXPECT_TRUE(processes.has_held(400, 30));
    processes.end();
    std::cout << processes.summary(GetParam().name) << "\n";
}

TEST_P(Redlock, NoTwoHoldAtOnceOnThreeServers) { expect_no_overlap_over(3); }
TEST_P(Redlock, NoTwoHoldAtOnceOnFiveServers) { expect_no_overlap_over(5); }

// One of the nodes has lost the library's lock, which the others still exclude.
TEST_P(Redlock, AMajorityExcludes) {
    support::redlock_group group(3);
    const auto ports = ports_of(group);
    pawl::blocking::client locks(pawl::from_url(url_of(GetParam(), ports)));
    peer other(GetParam(), ports);
    const auto key = std::string(GetParam().key).replace(GetParam().key.find("{name}"), 6, "it");
    ASSERT_EQ(other.execute("take it 3600000"), "got");
    // Some libraries return when a majority has answered.
    for (std::size_t i = 0; i < 3; ++i)
        ASSERT_TRUE(support::eventually([&] {
            return group.node(i).execute({"EXISTS", key}).number() == 1;
        }));
    (void)group.node(0).execute({"DEL", key});
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = 60s}).owns_lock());
    EXPECT_EQ(other.execute("give"), "gave");
    auto lock = locks.acquire("it", {.ttl = 60s, .wait = 30s});
    EXPECT_EQ(other.execute("take it 3600000"), "busy");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(other.execute("wait it 3600000 20000"), "got");
}

}  // namespace
