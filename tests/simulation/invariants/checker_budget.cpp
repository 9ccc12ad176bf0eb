// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Refused requests become rarer, and owners are never reused.
#include "checker.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

std::size_t checker::count_recent(std::deque<instant>& moments, instant now, instant length) {
    while (!moments.empty() && moments.front() < now - 5s)
        moments.pop_front();
    std::size_t count = 0;
    for (auto moment = moments.rbegin(); moment != moments.rend() && *moment >= now - length;
         ++moment)
        ++count;
    return count;
}

// I9: no two requests that can create a hold have the same owner. Otherwise the undo of one request
// would also undo the other.
void checker::check_owners(std::string_view script, std::span<const std::string> arguments) {
    const auto check = [&](const std::string& value) {
        const auto owner = value.substr(0, value.find(';'));
        if (owner.size() != 32) fail("I9", "the owner '" + owner + "' has not 128 bits");
        if (!owners_.insert(owner).second)
            fail("I9", "the owner " + owner + " of '" + std::string(script) + "' was used before");
    };
    if (script == "acquire" || script == "acquire_any_mode") check(arguments[0]);
    if (script != "acquire_batch") return;
    for (std::size_t i = 2; i < arguments.size(); ++i)
        check(arguments[i]);
}

// I10: the refused requests of each waiter, hold and undo are limited. A waiter is refused up to 5
// times in the first second and then less than once a second. New requests of users are sent at
// once. So are the refreshes of all waiters over a new connection.
void checker::check_budget(checked_server& server, simulated_process& process,
                           std::string_view script, const std::string& key,
                           std::span<const std::string> arguments) {
    auto& requests = requests_[&process];
    // Only one of a program's users is at the server for a lock, unless modes are not exclusive.
    const bool alone =
        !plan_.has_all_modes && plan_.behaviour.fair == 0 && plan_.behaviour.takes_sets == 0;
    const std::size_t users = alone ? 1 : plan_.users_per_program;
    const std::size_t reconnections = server.planned.is_calm ? 0 : 4;
    const auto new_requests = count_recent(requests, loop_.now(), 1s);
    const auto new_requests_in_five = count_recent(requests, loop_.now(), 5s);
    if (script == "leave")
        return count_refusal(process, "undos" + server.label, 8 + 8 * plan_.users_per_program,
                             12 + 8 * plan_.users_per_program);
    if (script == "acquire" || script == "acquire_any_mode" || script == "acquire_batch" ||
        script == "refresh")
        return count_refusal(process, "attempts at " + key,
                             (7 + reconnections) * users + 3 * new_requests,
                             (12 + 2 * reconnections) * users + 3 * new_requests_in_five);
    if (script == "release" || script == "release_non_exclusive")
        return count_refusal(process, "releases of " + arguments[0], 14, 24);
    if (script != "renew" && script != "renew_non_exclusive") return;
    // Renewals begin at a third of the ttl and are repeated after a twentieth.
    for (std::size_t i = 0; i < arguments.size(); i += 2)
        if (++server.refused_renewals[arguments[i]] > 20)
            fail("I10", "more than 20 renewals of a hold were refused: '" + arguments[i] + "'");
}

// I18: a waiter that is far from the head refreshes rarely. A script tells it when it comes near;
// of two replies in a row that call it far, nobody has told it anything in between.
void checker::check_far_refresh(lock_record& lock, const simulated_process& process,
                                const std::string& member, const redis::reply& reply) {
    constexpr auto shortest_pause = 4s;
    // The first three waiters also refresh when a lease ends.
    const auto first_far = std::max(plan_.bounds_of_scripts.near_waiters, 3);
    const bool is_far = reply.items.size() == 5 && reply.items[3].number >= first_far;
    if (!is_far) {
        lock.far_since.erase(member);
        return;
    }
    const auto since = std::exchange(lock.far_since[member], loop_.now());
    if (since > instant{} && since + shortest_pause > loop_.now() && is_calm(lock) &&
        is_awake(process, 10s))
        fail("I18", "a waiter that is far from the head refreshed twice within " +
                        std::to_string((loop_.now() - since) / 1ms) + " ms");
}

void checker::count_refusal(const simulated_process& process, const std::string& requests,
                            std::size_t per_second, std::size_t per_five_seconds) {
    auto& moments = refused_requests_[{&process, requests}];
    moments.push_back(loop_.now());
    for (const auto& [length, most] : {std::pair{instant(1s), per_second}, {5s, per_five_seconds}})
        if (const auto count = count_recent(moments, loop_.now(), length); count > most)
            fail("I10", std::to_string(count) + " " + requests + " were refused in " +
                            std::to_string(length / 1s) + " s");
}

}  // namespace pawl::simulation
