// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "history.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace support {

namespace {

using holds_in_order = std::vector<const hold_record*>;

std::string to_text(const hold_record& hold) {
    return "token " + std::to_string(hold.token) + " of " +
           (hold.owner.empty() ? "somebody" : hold.owner) + " [" + std::to_string(hold.invoked) +
           ", " + std::to_string(hold.returned) + ", " + std::to_string(hold.ended) + "]";
}

template <class Key>
holds_in_order sorted_by(const history& recorded, Key key) {
    holds_in_order result;
    for (const hold_record& each : recorded.holds)
        result.push_back(&each);
    std::stable_sort(result.begin(), result.end(),
                     [&](const hold_record* a, const hold_record* b) { return key(*a) < key(*b); });
    return result;
}

void check_records(const history& recorded, std::vector<violation>& violations) {
    for (const hold_record& each : recorded.holds) {
        if (each.token == 0) violations.push_back({"C6", "no token: " + to_text(each)});
        if (each.returned < each.invoked || each.ended < each.invoked)
            violations.push_back({"C6", "ends before it begins: " + to_text(each)});
        if (each.lost && *each.lost > each.deadline)
            violations.push_back({"C5", "loss told " + std::to_string(*each.lost - each.deadline) +
                                            " ns after the deadline: " + to_text(each)});
        if (each.ended > std::max(each.deadline, each.returned))
            violations.push_back({"C5", "belief beyond the deadline: " + to_text(each)});
    }
}

void check_tokens(const history& recorded, std::vector<violation>& violations) {
    const auto by_token = sorted_by(recorded, [](const hold_record& each) { return each.token; });
    for (std::size_t i = 1; i < by_token.size(); ++i)
        if (by_token[i]->token == by_token[i - 1]->token)
            violations.push_back(
                {"C1", to_text(*by_token[i - 1]) + " and " + to_text(*by_token[i])});
    // From the largest token down: the earliest return among the larger ones.
    instant earliest = std::numeric_limits<instant>::max();
    const hold_record* earliest_hold = nullptr;
    for (std::size_t i = by_token.size(); i-- > 0;) {
        const hold_record& hold = *by_token[i];
        if (earliest < hold.invoked)
            violations.push_back({"C2", to_text(*earliest_hold) + " was granted before " +
                                            to_text(hold) +
                                            " was requested, and has the larger token"});
        if (hold.returned < earliest) {
            earliest = hold.returned;
            earliest_hold = &hold;
        }
    }
}

void check_belief(const history& recorded, std::vector<violation>& violations) {
    const auto by_start =
        sorted_by(recorded, [](const hold_record& each) { return each.returned; });
    const hold_record* last_to_end = nullptr;
    for (const hold_record* each : by_start) {
        // Lost before the acquire returned: the holder never believed in it.
        if (each->ended <= each->returned) continue;
        if (last_to_end != nullptr && each->returned < last_to_end->ended)
            violations.push_back({"C3", to_text(*last_to_end) + " and " + to_text(*each)});
        if (last_to_end == nullptr || each->ended > last_to_end->ended) last_to_end = each;
    }
}

void check_writes(const history& recorded, std::vector<violation>& violations) {
    std::unordered_set<std::uint64_t> granted_tokens;
    for (const hold_record& each : recorded.holds)
        granted_tokens.insert(each.token);
    std::uint64_t newest = 0;
    for (const write_record& each : recorded.writes) {
        if (each.token < newest)
            violations.push_back({"C4", "a write with token " + std::to_string(each.token) +
                                            " after one with " + std::to_string(newest)});
        if (!granted_tokens.contains(each.token))
            violations.push_back(
                {"C4", "a write with token " + std::to_string(each.token) + ", which nobody got"});
        newest = std::max(newest, each.token);
    }
}

}  // namespace

std::vector<violation> check_history(const history& recorded) {
    std::vector<violation> violations;
    check_records(recorded, violations);
    check_tokens(recorded, violations);
    check_belief(recorded, violations);
    check_writes(recorded, violations);
    return violations;
}

instant longest_gap(const history& recorded) {
    const auto by_start =
        sorted_by(recorded, [](const hold_record& each) { return each.returned; });
    instant longest = 0;
    for (std::size_t i = 1; i < by_start.size(); ++i)
        longest = std::max(longest, by_start[i]->returned - by_start[i - 1]->returned);
    return longest;
}

}  // namespace support
