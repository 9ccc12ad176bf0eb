// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs that can be injected, to measure whether the simulation finds them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace pawl::simulation {

enum class injected_bug : std::uint8_t {
    none,
    // In the scripts.
    release_without_compare,
    renew_without_compare,
    renew_creates_lock,
    acquire_overwrites_holder,
    hand_off_keeps_token,
    successor_keeps_token,
    counter_from_one,
    clock_only_for_new_counters,
    force_keeps_token,
    force_notifies_nobody,
    grant_to_expired_waiter,
    release_grants_nobody,
    leave_keeps_queue_entry,
    leave_keeps_lock,
    refresh_grants_nobody,
    release_leaves_lock,
    lock_without_expiry,
    join_overtakes_queue,
    writer_beside_readers,
    permits_not_counted,
    expired_holders_stay,
    non_exclusive_release_grants_nobody,
    downgrade_grants_nobody,
    stale_readers_token,
    batch_acquires_partially,
    batch_overwrites_holder,
    memory_needed_before_write,
    late_steps_count,
    barrier_trips_early,
    latch_opens_silently,
    // In the client, between core and backend.
    deadline_from_reply,
    renewal_deadline_from_reply,
    unknown_taken_for_extended,
    refusal_ignored,
    release_not_sent,
    claim_window_taken_for_ttl,
    renewals_not_sent,
    token_of_previous_holder,
    batch_swaps_tokens,
    possible_loss_ignored,
    // In the acquisition of several names by the core (faulty_acquire_all.hpp).
    set_in_callers_order,
    set_keeps_first,
    set_with_lost_lock,
    // In the delivery of a hold to its user, and in its callbacks.
    granted_without_handle,
    callbacks_on_one_thread,
    // In programs that run out of a resource.
    dies_without_memory,
    silent_without_memory,
    reports_release_without_memory,
    wait_without_timer,
    registrations_leak,
    failures_leak,
    // In the connection.
    leave_not_sent,
    resent_after_loss,
    grant_messages_dropped,
    requests_reordered,
    batch_undo_incomplete,
    owners_reused,
    database_selected_once,
    latch_message_trusted,
    channel_without_database,
    generation_of_another_database,
    // In the limits of the client.
    no_back_off,
    // In the scripts of Redisson's layout, and in the connection of its clients.
    redisson_release_notifies_nobody,
    redisson_release_without_compare,
    redisson_acquire_beside_holder,
    redisson_renew_without_compare,
    redisson_renew_creates_lock,
    redisson_lock_without_expiry,
    redisson_token_not_counted,
    redisson_undo_not_sent,
    redisson_messages_dropped,
    redisson_fair_passes_queue,
    redisson_fair_timeout_too_short,
    redisson_fair_release_notifies_nobody,
    redisson_writer_beside_readers,
    redisson_reader_ends_other_readers,
    redisson_reader_shortens_lease
};

