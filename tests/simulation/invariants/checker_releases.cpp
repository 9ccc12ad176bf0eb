// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a release says, and what a forced release ends.
#include "checker.hpp"

#include "../server/known_scripts.hpp"

#include <algorithm>

namespace pawl::simulation {
namespace {

// The value of the hold that the command releases; empty: it is no release.
std::string released_value(const words& command) {
    if (command[0] != "EVALSHA" && command[0] != "EVAL") return {};
    const auto* const script = find_script(command[1]);
    if (script == nullptr || script->name != "release") return {};
    return command.at(3 + std::stoul(command[2]));
}

}  // namespace

void checker::note_release_sent(const words& command) {
    if (const auto value = released_value(command); !value.empty()) ++releases_[value].sent;
}

// A server that does not know the script gets it again.
void checker::note_release_answered(const words& command, const redis::reply* reply) {
    const auto value = released_value(command);
    if (value.empty()) return;
    auto& release = releases_[value];
    const bool is_refused = reply != nullptr && reply->type == redis::reply::kind::error;
    if (is_refused && reply->text.starts_with("NOSCRIPT"))
        --release.sent;
    else
        release.is_answered = reply != nullptr && !is_refused;
}

// With one name. A release that is repeated may have ended the hold at the first time.
bool checker::was_answered(const std::vector<std::string>& names,
                           const std::vector<released_hold>& holds) const {
    const auto token = holds.front().token;
    if (names.size() != 1 || token == 0 || is_redisson()) return false;
    for (const auto& [value, token_of_value] : locks_.at(names.front()).token_by_value) {
        const auto release = releases_.find(value);
        if (token_of_value == token && release != releases_.end())
            return release->second.sent == 1 && release->second.is_answered;
    }
    return false;
}

void checker::check_release(const std::vector<std::string>& names,
                            const std::vector<released_hold>& holds, bool expects_release,
                            instant called, release_result result, bool was_told) {
    // I17: nobody learns of the end of a hold from the result of its release alone.
    const bool had_ended =
        result == release_result::expired || result == release_result::taken_over;
    if (had_ended && !was_told)
        fail("I17", "a hold of '" + names.front() + "' had ended before its release (" +
                        to_string(result) + "), and neither its state nor a counter tells");
    if (result == release_result::unknown && was_answered(names, holds))
        fail("I17",
             "a release of '" + names.front() + "' was answered, and has the result unknown");
    const bool had_fault = std::ranges::any_of(names, [&](const auto& name) {
        const auto& lock = locks_.at(name);
        return !is_calm(lock) || lock.forced_at >= called;
    });
    if (expects_release && !had_fault && result != release_result::released)
        fail("I5", "a release of '" + names.front() + "' had the result " + to_string(result));
    if (result != release_result::released) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& hold = holds.at(i);
        // The hold may have been restored before the reply was read.
        if (locks_.at(names[i]).restored_at >= called) continue;
        // A FencedLock's counter may be lost, and then gives the same token again.
        const bool is_unique = locks_.at(names[i]).redisson.owners_by_token.count(hold.token) < 2;
        const bool has_own_token =
            is_unique && (hold.mode == lock_mode::exclusive ||
                          (is_redisson() && hold.mode == lock_mode::permits));
        if (has_own_token && hold.token != 0 && is_held_at_server(locks_.at(names[i]), hold.token))
            fail("I5", "a release of '" + names[i] + "' left the hold at the server");
    }
}

void checker::note_force(const simulated_process& process, const std::string& name,
                         std::uint64_t expected) {
    auto& most = most_expected_[{&process, &locks_.at(name)}];
    most = std::max(most, expected);
}

// I5: a forced release with the token of a hold ends no later hold.
void checker::check_forced(const lock_record& lock, const simulated_process& process,
                           std::uint64_t ended) {
    const auto most = most_expected_.find({&process, &lock});
    if (most != most_expected_.end() && ended > most->second)
        fail("I5", "a forced release of a hold with token " + std::to_string(most->second) +
                       " or an earlier one ended the hold with token " + std::to_string(ended));
}

}  // namespace pawl::simulation
