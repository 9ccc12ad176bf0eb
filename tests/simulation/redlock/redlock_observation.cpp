// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What must be true at any time while a scenario with Redlock runs.
#include "redlock_scenario.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr auto observation_pause = 50ms;
// How long a node may keep a lock of nobody, or a waiter may wait for a free lock, when nothing
// disturbs them. Clients that have tried at the same time pause for up to half a second; a client
// that nobody tells tries again after about one second.
constexpr auto longest_orphan = 1500ms;
constexpr auto longest_neglect = 800ms;
// A longer round trip is that of a far node.
constexpr auto longest_quick_trip = 50ms;
// Beside the lease, until a client has noticed that it has lost its nodes.
constexpr auto longest_ignorance = 1500ms;

}  // namespace

void redlock_scenario::observe() {
    loop_.schedule_after(observation_pause, [this] {
        if (is_over_) return;
        observe_holds();
        for (const auto& name : redlock_server::names())
            observe_lock(name);
        observe();
    });
}

// A program that has its lock at a minority only, and for a lease, must know it.
void redlock_scenario::observe_holds() {
    for (const auto& each : holds_.all()) {
        if (each->ended_at) continue;
        if (nodes_.count_nodes_with(each->name, each->label) >= plan_.majority()) {
            each->missing_since.reset();
            continue;
        }
        if (!each->missing_since) each->missing_since = loop_.now();
        const auto& by = *static_cast<const program*>(each->program);
        const auto most = instant(plan_.longest_ttl) + longest_ignorance;
        if (loop_.now() - *each->missing_since > most && !by.process.is_paused() &&
            !holds_.was_paused(&by, *each->missing_since))
            fail("a holder of " + each->name + " does not know of the loss");
    }
}

void redlock_scenario::observe_lock(const std::string& name) {
    auto& seen = observations_[name];
    if (!plan_.is_gentle() || holds_.is_forced_near(name, loop_.now() - 2s)) {
        seen = {};
        return;
    }
    const bool is_anywhere = nodes_.is_locked_anywhere(name);
    const bool is_believed = std::ranges::any_of(
        holds_.all(), [&](const auto& each) { return each->name == name && !each->ended_at; });
    const bool is_wanted = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.size() == 1 && each->names.front() == name;
    });
    const bool is_tried = std::ranges::any_of(
        attempts_, [&](const auto& each) { return std::ranges::count(each->names, name) > 0; });
    const auto lasts = [&](std::optional<instant>& from, bool is_true, instant most) {
        if (!is_true) from.reset();
        if (is_true && !from) from = loop_.now();
        return is_true && loop_.now() - *from > most;
    };
    const auto far = plan_.longest_round_trip();
    if (lasts(seen.nobody_has_it, is_anywhere && !is_believed && !is_tried,
              longest_orphan + 4 * far))
        fail("nobody has the lock " + name + ", but a node keeps it");
    // A hold shows that the quarantine of the new set is over.
    const bool may_vote = (far > longest_quick_trip && plan_.is_asserted_new) ||
                          std::ranges::any_of(holds_.all(), [&](const auto& each) {
                              return loop_.now() - each->granted_at > 2s;
                          });
    // Attempts that come to nothing have far nodes for a while. A set may have one of its locks,
    // and wait for the other.
    const bool is_of_set = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.size() > 1 && std::ranges::count(each->names, name) > 0;
    });
    const bool is_taken =
        far > longest_quick_trip && !is_of_set ? is_believed : is_believed || is_anywhere;
    if (lasts(seen.nobody_gets_it, may_vote && !is_taken && is_wanted, longest_neglect + 12 * far))
        fail("somebody waits for the lock " + name + ", which is free");
}

}  // namespace pawl::simulation
