// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_plan.hpp"

#include "../../kernel/prng.hpp"

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

void plan_network(redlock_plan& result, prng& random) {
    auto& net = result.network;
    net.pushes_overtake = random.happens(0.5);
    if (!result.breaks) return;
    net.break_on_request = net.break_on_reply = 0.005;
    net.unnoticed_break = 0.2;
    net.late_delivery = 0.5;
    net.longest_late_delay = random.happens(0.5) ? 300ms : 3s;
    net.slow_message = random.happens(0.5) ? 0.02 : 0.2;
    net.longest_delay = random.happens(0.5) ? 100ms : 600ms;
}

// Tiny limits, so that each of them is reached.
void plan_bounds(redlock_plan& result, prng& random) {
    if (!random.happens(0.25)) return;
    auto& limits = result.limits;
    if (random.happens(0.5)) limits.max_undos = static_cast<std::size_t>(random.between(1, 3));
    if (random.happens(0.5)) limits.max_concurrent_undos = 1;
    if (random.happens(0.5)) limits.renewals_per_script = 1;
}

// A minority of the clocks may be as wrong as it likes; the drift covers the errors of the others.
void plan_clocks(redlock_plan& result, prng& random) {
    for (std::size_t i = 0; i < result.node_count; ++i) {
        const bool is_wrong =
            result.moves_clocks && i + result.majority() < result.node_count && random.happens(0.5);
        const auto rate = is_wrong ? random.between(600, 1800) : random.between(996, 1004);
        result.clock_rates.push_back(static_cast<double>(rate) / 1000);
    }
}

// The programs of a scenario do not all reach the same servers.
void plan_two_servers(redlock_plan& result, prng& random) {
    result.replaces_servers = true;
    result.has_sentinels = random.happens(0.5);
    result.partitions = random.happens(0.6);
    result.program_count = 3;
}

// The clocks keep the tokens in order, so they must be right.
void plan_roll_back(redlock_plan& result) {
    result.rolls_back = result.shows_clocks = true;
    result.moves_clocks = false;
    result.clock_difference = {};
}

// No fault, so that every failure is one of the clients.
void plan_calm(redlock_plan& result) {
    result.is_asserted_new = true;
    result.breaks = result.forgets = result.forgets_in_turn = result.loses_majority = false;
    result.loses_messages = result.stops_nodes = result.moves_clocks = result.partitions = false;
    result.pauses = result.forces = result.restarts_set = result.dies = false;
    result.evictions = 0;
}

void plan_distances(redlock_plan& result, prng& random, instant longest) {
    for (std::size_t i = 0; i < result.node_count; ++i)
        result.distances.emplace_back(random.happens(0.2) ? 0 : random.between(0, longest.count()));
}

// Until after a frozen majority has gone on, clients may have ended. They know the nodes' clocks
// from the handshakes: otherwise the first renewal has no end.
void plan_late_renewals(redlock_plan& result) {
    result.judges_renewals = result.shows_clocks = true;
    result.stops_nodes = true;
    result.moves_clocks = false;
    result.longest_hold = 2s;
}

void plan_releases(redlock_plan& result) {
    result.judges_releases = true;
    result.forces = result.loses_messages = true;
    result.node_count = 5;
    result.program_count = 3;
    result.longest_hold = 400ms;
}

void plan_wanted(redlock_plan& result, prng& random, const redlock_faults& wanted) {
    const bool has_contests = wanted.contains(redlock_fault::contests);
    const bool has_other_names = wanted.contains(redlock_fault::other_names);
    const bool is_far = wanted.contains(redlock_fault::far_nodes);
    const bool judges_releases = wanted.contains(redlock_fault::releases);
    if (has_contests || has_other_names || is_far || judges_releases) plan_calm(result);
    if (wanted.contains(redlock_fault::two_servers)) plan_two_servers(result, random);
    if (wanted.contains(redlock_fault::roll_back)) plan_roll_back(result);
    if (judges_releases) plan_releases(result);
    if (wanted.contains(redlock_fault::late_renewals)) plan_late_renewals(result);
    if (has_contests) {
        result.has_contests = true;
        result.program_count = static_cast<std::size_t>(random.between(2, 5));
    }
    if (has_other_names) {
        result.has_other_names = true;
        result.has_sentinels = random.happens(0.6);
    }
    // A round trip of up to a quarter of the ttl leaves time for three of them.
    if (is_far) plan_distances(result, random, result.shortest_ttl / 8);
    if (has_contests && !is_far) plan_distances(result, random, 5ms);
}

