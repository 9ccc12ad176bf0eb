// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "experiments.hpp"

#include <algorithm>

namespace real::orders {

namespace {

constexpr const char* replication = "replication";

}  // namespace

const std::vector<experiment>& experiments() {
    static const std::vector<experiment> all{
        {"lock", "lock", story::verification, nullptr,
         "The record alone keeps the result right. Without the lock, callers poll the record.",
         &vain_work::polls},
        {"look", "look", story::verification, nullptr,
         "The claim alone keeps the result right. Without the look, each replay claims in vain.",
         &vain_work::refused},
        {"record", "record,unique", story::creation, "orders made twice",
         "Without the record alone, the unique constraint refuses the second order."},
        {"record,key", "record,key", story::verification, "effects twice outside",
         "Without the record alone, the outside recognises the second effect by its key."},
        {"token", "token,unique", story::creation, "orders made twice",
         "Without the token alone, the unique constraint refuses the order of a late attempt."},
        {"unique", "unique", story::sale, "orders made twice",
         "The order of the sale has no other record than its unique constraint."},
        {"key", "key", story::verification, "effects twice outside",
         "An attempt after a crash repeats the effect, with a larger token."},
        {"fence", "key,fence", story::verification, "tokens fell at the outside",
         "Without the fence alone, the outside recognises a late effect by its key."},
        {"reconciliation", "reconciliation", story::creation, "operations never ended",
         "Nobody calls again for some orders whose process was killed."},
        {replication, "", story::creation, "told, and lost or told differently",
         "With asynchronous replication, a failover of the database loses its last commits."},
        {"everything", "lock,record,look,token,unique,key,fence,reconciliation", story::creation,
         "orders made twice", "The shop's code alone."}};
    return all;
}

const experiment* experiment_of(const std::string& without) {
    const auto& all = experiments();
    const auto same = std::ranges::find_if(all, [&](const auto& each) {
        return each.layer == without || (each.without == without && !without.empty());
    });
    return same == all.end() ? nullptr : &*same;
}

run_options options_of(const experiment& shown, std::size_t orders, std::uint64_t seed) {
    return {.story = shown.story,
            .without = shown.without,
            .is_synchronous = std::string(shown.layer) != replication,
            .orders = orders,
            .seed = seed};
}

std::size_t count_of(const run_result& result, const std::string& rule) {
    const auto entry = std::ranges::find(result.rules, rule, &audit_rule::name);
    return entry == result.rules.end() ? 0 : entry->count;
}

std::vector<std::string> complaints(const run_result& result) {
    std::vector<std::string> all;
    for (const auto& rule : result.rules)
        if (rule.count != 0)
            all.push_back(std::string(to_string(result.options.story)) + ": " + rule.name + ": " +
                          std::to_string(rule.count) + " (" + rule.examples + ")");
    return all;
}

std::vector<std::string> complaints(const experiment& shown, const run_result& result,
                                    std::size_t least) {
    const std::string name = "without " + std::string(shown.layer);
    if (shown.rule == nullptr) {
        auto all = complaints(result);
        for (auto& each : all)
            each = name + ", which must do no damage: " + each;
        const auto orders = result.options.orders;
        if (const auto times = result.vain.*shown.vain; times < orders / 2)
            all.push_back(name + ": " + std::to_string(times) + " statements in vain for " +
                          std::to_string(orders) + " orders, so the layer saves nothing");
        return all;
    }
    const auto count = count_of(result, shown.rule);
    if (count >= least) return {};
    return {name + ": \"" + shown.rule + "\" is " + std::to_string(count) + ", and at least " +
            std::to_string(least) + " was expected: the faults do not bite"};
}

std::vector<std::string> missing_faults(const std::vector<run_result>& results, std::size_t least) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < fault_cases.size(); ++i) {
        std::size_t hits = 0;
        for (const auto& each : results)
            hits += each.hits.at(i);
        if (hits < least)
            all.push_back("\"" + std::string(fault_cases.at(i).name) + "\" met " +
                          std::to_string(hits) + " orders, and at least " + std::to_string(least) +
                          " was expected");
    }
    return all;
}

}  // namespace real::orders
