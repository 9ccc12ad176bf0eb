// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs injected into Redlock, to show that its scenarios find them. Some change the scripts of the
// nodes, the others what a client sends to a node or hears from it.
#pragma once

#include <pawl/spi/backend.hpp>
#include <redis/topology/topology.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::simulation {

enum class redlock_bug : std::uint8_t {
    none,
    // In the scripts.
    counter_from_zero,         // a missing counter is 0, not the node's highest token
    counters_of_earlier_run,   // `joined` is ignored: an old counter counts
    highest_not_raised,        // a node forgets its highest token with the counter
    restart_not_noticed,       // a node with the data of an earlier run votes
    joins_with_low_floor,      // a node that joins does not get the others' highest token
    votes_without_quarantine,  // a node votes as soon as it has joined
    acquires_beside_holder,    // a node grants a lock that is not free
    deletes_any_lock,          // a release does not compare the owner
    locks_without_expiry,      // a node keeps the lock of a dead client
    release_wakes_nobody,      // the next waiter is not told
    barrier_below_counters,    // a forced release does not ask for the counters
    barrier_not_raised,        // a forced release only deletes the locks
    // In the scripts of readers.
    reads_beside_writer,          // a node grants a reader although a writer has the lock
    writer_renews_over_readers,   // a writer that has lost its key takes the readers' one
    readers_end_with_first,       // a node keeps all readers as long as the one of the last request
    reader_confirmed_unseen,      // a node confirms a reader that it does not have any more
    reader_renewed_after_writer,  // a missing reader comes back although a later writer was there
    release_ends_all_readers,     // a reader's release frees the lock for a writer
    reader_takes_old_counter,     // a new group of readers has the token of the holder before
    forced_release_spares_readers,  // a forced release takes the lock from writers only
    // In the scripts. Each leaves out one rule of a decision.
    floor_ignored,             // the clocks are no floor of the counters (decision 035)
    other_set_taken_for_loss,  // a membership of another set counts as none
    late_renewals_extend,      // a renewal that is executed after its end counts (decision 036)
    successor_not_noticed,     // a release does not look at the counter
    // In the client's requests, and in what it hears.
    never_confirms,             // a majority is enough, whatever its counters are
    undoes_grants,              // an undo follows a grant that was kept
    reuses_owners,              // all attempts of a client have the same owner
    counts_answers_of_rounds,   // a node that is silent counts as it answered the last renewal
    takes_silence_for_consent,  // a node that is silent has extended the hold
    begins_from_zero,           // a new set does not read the clocks
    drops_wakes,                // the message that a lock is free is lost
    validity_from_reply,        // a hold lasts from the answer, not from the request
    one_token_for_several,      // several locks get the largest of their tokens
    // In what it hears. Each leaves out one rule of a decision.
    memory_raised,             // a replaced memory is taken for the latest one (decision 034),
    memory_raised_at_masters,  // also if Sentinels have replaced it
    split_called_taken,        // attempts that split the nodes are told of a holder (decision 037)
    renewal_cut_short,         // an answer after a tenth of the ttl is dropped (decision 036)
    silence_taken_for_loss,    // a node that gives no answer has forgotten its membership
    loss_at_release_untold,    // a release that finds the hold gone tells nobody (decision 038)
    force_ignores_token        // a forced release ignores the expected token
};

inline constexpr std::array redlock_bug_names{
#define PAWL_BUG(name) std::pair{redlock_bug::name, std::string_view(#name)}
    PAWL_BUG(counter_from_zero),
    PAWL_BUG(counters_of_earlier_run),
    PAWL_BUG(highest_not_raised),
    PAWL_BUG(restart_not_noticed),
    PAWL_BUG(joins_with_low_floor),
    PAWL_BUG(votes_without_quarantine),
    PAWL_BUG(acquires_beside_holder),
    PAWL_BUG(deletes_any_lock),
    PAWL_BUG(locks_without_expiry),
    PAWL_BUG(release_wakes_nobody),
    PAWL_BUG(barrier_below_counters),
    PAWL_BUG(barrier_not_raised),
    PAWL_BUG(reads_beside_writer),
    PAWL_BUG(writer_renews_over_readers),
    PAWL_BUG(readers_end_with_first),
    PAWL_BUG(reader_confirmed_unseen),
    PAWL_BUG(reader_renewed_after_writer),
    PAWL_BUG(release_ends_all_readers),
    PAWL_BUG(reader_takes_old_counter),
    PAWL_BUG(forced_release_spares_readers),
    PAWL_BUG(floor_ignored),
    PAWL_BUG(other_set_taken_for_loss),
    PAWL_BUG(late_renewals_extend),
    PAWL_BUG(successor_not_noticed),
    PAWL_BUG(never_confirms),
    PAWL_BUG(undoes_grants),
    PAWL_BUG(reuses_owners),
    PAWL_BUG(counts_answers_of_rounds),
    PAWL_BUG(takes_silence_for_consent),
    PAWL_BUG(begins_from_zero),
    PAWL_BUG(drops_wakes),
    PAWL_BUG(validity_from_reply),
    PAWL_BUG(one_token_for_several),
    PAWL_BUG(memory_raised),
    PAWL_BUG(memory_raised_at_masters),
    PAWL_BUG(split_called_taken),
    PAWL_BUG(renewal_cut_short),
    PAWL_BUG(silence_taken_for_loss),
    PAWL_BUG(loss_at_release_untold),
    PAWL_BUG(force_ignores_token),
#undef PAWL_BUG
};

// The script with the bug, or the script itself. Throws std::logic_error if the bug does not fit
// the script any more.
[[nodiscard]] std::string inject_redlock_bug(redlock_bug bug, const std::string& script);
// Throws std::logic_error if a bug fits no script.
void check_redlock_bugs();

// The link with the bug.
[[nodiscard]] std::shared_ptr<redis::link> inject_link_bug(redlock_bug bug,
                                                           std::shared_ptr<redis::link> into,
                                                           runtime& time);
// What the client hears of a message; false: nothing.
[[nodiscard]] bool is_heard(redlock_bug bug, std::string_view payload);
// The backend with the bug, or the backend itself.
[[nodiscard]] std::unique_ptr<backend> inject_backend_bug(redlock_bug bug,
                                                          std::unique_ptr<backend> into,
                                                          const backend_context& context);

}  // namespace pawl::simulation
