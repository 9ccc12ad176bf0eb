// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis/common/recent_releases.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using pawl::redis::recent_releases;

constexpr pawl::time_point first_release{std::chrono::hours(1)};

pawl::redis::limits small_bounds() {
    pawl::redis::limits bounds;
    bounds.max_recent_releases = 3;
    bounds.recent_release_age = 10s;
    return bounds;
}

void add(recent_releases& releases, const std::string& name, pawl::time_point when) {
    pawl::spi::hold released;
    released.claim.name = name;
    released.grant.deadline = first_release + 1h;
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
    EXPECT_EQ(names_at(releases, first_release), "");
    for (const auto* name : {"a", "b", "c", "d", "e"})
        add(releases, name, first_release);
    EXPECT_EQ(names_at(releases, first_release), "cde");
}

TEST(RecentReleases, ForgetTheOldOnesAndUseTheirMemory) {
    recent_releases releases(small_bounds());
    add(releases, "a", first_release);
    add(releases, "b", first_release + 5s);
    add(releases, "c", first_release + 11s);
    EXPECT_EQ(names_at(releases, first_release + 11s), "bc");
    add(releases, "d", first_release + 12s);
    EXPECT_EQ(names_at(releases, first_release + 12s), "bcd");
    EXPECT_EQ(names_at(releases, first_release + 16s), "cd");
    add(releases, "e", first_release + 30s);
    EXPECT_EQ(names_at(releases, first_release + 30s), "e");
}

}  // namespace
