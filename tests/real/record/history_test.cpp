// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The checker is tested first: valid records pass, and each corruption of them is found.
#include "checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace {

using namespace real;

struct history {
    std::vector<hold_record> holds;
    std::vector<std::uint64_t> writes;  // their tokens
};

// Each write is of the hold with its token, after a read.
run_records records_of(const history& recorded) {
    run_records records{.locks = {{.holds = recorded.holds, .accesses = {}, .earlier = {}}}};
    records.are_stopped = false;
    auto& accesses = records.locks[0].accesses;
    access_record last;
    for (const auto token : recorded.writes)
        for (const auto kind : {access::read, access::write}) {
            last.kind = kind;
            last.hold = last.token = token;
            last.largest_writer = std::max(last.largest_writer, token);
            last.value += kind == access::write ? 1 : 0;
            accesses.push_back(last);
        }
    return records;
}

// Token i: called at 100 i, granted at 100 i + 40, released at 100 i + 90; two writes each. The
// next call comes before this release, as with waiters.
history valid_history() {
    history result;
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const auto at = static_cast<instant>(i) * 100;
        result.holds.push_back({.hold = i,
                                .token = i * 3,
                                .invoked = at - 80,
                                .returned = at + 40,
                                .believed = at + 90,
                                .deadline = at + 400});
        result.writes.insert(result.writes.end(), 2, i * 3);
    }
    return result;
}

struct corruption {
    std::string name;
    std::size_t verdict::*rule;
    std::function<void(history&)> corrupt;
};

void swap_tokens(history& recorded, std::size_t a, std::size_t b) {
    std::swap(recorded.holds[a].token, recorded.holds[b].token);
}

const corruption corruptions[] = {
    {"the same token twice in a row", &verdict::equal_tokens,
     [](history& h) { h.holds[5].token = h.holds[4].token; }},
    {"the same token far apart", &verdict::equal_tokens,
     [](history& h) { h.holds[19].token = h.holds[0].token; }},
    {"the same hold twice", &verdict::equal_tokens,
     [](history& h) { h.holds.push_back(h.holds[7]); }},
    {"two tokens swapped", &verdict::tokens_back, [](history& h) { swap_tokens(h, 3, 6); }},
    {"the last has the smallest token", &verdict::tokens_back,
     [](history& h) { h.holds[19].token = 1; }},
    {"the first has the largest token", &verdict::tokens_back,
     [](history& h) { h.holds[0].token = 1000; }},
    {"a token goes back by one", &verdict::tokens_back,
     [](history& h) { h.holds[10].token = h.holds[8].token - 1; }},
    {"a release believed too late", &verdict::overlaps,
     [](history& h) { h.holds[2].believed = h.holds[3].returned + 1; }},
    {"a holder that believes through the next two", &verdict::overlaps,
     [](history& h) { h.holds[2].believed = h.holds[4].believed + 1; }},
    {"a grant before the release", &verdict::overlaps,
     [](history& h) { h.holds[9].returned -= 60; }},
    {"two believe in the very same time", &verdict::overlaps,
     [](history& h) {
         hold_record twin = h.holds[5];
         twin.token += 1;
         h.holds.push_back(twin);
     }},
    {"a short belief within a long one", &verdict::overlaps,
     [](history& h) {
         hold_record inner = h.holds[5];
         inner.token += 1;
         inner.returned += 10;
         inner.believed -= 10;
         h.holds.push_back(inner);
     }},
    {"a write with an old token", &verdict::writes_back,
     [](history& h) { h.writes[10] = h.writes[2]; }},
    {"two writes in the wrong order", &verdict::writes_back,
     [](history& h) { std::swap(h.writes[5], h.writes[6]); }},
    {"a late write at the very end", &verdict::writes_back,
     [](history& h) { h.writes.push_back(3); }},
    {"a write with a token that nobody got", &verdict::contradictions,
     [](history& h) { h.writes[9] += 1; }},
    {"a write from the future", &verdict::contradictions,
     [](history& h) { h.writes.push_back(1000); }},
    {"a write without a token", &verdict::contradictions, [](history& h) { h.writes[0] = 0; }},
    {"a loss told one instant too late", &verdict::late_losses,
     [](history& h) { h.holds[6].lost = h.holds[6].deadline + 1; }},
    {"a loss told a ttl too late", &verdict::late_losses,
     [](history& h) { h.holds[19].lost = h.holds[19].deadline + 500; }},
    {"belief beyond the deadline", &verdict::late_beliefs,
     [](history& h) { h.holds[19].deadline = h.holds[19].returned + 10; }},
    {"an answer before the question", &verdict::contradictions,
     [](history& h) {
         h.holds[0].returned = 1;
         h.holds[0].believed = 2;
     }},
    {"an end before the beginning", &verdict::contradictions,
     [](history& h) { h.holds[4].believed = h.holds[4].invoked - 1; }},
    {"a hold without a token", &verdict::contradictions, [](history& h) { h.holds[0].token = 0; }},
};

void expect_valid(const history& recorded) {
    const auto outcome = check(records_of(recorded));
    EXPECT_EQ(outcome.violations(), 0U);
    for (const auto& each : outcome.details)
        ADD_FAILURE() << each;
}

TEST(History, SoundOnesPass) {
    expect_valid({});
    expect_valid(valid_history());
}

TEST(History, OrderOfRecordsDoesNotMatter) {
    history shuffled = valid_history();
    std::shuffle(shuffled.holds.begin(), shuffled.holds.end(), std::minstd_rand(3));
    expect_valid(shuffled);
    EXPECT_EQ(longest_gap(records_of(shuffled).locks[0]), 100);
}

TEST(History, LossInTimeAndEmptyBeliefPass) {
    history lucky = valid_history();
    lucky.holds[19].lost = lucky.holds[19].deadline;
    lucky.holds[3].believed = lucky.holds[3].invoked + 1;
    expect_valid(lucky);
}

TEST(History, EachCorruptionIsFound) {
    ASSERT_GE(std::size(corruptions), 20U);
    for (const corruption& each : corruptions) {
        history spoilt = valid_history();
        each.corrupt(spoilt);
        const auto outcome = check(records_of(spoilt));
        EXPECT_GT(outcome.*each.rule, 0U) << each.name << " is not found";
        EXPECT_GT(outcome.violations(), 0U) << each.name;
    }
}

TEST(History, AMillionHoldsAreNoTrouble) {
    history large;
    for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
        const auto at = static_cast<instant>(i) * 10;
        large.holds.push_back({.hold = i,
                               .token = i,
                               .invoked = at - 15,
                               .returned = at,
                               .believed = at + 9,
                               .deadline = at + 100});
    }
    expect_valid(large);
    large.holds[999'999].token = 1;
    EXPECT_GT(check(records_of(large)).violations(), 0U);
}

}  // namespace