inline constexpr std::array injected_bug_names{
    std::pair{injected_bug::none, std::string_view("none")},
    std::pair{injected_bug::release_without_compare, std::string_view("release_without_compare")},
    std::pair{injected_bug::renew_without_compare, std::string_view("renew_without_compare")},
    std::pair{injected_bug::renew_creates_lock, std::string_view("renew_creates_lock")},
    std::pair{injected_bug::acquire_overwrites_holder,
              std::string_view("acquire_overwrites_holder")},
    std::pair{injected_bug::hand_off_keeps_token, std::string_view("hand_off_keeps_token")},
    std::pair{injected_bug::successor_keeps_token, std::string_view("successor_keeps_token")},
    std::pair{injected_bug::counter_from_one, std::string_view("counter_from_one")},
    std::pair{injected_bug::clock_only_for_new_counters,
              std::string_view("clock_only_for_new_counters")},
    std::pair{injected_bug::force_keeps_token, std::string_view("force_keeps_token")},
    std::pair{injected_bug::force_notifies_nobody, std::string_view("force_notifies_nobody")},
    std::pair{injected_bug::grant_to_expired_waiter, std::string_view("grant_to_expired_waiter")},
    std::pair{injected_bug::release_grants_nobody, std::string_view("release_grants_nobody")},
    std::pair{injected_bug::leave_keeps_queue_entry, std::string_view("leave_keeps_queue_entry")},
    std::pair{injected_bug::leave_keeps_lock, std::string_view("leave_keeps_lock")},
    std::pair{injected_bug::refresh_grants_nobody, std::string_view("refresh_grants_nobody")},
    std::pair{injected_bug::release_leaves_lock, std::string_view("release_leaves_lock")},
    std::pair{injected_bug::lock_without_expiry, std::string_view("lock_without_expiry")},
    std::pair{injected_bug::join_overtakes_queue, std::string_view("join_overtakes_queue")},
    std::pair{injected_bug::writer_beside_readers, std::string_view("writer_beside_readers")},
    std::pair{injected_bug::permits_not_counted, std::string_view("permits_not_counted")},
    std::pair{injected_bug::expired_holders_stay, std::string_view("expired_holders_stay")},
    std::pair{injected_bug::non_exclusive_release_grants_nobody,
              std::string_view("non_exclusive_release_grants_nobody")},
    std::pair{injected_bug::downgrade_grants_nobody, std::string_view("downgrade_grants_nobody")},
    std::pair{injected_bug::stale_readers_token, std::string_view("stale_readers_token")},
    std::pair{injected_bug::batch_acquires_partially, std::string_view("batch_acquires_partially")},
    std::pair{injected_bug::batch_overwrites_holder, std::string_view("batch_overwrites_holder")},
    std::pair{injected_bug::memory_needed_before_write,
              std::string_view("memory_needed_before_write")},
    std::pair{injected_bug::late_steps_count, std::string_view("late_steps_count")},
    std::pair{injected_bug::barrier_trips_early, std::string_view("barrier_trips_early")},
    std::pair{injected_bug::latch_opens_silently, std::string_view("latch_opens_silently")},
    std::pair{injected_bug::deadline_from_reply, std::string_view("deadline_from_reply")},
    std::pair{injected_bug::renewal_deadline_from_reply,
              std::string_view("renewal_deadline_from_reply")},
    std::pair{injected_bug::unknown_taken_for_extended,
              std::string_view("unknown_taken_for_extended")},
    std::pair{injected_bug::refusal_ignored, std::string_view("refusal_ignored")},
    std::pair{injected_bug::release_not_sent, std::string_view("release_not_sent")},
    std::pair{injected_bug::claim_window_taken_for_ttl,
              std::string_view("claim_window_taken_for_ttl")},
    std::pair{injected_bug::renewals_not_sent, std::string_view("renewals_not_sent")},
    std::pair{injected_bug::token_of_previous_holder, std::string_view("token_of_previous_holder")},
    std::pair{injected_bug::batch_swaps_tokens, std::string_view("batch_swaps_tokens")},
    std::pair{injected_bug::possible_loss_ignored, std::string_view("possible_loss_ignored")},
    std::pair{injected_bug::set_in_callers_order, std::string_view("set_in_callers_order")},
    std::pair{injected_bug::set_keeps_first, std::string_view("set_keeps_first")},
    std::pair{injected_bug::set_with_lost_lock, std::string_view("set_with_lost_lock")},
    std::pair{injected_bug::granted_without_handle, std::string_view("granted_without_handle")},
    std::pair{injected_bug::callbacks_on_one_thread, std::string_view("callbacks_on_one_thread")},
    std::pair{injected_bug::dies_without_memory, std::string_view("dies_without_memory")},
    std::pair{injected_bug::silent_without_memory, std::string_view("silent_without_memory")},
    std::pair{injected_bug::reports_release_without_memory,
              std::string_view("reports_release_without_memory")},
    std::pair{injected_bug::wait_without_timer, std::string_view("wait_without_timer")},
    std::pair{injected_bug::registrations_leak, std::string_view("registrations_leak")},
    std::pair{injected_bug::failures_leak, std::string_view("failures_leak")},
    std::pair{injected_bug::leave_not_sent, std::string_view("leave_not_sent")},
    std::pair{injected_bug::resent_after_loss, std::string_view("resent_after_loss")},
    std::pair{injected_bug::grant_messages_dropped, std::string_view("grant_messages_dropped")},
    std::pair{injected_bug::requests_reordered, std::string_view("requests_reordered")},
    std::pair{injected_bug::batch_undo_incomplete, std::string_view("batch_undo_incomplete")},
    std::pair{injected_bug::owners_reused, std::string_view("owners_reused")},
    std::pair{injected_bug::database_selected_once, std::string_view("database_selected_once")},
    std::pair{injected_bug::latch_message_trusted, std::string_view("latch_message_trusted")},
    std::pair{injected_bug::channel_without_database, std::string_view("channel_without_database")},
    std::pair{injected_bug::generation_of_another_database,
              std::string_view("generation_of_another_database")},
    std::pair{injected_bug::no_back_off, std::string_view("no_back_off")},
    std::pair{injected_bug::redisson_release_notifies_nobody,
              std::string_view("redisson_release_notifies_nobody")},
    std::pair{injected_bug::redisson_release_without_compare,
              std::string_view("redisson_release_without_compare")},
    std::pair{injected_bug::redisson_acquire_beside_holder,
              std::string_view("redisson_acquire_beside_holder")},
    std::pair{injected_bug::redisson_renew_without_compare,
              std::string_view("redisson_renew_without_compare")},
    std::pair{injected_bug::redisson_renew_creates_lock,
              std::string_view("redisson_renew_creates_lock")},
    std::pair{injected_bug::redisson_lock_without_expiry,
              std::string_view("redisson_lock_without_expiry")},
    std::pair{injected_bug::redisson_token_not_counted,
              std::string_view("redisson_token_not_counted")},
    std::pair{injected_bug::redisson_undo_not_sent, std::string_view("redisson_undo_not_sent")},
    std::pair{injected_bug::redisson_messages_dropped,
              std::string_view("redisson_messages_dropped")},
    std::pair{injected_bug::redisson_fair_passes_queue,
              std::string_view("redisson_fair_passes_queue")},
    std::pair{injected_bug::redisson_fair_timeout_too_short,
              std::string_view("redisson_fair_timeout_too_short")},
    std::pair{injected_bug::redisson_fair_release_notifies_nobody,
              std::string_view("redisson_fair_release_notifies_nobody")},
    std::pair{injected_bug::redisson_writer_beside_readers,
              std::string_view("redisson_writer_beside_readers")},
    std::pair{injected_bug::redisson_reader_ends_other_readers,
              std::string_view("redisson_reader_ends_other_readers")},
    std::pair{injected_bug::redisson_reader_shortens_lease,
              std::string_view("redisson_reader_shortens_lease")},
};

// A loss is reported late, but in time: only lost_data_test.cpp finds the bug, and no scenario.
[[nodiscard]] constexpr bool is_invisible_in_scenarios(injected_bug bug) noexcept {
    return bug == injected_bug::possible_loss_ignored;
}

// The bug is in Redisson's layout, so only its scenarios can find it.
[[nodiscard]] constexpr bool is_of_redisson(injected_bug bug) noexcept {
    return bug >= injected_bug::redisson_release_notifies_nobody;
}

// The bug ends the process that contains it.
[[nodiscard]] constexpr bool ends_process(injected_bug bug) noexcept {
    return bug == injected_bug::dies_without_memory;
}

}  // namespace pawl::simulation
