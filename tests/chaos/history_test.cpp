// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The checker of the chaos tests is tested first: a valid history passes, and each corruption of it
// is found.
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace {

using support::check_history;
using support::history;
using support::hold_record;

// Token i: called at 100 i, granted at 100 i + 40, released at 100 i + 90; two writes each. The
// next call comes before this release, as with waiters.
history valid_history() {
    history result;
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const auto at = static_cast<support::instant>(i) * 100;
        result.holds.push_back({.token = i * 3,
                                .invoked = at - 80,
                                .returned = at + 40,
                                .ended = at + 90,
                                .deadline = at + 400,
                                .lost = std::nullopt,
                                .owner = "user " + std::to_string(i)});
        result.writes.push_back({i * 3, at + 50});
        result.writes.push_back({i * 3, at + 60});
    }
    return result;
}

struct corruption {
    std::string name;
    std::string rule;
    std::function<void(history&)> corrupt;
};

void swap_tokens(history& recorded, std::size_t a, std::size_t b) {
    std::swap(recorded.holds[a].token, recorded.holds[b].token);
}

const corruption corruptions[] = {
    {"the same token twice in a row", "C1",
     [](history& h) { h.holds[5].token = h.holds[4].token; }},
    {"the same token far apart", "C1", [](history& h) { h.holds[19].token = h.holds[0].token; }},
    {"the same hold twice", "C1", [](history& h) { h.holds.push_back(h.holds[7]); }},
    {"two tokens swapped", "C2", [](history& h) { swap_tokens(h, 3, 6); }},
    {"the last has the smallest token", "C2", [](history& h) { h.holds[19].token = 1; }},
    {"the first has the largest token", "C2", [](history& h) { h.holds[0].token = 1000; }},
    {"a token goes back by one", "C2",
     [](history& h) { h.holds[10].token = h.holds[8].token - 1; }},
    {"a release believed too late", "C3",
     [](history& h) { h.holds[2].ended = h.holds[3].returned + 1; }},
    {"a holder that believes through the next two", "C3",
     [](history& h) { h.holds[2].ended = h.holds[4].ended + 1; }},
    {"a grant before the release", "C3", [](history& h) { h.holds[9].returned -= 60; }},
    {"two believe in the very same time", "C3",
     [](history& h) {
         hold_record twin = h.holds[5];
         twin.token += 1;
         h.holds.push_back(twin);
     }},
    {"a short belief within a long one", "C3",
     [](history& h) {
         hold_record inner = h.holds[5];
         inner.token += 1;
         inner.returned += 10;
         inner.ended -= 10;
         h.holds.push_back(inner);
     }},
    {"a write with an old token", "C4", [](history& h) { h.writes[10].token = h.writes[2].token; }},
    {"two writes in the wrong order", "C4",
     [](history& h) { std::swap(h.writes[5], h.writes[6]); }},
    {"a late write at the very end", "C4",
     [](history& h) {
         h.writes.push_back({3, 9999});
     }},
    {"a write with a token that nobody got", "C4", [](history& h) { h.writes[9].token += 1; }},
    {"a write from the future", "C4",
     [](history& h) {
         h.writes.push_back({1000, 9999});
     }},
    {"a write without a token", "C4", [](history& h) { h.writes[0].token = 0; }},
    {"a loss told one instant too late", "C5",
     [](history& h) { h.holds[6].lost = h.holds[6].deadline + 1; }},
    {"a loss told a ttl too late", "C5",
     [](history& h) { h.holds[19].lost = h.holds[19].deadline + 500; }},
    {"belief beyond the deadline", "C5",
     [](history& h) { h.holds[19].deadline = h.holds[19].returned + 10; }},
    {"an answer before the question", "C6",
     [](history& h) {
         h.holds[0].returned = 1;
         h.holds[0].ended = 2;
     }},
    {"an end before the beginning", "C6",
     [](history& h) { h.holds[4].ended = h.holds[4].invoked - 1; }},
    {"a hold without a token", "C6", [](history& h) { h.holds[0].token = 0; }},
};

TEST(History, SoundOnesPass) {
    EXPECT_TRUE(check_history({}).empty());
    EXPECT_TRUE(check_history(valid_history()).empty());
}

TEST(History, OrderOfRecordsDoesNotMatter) {
    history shuffled = valid_history();
    std::shuffle(shuffled.holds.begin(), shuffled.holds.end(), std::minstd_rand(3));
    EXPECT_TRUE(check_history(shuffled).empty());
    EXPECT_EQ(support::longest_gap(shuffled), 100);
}

TEST(History, LossInTimeAndEmptyBeliefPass) {
    history lucky = valid_history();
    lucky.holds[19].lost = lucky.holds[19].deadline;
    lucky.holds[3].ended = lucky.holds[3].invoked + 1;
    EXPECT_TRUE(check_history(lucky).empty());
}

TEST(History, EachCorruptionIsFound) {
    ASSERT_GE(std::size(corruptions), 20U);
    for (const corruption& each : corruptions) {
        history spoilt = valid_history();
        each.corrupt(spoilt);
        const auto violations = check_history(spoilt);
        EXPECT_TRUE(std::any_of(violations.begin(), violations.end(),
                                [&](const auto& it) { return it.rule == each.rule; }))
            << each.name << " is not found as " << each.rule;
    }
}

TEST(History, AMillionHoldsAreNoTrouble) {
    history large;
    for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
        const auto at = static_cast<support::instant>(i) * 10;
        large.holds.push_back({.token = i,
                               .invoked = at - 15,
                               .returned = at,
                               .ended = at + 9,
                               .deadline = at + 100,
                               .lost = std::nullopt,
                               .owner = {}});
    }
    EXPECT_TRUE(check_history(large).empty());
    large.holds[999'999].token = 1;
    EXPECT_FALSE(check_history(large).empty());
}

}  // namespace
