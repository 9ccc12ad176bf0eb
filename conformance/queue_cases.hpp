// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules of a lock's queue, as one table of cases: which claimants are granted the lock, and
// when. Every implementation of the rules plays it: each backend with one queue for all modes, and
// the functions in src/core/store.
//
// A case is a script of actions. A letter names a claimant:
//   aX aS a2  a requests the lock exclusively, shared, or 2 permits, and waits if need be
//   -a        a releases the lock
//   ~a        a ends without a word: its lease runs out, or its place in the queue ends
//   /a        a leaves the queue
//   >a        a downgrades its exclusive hold to a shared one
//   =4        the semaphore has 4 permits from now on
//   *         all holds are ended by force
// Behind an action stand its effects: "+bc", b and then c are granted the lock; "!d", d gets the
// error for more permits than the total. No other claimant is granted the lock.
#pragma once

#include <pawl/types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::conformance {

struct queue_case {
    std::string_view name;  // an identifier
    std::string_view script;
    std::uint32_t total_permits = 0;  // of the semaphore, at the beginning
};

inline constexpr auto queue_cases = std::to_array<queue_case>({
    {"queue_exclusive_holders_follow_one_another", "aX+a bX cX -a+b -b+c -c aX+a"},
    {"queue_readers_share", "aS+a bS+b cS+c -b bS+b"},
    {"queue_a_writer_waits_for_the_last_reader", "aS+a bS+b cX -a -b+c"},
    {"queue_a_reader_waits_behind_a_writer", "aS+a bX cS -a+b -b+c"},
    {"queue_readers_are_granted_up_to_the_next_writer", "aX+a bS cS dX eS -a+bc -b -c+d -d+e"},
    {"queue_permits_are_granted_up_to_the_total", "a2+a b3+b c1 d1 -a+cd -b", 5},
    {"queue_few_permits_wait_behind_many", "a2+a b3 c1 d1 -a+bc -c+d", 4},
    {"queue_many_permits_wait_for_room", "a2+a b1+b c4 d1 -a -b+c -c+d", 4},
    {"queue_permits_wait_for_other_modes", "aS+a b1 cX d1 eS -a+b -b+c -c+d -d+e", 3},
    {"queue_other_modes_wait_for_permits", "a1+a b1+b cS dX -b -a+c -c+d", 3},
    {"queue_a_waiter_leaves_from_the_middle", "aX+a bX cX dX /c -a+b -b+d"},
    {"queue_the_first_waiter_leaves_and_readers_enter", "aS+a bX cS dS eX /b+cd"},
    {"queue_the_first_waiter_leaves_and_permits_fit", "a2+a b3 c1 d1 /b+c", 3},
    {"queue_an_ended_lease_serves_the_next", "aX+a bX cX ~a+b -b+c"},
    {"queue_one_lease_of_several_readers_ends", "aS+a bS+b cX ~a -b+c"},
    {"queue_an_ended_lease_frees_permits", "a2+a b1+b c1 d2 ~a+c -b+d", 3},
    {"queue_a_dead_waiter_is_passed_over", "aX+a bX cX ~b -a+c"},
    {"queue_a_downgrade_lets_readers_in", "aX+a bS cS dX eS >a+bc -a -c -b+d -d+e"},
    {"queue_a_downgrade_lets_no_permits_in", "aX+a b1 cS >a -a+b -b+c", 2},
    {"queue_a_newcomer_joins_a_downgraded_hold", "aX+a >a bS+b cX -a -b+c"},
    {"queue_more_permits_serve_the_queue", "a2+a b2 c1 d1 =5+bc", 2},
    {"queue_fewer_permits_end_no_hold", "a3+a b1 =2 -a+b c1+c d1", 3},
    {"queue_fewer_permits_refuse_a_waiter", "a1+a b3 c1 =2+c!b", 3},
    {"queue_a_forced_release_serves_the_next", "aX+a bS cS dX *+bc *+d"},
    {"queue_a_forced_release_ends_all_holds", "a1+a b1+b c2 d1 *+c", 2},
});

// One action of a script, with its effects.
struct queue_action {
    enum class kind : char {
        request = '?',
        release = '-',
        expire = '~',
        leave = '/',
        downgrade = '>',
        resize = '=',
        force = '*'
    };
    std::string text;
    kind type = kind::request;
    char claimant = 0;  // not for `resize` and `force`
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 0;  // requested, or the new total
    std::string granted, refused;
};

inline queue_action parse_queue_action(const std::string& text) {
    queue_action action{.text = text};
    const auto effects = text.find_first_of("+!");
    const auto head = text.substr(0, effects);
    for (auto at = effects; at < text.size(); ++at) {
        if (text[at] == '+' || text[at] == '!') continue;
        const auto sign = text[text.find_last_of("+!", at)];
        (sign == '+' ? action.granted : action.refused) += text[at];
    }
    if (head[0] >= 'a' && head[0] <= 'z') {
        action.claimant = head[0];
        if (head[1] == 'S') action.mode = lock_mode::shared;
        if (head[1] >= '1' && head[1] <= '9') action.mode = lock_mode::permits;
    } else {
        action.type = static_cast<queue_action::kind>(head[0]);
        if (action.type != queue_action::kind::resize && head.size() > 1) action.claimant = head[1];
    }
    if (const auto digit = head.find_first_of("123456789"); digit != std::string::npos)
        action.permits = static_cast<std::uint32_t>(head[digit] - '0');
    return action;
}

inline std::vector<queue_action> actions_of(const queue_case& tested) {
    std::vector<queue_action> actions;
    for (std::size_t at = 0; at < tested.script.size();) {
        const auto end = std::min(tested.script.find(' ', at), tested.script.size());
        actions.push_back(parse_queue_action(std::string(tested.script.substr(at, end - at))));
        at = end + 1;
    }
    return actions;
}

}  // namespace pawl::conformance
