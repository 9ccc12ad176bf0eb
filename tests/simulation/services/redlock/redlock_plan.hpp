// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenario of one seed with Redlock: its nodes, its programs, and which faults it has.
#pragma once

#include "../../bugs/redlock_bugs.hpp"
#include "../../server/simulated_network.hpp"

#include <pawl/redlock.hpp>
#include <redis/common/limits.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

struct redlock_plan {
    std::uint64_t seed = 0;
    redlock_bug bug = redlock_bug::none;
    std::size_t node_count = 3;
    std::size_t program_count = 3;
    std::size_t users_per_program = 1;
    bool is_asserted_new = false;  // an operator begins the set, without a quarantine
    bool breaks = false;           // connections break, messages are slow or late
    bool forgets = false;          // nodes restart, with and without their data, or are flushed
    bool forgets_in_turn = false;  // a majority of them, one after the other
    bool loses_messages = false;   // a holder hears nothing of a forced release
    bool loses_majority = false;   // also so many at once that the set forgets its tokens
    bool stops_nodes = false;      // nodes are down or frozen for a while
    std::size_t evictions = 0;     // of single keys, in each round
    bool moves_clocks = false;     // the clocks of a minority jump
    bool partitions = false;       // programs are cut off from some of the nodes
    bool pauses = false;           // programs are stopped for a while
    bool forces = false;           // an operator takes locks from their holders
    bool restarts_set = false;     // an operator begins a set anew that was good
    bool dies = false;             // a program is killed
    bool has_sets = false;         // some users acquire several locks at once
    bool has_readers = false;      // some users read, and some writers become readers
    bool has_unfenced = false;     // some users want no token
    bool replaces_servers =
        false;                   // another server gets a node's name, and the earlier one lives on
    bool has_sentinels = false;  // Sentinels give it the name; otherwise a balancer or a DNS does
    bool rolls_back = false;     // nodes get older data back while they run
    // The programs know the time of the nodes. Their clocks would hide errors with the counters.
    bool shows_clocks = false;
    std::vector<double> clock_rates{};  // of the nodes
    bool has_contests = false;          // many programs try once, at the same time
    bool has_other_names = false;       // a client names the same nodes in another way
    bool judges_releases = false;       // what a release says of its hold
    bool awaits_releases = false;       // the programs wait for what their releases say
    bool forces_by_token = false;       // the operator names the token that it has seen
    bool judges_renewals = false;       // a renewal that a node executes late prolongs nothing
    std::vector<instant> distances{};   // of the nodes, one way, beside the network's latency
    duration clock_difference = std::chrono::seconds(1);  // of the nodes, at the beginning
    duration ttl_max{}, shortest_ttl{}, longest_ttl{};
    instant longest_hold{};
    network_faults network{};
    redis::limits limits{};

    // No fault makes a hold end early, or an acquire fail.
    [[nodiscard]] bool is_gentle() const noexcept {
        return !breaks && !forgets && !forgets_in_turn && !stops_nodes && evictions == 0 &&
               !moves_clocks && !partitions && !pauses && !restarts_set && !dies &&
               !replaces_servers && !rolls_back && !judges_releases;
    }
    [[nodiscard]] std::size_t majority() const noexcept { return node_count / 2 + 1; }
    [[nodiscard]] network_faults network_of(std::size_t node) const {
        auto result = network;
        result.latency_low += distances.empty() ? instant() : distances[node];
        result.latency_high += distances.empty() ? instant() : distances[node];
        return result;
    }
    [[nodiscard]] instant longest_round_trip() const {
        return distances.empty() ? instant() : 2 * *std::ranges::max_element(distances);
    }
    // How long a node that joins does not vote, by its clock.
    [[nodiscard]] instant quarantine() const noexcept {
        return ttl_max + ttl_max / 10 + std::chrono::milliseconds(10);
    }
};

// A fault that a scenario has if it is wanted.
enum class redlock_fault : std::uint8_t {
    two_servers,
    roll_back,
    contests,
    far_nodes,
    other_names,
    releases,
    late_renewals
};
inline constexpr std::array redlock_fault_names{
    std::pair{redlock_fault::two_servers, std::string_view("two-servers")},
    std::pair{redlock_fault::roll_back, std::string_view("roll-back")},
    std::pair{redlock_fault::contests, std::string_view("contests")},
    std::pair{redlock_fault::far_nodes, std::string_view("far-nodes")},
    std::pair{redlock_fault::other_names, std::string_view("other-names")},
    std::pair{redlock_fault::releases, std::string_view("releases")},
    std::pair{redlock_fault::late_renewals, std::string_view("late-renewals")}};
using redlock_faults = std::set<redlock_fault>;

[[nodiscard]] redlock_plan make_redlock_plan(std::uint64_t seed, redlock_bug bug,
                                             const redlock_faults& wanted = {});

}  // namespace pawl::simulation
