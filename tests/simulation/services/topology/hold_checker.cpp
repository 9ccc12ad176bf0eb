// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "hold_checker.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// For how long a client uses an epoch without hearing of the node: `max_epoch_age` in
// cluster_node.cpp.
constexpr auto longest_known_epoch = 15s;

}  // namespace

void hold_checker::note_promotion(std::vector<std::string> names, const void* old_master,
                                  std::optional<std::uint64_t> epoch) {
    replacements_.push_back({std::move(names), old_master, epoch, loop_.now(), std::nullopt});
}

void hold_checker::note_demotion(const void* old_master) {
    for (auto& each : replacements_)
        if (each.old_master == old_master && !each.until) each.until = loop_.now();
}

bool hold_checker::is_replaced_near(const std::string& name, instant from, instant until,
                                    std::uint64_t lowest) const {
    return std::ranges::any_of(replacements_, [&](const replacement& each) {
        // The master of an epoch is replaced by one of a later epoch.
        const bool counts = !each.epoch || *each.epoch > lowest || lowest == 0;
        return counts && std::ranges::count(each.names, name) > 0 && each.from <= until &&
               (!each.until || *each.until >= from);
    });
}

bool hold_checker::has_lost_power_since(instant when) const {
    return std::ranges::any_of(power_losses_, [&](instant each) { return each >= when; });
}

bool hold_checker::may_have_old_epoch(const believed_hold& hold) const {
    return std::ranges::any_of(returns_, [&](const slot_return& each) {
        return each.name == hold.name && each.returned_at <= hold.granted_at &&
               hold.granted_at <= each.left_at + longest_known_epoch + longest_delay_;
    });
}

// The excuses: the new master may not know the first grant or, of a slot that moves, may have lost
// the keys that had moved to it already; and the replaced master, which has the earlier epoch, may
// have granted the second one. The grants of a lost master have an earlier epoch than every later
// one, also than those of a node to which the slot just moves.
void hold_checker::check_pair(const believed_hold& first, const believed_hold& second) {
    const auto pair = to_text(first, second);
    const bool is_shared_epoch =
        first.epoch() == second.epoch() && shared_epochs_.contains(first.epoch());
    if (first.token == second.token && !is_shared_epoch) fail("a token was issued twice: " + pair);
    if (first.granted_at >= second.requested_at) return;
    const bool is_ordered = first.token < second.token;
    if (!is_ordered && first.epoch() <= second.epoch() && !is_shared_epoch)
        fail("a token of the same or a later epoch is smaller: " + pair);
    if (!is_ordered && second.is_of_present_master)
        fail("a token of the present master is smaller than an earlier one: " + pair);
    if (!is_ordered &&
        !is_replaced_near(second.name, second.granted_at - longest_delay_, second.granted_at) &&
        !may_have_old_epoch(second))
        fail("a token went back without a failover: " + pair);
    // One master never grants a lock twice. But its holder may follow a later one, and then it ends
    // there.
    const auto lowest = first.epoch() == second.epoch() ? first.epoch() : 0;
    const bool overlap = first.is_believed_at(second.granted_at);
    if (overlap && !is_paused(first, second.granted_at) &&
        !is_replaced_near(first.name, first.granted_at - longest_lease_ - longest_delay_,
                          second.granted_at, lowest))
        fail("two holders of " + pair);
}

void hold_checker::check() {
    for (const auto& first : all())
        for (const auto& second : all())
            if (first != second && first->name == second->name) check_pair(*first, *second);
}

}  // namespace pawl::simulation
