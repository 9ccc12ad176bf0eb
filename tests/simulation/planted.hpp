// Bugs that can be planted, to measure whether the simulation finds them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace pawl::simulation {

enum class planted : std::uint8_t {
    none,
    // In the scripts.
    release_without_compare,
    renew_without_compare,
    renew_creates,
    acquire_over_others,
    hand_off_keeps_token,
    heir_keeps_token,
    counter_from_one,
    force_keeps_token,
    force_tells_nobody,
    pass_on_to_the_dead,
    release_passes_to_nobody,
    leave_keeps_place,
    leave_keeps_lock,
    look_hands_on_nothing,
    release_leaves_lock,
    lock_without_end,
    join_past_the_line,
    writer_beside_readers,
    permits_not_counted,
    dead_holders_stay,
    part_serves_nobody,
    downgrade_serves_nobody,
    readers_have_no_number_of_their_own,
    several_takes_what_is_free,
    several_over_others,
    // In the client, between core and backend.
    deadline_from_reply,
    renewal_deadline_from_reply,
    silence_taken_for_extended,
    refusal_ignored,
    release_not_sent,
    claim_window_taken_for_ttl,
    renewals_not_sent,
    token_from_before,
    several_swaps_tokens,
    // Of several names as one, where the core takes them (wrong_set.hpp).
    set_in_callers_order,
    set_keeps_the_first,
    set_with_a_lost_one,
    // Of a hold on its way to its user, and of its callbacks.
    granted_without_handle,
    callbacks_on_one_thread,
    // In the connection.
    leave_not_sent,
    resent_after_loss,
    grants_dropped,
    requests_overtake,
    several_undoes_one,
    owners_come_back,
    // In the bounds of the client.
    no_back_off
};

inline constexpr std::array planted_names{
    std::pair{planted::none, std::string_view("none")},
    std::pair{planted::release_without_compare, std::string_view("release_without_compare")},
    std::pair{planted::renew_without_compare, std::string_view("renew_without_compare")},
    std::pair{planted::renew_creates, std::string_view("renew_creates")},
    std::pair{planted::acquire_over_others, std::string_view("acquire_over_others")},
    std::pair{planted::hand_off_keeps_token, std::string_view("hand_off_keeps_token")},
    std::pair{planted::heir_keeps_token, std::string_view("heir_keeps_token")},
    std::pair{planted::counter_from_one, std::string_view("counter_from_one")},
    std::pair{planted::force_keeps_token, std::string_view("force_keeps_token")},
    std::pair{planted::force_tells_nobody, std::string_view("force_tells_nobody")},
    std::pair{planted::pass_on_to_the_dead, std::string_view("pass_on_to_the_dead")},
    std::pair{planted::release_passes_to_nobody, std::string_view("release_passes_to_nobody")},
    std::pair{planted::leave_keeps_place, std::string_view("leave_keeps_place")},
    std::pair{planted::leave_keeps_lock, std::string_view("leave_keeps_lock")},
    std::pair{planted::look_hands_on_nothing, std::string_view("look_hands_on_nothing")},
    std::pair{planted::release_leaves_lock, std::string_view("release_leaves_lock")},
    std::pair{planted::lock_without_end, std::string_view("lock_without_end")},
    std::pair{planted::join_past_the_line, std::string_view("join_past_the_line")},
    std::pair{planted::writer_beside_readers, std::string_view("writer_beside_readers")},
    std::pair{planted::permits_not_counted, std::string_view("permits_not_counted")},
    std::pair{planted::dead_holders_stay, std::string_view("dead_holders_stay")},
    std::pair{planted::part_serves_nobody, std::string_view("part_serves_nobody")},
    std::pair{planted::downgrade_serves_nobody, std::string_view("downgrade_serves_nobody")},
    std::pair{planted::readers_have_no_number_of_their_own,
              std::string_view("readers_have_no_number_of_their_own")},
    std::pair{planted::several_takes_what_is_free, std::string_view("several_takes_what_is_free")},
    std::pair{planted::several_over_others, std::string_view("several_over_others")},
    std::pair{planted::deadline_from_reply, std::string_view("deadline_from_reply")},
    std::pair{planted::renewal_deadline_from_reply,
              std::string_view("renewal_deadline_from_reply")},
    std::pair{planted::silence_taken_for_extended, std::string_view("silence_taken_for_extended")},
    std::pair{planted::refusal_ignored, std::string_view("refusal_ignored")},
    std::pair{planted::release_not_sent, std::string_view("release_not_sent")},
    std::pair{planted::claim_window_taken_for_ttl, std::string_view("claim_window_taken_for_ttl")},
    std::pair{planted::renewals_not_sent, std::string_view("renewals_not_sent")},
    std::pair{planted::token_from_before, std::string_view("token_from_before")},
    std::pair{planted::several_swaps_tokens, std::string_view("several_swaps_tokens")},
    std::pair{planted::set_in_callers_order, std::string_view("set_in_callers_order")},
    std::pair{planted::set_keeps_the_first, std::string_view("set_keeps_the_first")},
    std::pair{planted::set_with_a_lost_one, std::string_view("set_with_a_lost_one")},
    std::pair{planted::granted_without_handle, std::string_view("granted_without_handle")},
    std::pair{planted::callbacks_on_one_thread, std::string_view("callbacks_on_one_thread")},
    std::pair{planted::leave_not_sent, std::string_view("leave_not_sent")},
    std::pair{planted::resent_after_loss, std::string_view("resent_after_loss")},
    std::pair{planted::grants_dropped, std::string_view("grants_dropped")},
    std::pair{planted::requests_overtake, std::string_view("requests_overtake")},
    std::pair{planted::several_undoes_one, std::string_view("several_undoes_one")},
    std::pair{planted::owners_come_back, std::string_view("owners_come_back")},
    std::pair{planted::no_back_off, std::string_view("no_back_off")},
};

}  // namespace pawl::simulation