// Each of these faults changes the whole plan, so a scenario has one of them, or none.
redlock_faults one_or_none(prng& random) {
    if (!random.happens(0.35)) return {};
    return {redlock_fault_names.at(random.below(redlock_fault_names.size())).first};
}

// Without them the bug does nothing.
redlock_faults faults_for(redlock_bug bug) {
    switch (bug) {
    case redlock_bug::memory_raised:
    case redlock_bug::memory_raised_at_masters: return {redlock_fault::two_servers};
    case redlock_bug::floor_ignored: return {redlock_fault::roll_back};
    case redlock_bug::split_called_taken: return {redlock_fault::contests};
    case redlock_bug::renewal_cut_short: return {redlock_fault::far_nodes};
    case redlock_bug::other_set_taken_for_loss: return {redlock_fault::other_names};
    case redlock_bug::successor_not_noticed:
    case redlock_bug::loss_at_release_untold: return {redlock_fault::releases};
    case redlock_bug::late_renewals_extend: return {redlock_fault::late_renewals};
    default: return {};
    }
}

// The same for what is no fault of its own.
void add_faults_for(redlock_plan& result) {
    switch (result.bug) {
    case redlock_bug::memory_raised: result.has_sentinels = false; break;
    case redlock_bug::memory_raised_at_masters: result.has_sentinels = true; break;
    case redlock_bug::force_ignores_token:
        plan_calm(result);
        result.forces = result.forces_by_token = true;
        break;
    case redlock_bug::silence_taken_for_loss:
        plan_calm(result);
        result.forgets = result.stops_nodes = true;
        break;
    case redlock_bug::counter_from_zero: result.evictions = 8; break;
    case redlock_bug::never_confirms:  // the counters of a majority differ, and another is asked
        result.evictions = 8;
        result.partitions = true;
        result.longest_hold = 400ms;
        break;
    case redlock_bug::reader_confirmed_unseen:
        result.evictions = 8;
        result.has_readers = true;
        break;
    case redlock_bug::validity_from_reply:
        result.network.slow_message = 0.2;
        result.network.longest_delay = 600ms;
        break;
    default: break;
    }
}

}  // namespace

redlock_plan make_redlock_plan(std::uint64_t seed, redlock_bug bug, const redlock_faults& wanted) {
    prng random(seed ^ 0x8ED1'0CC0'0000'0000U);
    redlock_plan result;
    result.seed = seed;
    result.bug = bug;
    result.node_count = random.happens(0.3) ? 5 : 3;
    result.program_count = static_cast<std::size_t>(random.between(2, 3));
    result.users_per_program = static_cast<std::size_t>(random.between(1, 2));
    result.is_asserted_new = random.happens(0.5);
    result.breaks = random.happens(0.3);
    result.forgets = random.happens(0.45);
    result.loses_majority = result.forgets && random.happens(0.3);
    result.forgets_in_turn = random.happens(0.15);
    result.stops_nodes = random.happens(0.3);
    result.evictions = random.happens(0.15) ? 1 : 0;
    result.moves_clocks = random.happens(0.2);
    result.partitions = random.happens(0.25);
    result.pauses = random.happens(0.2);
    result.forces = random.happens(0.25);
    result.loses_messages = result.forces && random.happens(0.5);
    result.restarts_set = random.happens(0.08);
    if (result.restarts_set) result.moves_clocks = random.happens(0.5);
    result.dies = random.happens(0.1);
    result.has_sets = random.happens(0.3);
    result.has_readers = random.happens(0.5);
    result.ttl_max = random.happens(0.5) ? 1s : 2s;
    result.shortest_ttl = result.ttl_max / 2;
    result.longest_ttl = result.ttl_max;
    result.longest_hold = random.happens(0.4) ? 400ms : random.happens(0.5) ? 2s : 6s;
    prng more_random(seed ^ 0x2'5E4'7E45'0000'0000U);
    result.shows_clocks = bug == redlock_bug::none && more_random.happens(0.5);
    prng user_random(seed ^ 0x05E4'0000'0000'0000U);
    result.has_unfenced = bug == redlock_bug::none && user_random.happens(0.2);
    prng fault_random(seed ^ 0xFA'017'0000'0000U);
    auto faults = wanted;
    faults.merge(bug == redlock_bug::none && wanted.empty() ? one_or_none(fault_random)
                                                            : faults_for(bug));
    plan_wanted(result, more_random, faults);
    result.awaits_releases = more_random.happens(0.5);
    result.forces_by_token = more_random.happens(0.5);
    plan_network(result, random);
    plan_bounds(result, random);
    plan_clocks(result, random);
    add_faults_for(result);
    return result;
}

}  // namespace pawl::simulation
