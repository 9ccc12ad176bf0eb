// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One attempt to acquire locks at all nodes. Its requests share it, and may outlive the acquire.
#pragma once

#include "ballot.hpp"
#include "calls.hpp"
#include "contest.hpp"

#include "../common/acquire_attempt.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/wakeup.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::redlock {

struct attempt {
    enum class outcome : std::uint8_t { undecided, granted, abandoned };
    static constexpr core::pause_lengths pauses_of_split{.first = std::chrono::milliseconds(2),
                                                         .longest = std::chrono::milliseconds(100)};

    attempt(std::vector<requested_lock> all_locks, duration lease, std::size_t nodes,
            const backend_context& context)
        : locks(std::make_shared<const std::vector<requested_lock>>(std::move(all_locks))),
          ttl(lease),
          votes(nodes),
          rivals(locks->front().value, locks->front().is_shared(), nodes),
          split{.pauses = core::back_off(*context.time, pauses_of_split)},
          node_states(nodes),
          changed(*context.time, context.strand) {}

    // No node keeps anything of the attempt. What has not been answered is given back at once, too:
    // the nodes execute the requests of a connection in their order. Needs no memory.
    void abandon() noexcept {
        if (decision != outcome::undecided) return;
        decision = outcome::abandoned;
        for (auto& each : node_states)
            each.undo.reset();
    }
    // The nodes keep what they granted. A later undo could delete what a renewal has restored.
    void keep() noexcept {
        decision = outcome::granted;
        for (auto& each : node_states)
            if (each.undo) each.undo->set_state(redis::acquire_attempt::state::settled);
    }

    struct node_state {
        std::optional<redis::acquire_attempt> undo{};
        bool is_held = false;        // another hold has one of the locks
        std::int64_t left_ms = 0;    // of that hold; -1: no end
        bool is_given_back = false;  // it granted the locks when the attempt had ended
        std::string trouble{};       // why the node neither granted the locks nor refused them
        errc trouble_reason = errc::no_quorum;
        void fail(const error& failure) {
            trouble = failure.what();
            trouble_reason = failure.reason();
        }
        // It says whether the locks are free.
        [[nodiscard]] bool has_told() const noexcept { return is_held || is_given_back; }
    };

    const std::shared_ptr<const std::vector<requested_lock>> locks;
    const duration ttl;
    std::string ttl_ms{};
    std::string floor{};      // of the counters, the same for all nodes
    std::string client{};     // that waits; empty: none
    time_point give_up_at{};  // of the requests
    time_point sent_at{};     // before the first request; the lease counts from it
    time_point ends_by{};     // whatever is missing then
    // From when a node that has not answered is silent. Later, if some are asked again.
    time_point silent_from{};
    // When the nodes that have not answered are too late.
    [[nodiscard]] time_point answers_by() const noexcept { return std::min(silent_from, ends_by); }
    ballot votes;
    contest rivals;
    // Of a split: until when this attempt asks the refusing nodes again, and when it does so next.
    struct contention {
        time_point ends_at{};
        std::optional<time_point> judged_at{}, asks_again_at{};
        core::back_off pauses;
    };
    contention split;
    bool is_judged = false;                   // the refusals say why the attempt has failed
    std::optional<std::string> first_rank{};  // for which the attempt gives its nodes back
    std::vector<node_state> node_states;
    std::size_t confirmations_in_flight = 0;
    outcome decision = outcome::undecided;
    core::wakeup changed;
};

}  // namespace pawl::redlock
