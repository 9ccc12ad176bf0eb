// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis/common/recent_releases.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using pawl::redis::recent_releases;

constexpr pawl::time_point start{std::chrono::hours(1)};

pawl::redis::limits small_bounds() {
    pawl::redis::limits bounds;
    bounds.max_recent_releases = 3;
    bounds.recent_release_age = 10s;
    return bounds;
}

void add(recent_releases& releases, const std::string& name, pawl::time_point when) {
    pawl::spi::hold released;
    released.claim.name = name;
    released.grant.deadline = start + 1h;
    releases.add(released, when);
}

std::string names_at(const recent_releases& releases, pawl::time_point when) {
    std::string result;
    for (const auto& each : releases.at(when))
        result += each.claim.name;
    return result;
}

TEST(RecentReleases, KeepTheLastOnesInOrder) {
    recent_releases releases(small_bounds());
    EXPECT_EQ(names_at(releases, start), "");
    for (const auto* name : {"a", "b", "c", "d", "e"})
        add(releases, name, start);
    EXPECT_EQ(names_at(releases, start), "cde");
}

TEST(RecentReleases, ForgetTheOldOnesAndUseTheirMemory) {
    recent_releases releases(small_bounds());
    add(releases, "a", start);
    add(releases, "b", start + 5s);
    add(releases, "c", start + 11s);
    EXPECT_EQ(names_at(releases, start + 11s), "bc");
    add(releases, "d", start + 12s);
    EXPECT_EQ(names_at(releases, start + 12s), "bcd");
    EXPECT_EQ(names_at(releases, start + 16s), "cd");
    add(releases, "e", start + 30s);
    EXPECT_EQ(names_at(releases, start + 30s), "e");
}

}  // namespace
