// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a release says of a hold over several nodes.
#include "redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

//   A: holds the lock at five nodes | an operator takes it from A at nodes 1, 2 and 3, and A hears
//   nothing of it | B: acquires the lock there, and releases it
//   A: releases: nodes 4 and 5 still have its hold, the others have none | B had the lock meanwhile
TEST(RedlockRelease, IsTakenOverAfterAnotherHolderHasLeft) {
    for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
        redlock_programs set(5, 3, {}, 1, {.loses_messages = true});
        auto& first = set.acquire(*set.programs[0], {.ttl = 10s, .mode = mode});
        ASSERT_TRUE(set.run_until([&] { return first.outcome.has_value(); }));
        set.loop.run_for(100ms);
        for (const std::size_t node : {3U, 4U})
            for (const std::size_t program : {1U, 2U})
                set.networks[node]->cut_off(set.programs[program]->process);
        set.force_release(*set.programs[2]);
        ASSERT_TRUE(set.run_until([&] { return set.count_of() == 2; }));
        auto& second = set.acquire(*set.programs[1], {.ttl = 10s, .wait = 5s});
        ASSERT_TRUE(set.run_until([&] { return second.outcome.has_value(); }));
        ASSERT_TRUE(second.lock.owns_lock()) << second.messages.message();
        std::optional<release_result> of_second, of_first;
        set.release(*set.programs[1], second, of_second);
        ASSERT_TRUE(set.run_until([&] { return of_second.has_value(); }));
        EXPECT_EQ(of_second, release_result::released);
        set.release(*set.programs[0], first, of_first);
        ASSERT_TRUE(set.run_until([&] { return of_first.has_value(); }));
        EXPECT_EQ(of_first, release_result::taken_over);
    }
}

}  // namespace
}  // namespace pawl::simulation
