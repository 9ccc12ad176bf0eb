// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "native_locks.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace pawl::simulation {
namespace {

// Whether this call requested a token for the value. Nothing: the call did not request the lock
// under this value.
std::optional<bool> requested_token_for(const executed_command& call, const std::string& value) {
    const auto args = call.arguments();
    if (can_enqueue(call.script) && value == args[0]) return !args[2].empty();
    if (call.script == "acquire_batch" &&
        std::find(args.begin() + 2, args.end(), value) != args.end())
        return !args[1].empty();
    return std::nullopt;
}

bool names_successor(const executed_command& call, const std::string& member) {
    const auto args = call.arguments();
    return call.script == "release" && args.size() > 4 && args[3] == member;
}

// That requests the lock or holds it.
std::string owner_in(const executed_command& call) {
    const auto& first = call.arguments()[0];
    return first.substr(0, first.find(';'));
}

bool is_forced(const executed_command& call) {
    return call.script == "force_release" && call.returned(1);
}

std::uint64_t token_in(const std::map<std::string, std::uint64_t>& tokens,
                       const std::string& value) {
    const auto known = tokens.find(value);
    return known == tokens.end() ? 0 : known->second;
}

}  // namespace

void native_locks::on_executed(const executed_command& call) {
    const auto& command = call.command;
    if (command[0] == "SUBSCRIBE" && command[1].find(":c:") != std::string::npos)
        facts_.processes[command[1].substr(command[1].rfind(':') + 1)] = &call.process;
}

void native_locks::on_lock_executed(lock_record& lock, const executed_command& call) {
    auto& state = states_[&lock];
    const auto new_value = current_value(facts_, lock);
    const auto token_before = token_in(state.token_by_value, state.value);
    // The script may create a new token if the token of the hand-off was lost with the counter.
    if (call.script == "refresh" && call.returned(1))
        state.reassigned_token_by_value[new_value] = std::stoull(call.reply.items[1].text);
    if (new_value != state.value) note_new_value(lock, call, new_value);
    inspect_holders(lock, call);
    if (is_forced(call)) {
        if (token_before != 0 && current_counter(lock) <= token_before &&
            !lock.server->planned.tokens_may_go_back)
            fail("I2", "a forced release did not raise the token");
        forces_.check_ended(lock, call.process, token_before);
        forces_.expect_notified(lock, token_before);
    }
    if (call.script == "release" && call.returned(1) && new_value == call.arguments()[0])
        fail("I5", "a release did not change the lock");
}

void native_locks::note_new_value(lock_record& lock, const executed_command& call,
                                  const std::string& new_value) {
    auto& state = states_[&lock];
    if (call.script == "force_release") lock.forced_at = lock.last_fault = now();
    check_ended_holds(lock, call, token_in(state.token_by_value, state.value));
    state.value = new_value;
    if (new_value.empty() || state.token_by_value.contains(new_value)) return;
    if (new_value.starts_with("foreign")) {
        state.token_by_value[new_value] = 0;
        return;
    }
    const auto requested_token = requested_token_for(call, new_value);
    state.token_by_value[new_value] = requested_token.value_or(true) ? current_counter(lock) : 0;
    state.first_seen[new_value] = now();
    if (call.script == "renew") fail("I5", "a renewal created a lock");
    if (call.script == "acquire_batch" && lock.is_calm()) expect_delivery(lock, new_value);
    if (!can_hand_off(call.script) || requested_token) return;
    // A local successor may leave while the release is sent. Then its client passes the lock on.
    const auto member = member_of(new_value);
    if (!names_successor(call, member)) queue_.check_granted(lock, member);
    if (lock.is_calm()) expect_delivery(lock, new_value);
}

void native_locks::check_ended_holds(const lock_record& lock, const executed_command& call,
                                     std::uint64_t token) {
    const bool forced = call.script == "force_release";
    facts_.for_each_hold_of(lock, [&](user_hold& held) {
        // The server may have issued a token for a hold that its user has without one.
        if (held.token != token && !(forced && held.token == 0)) return;
        if (forced) facts_.excuse(held);
        // A hold that the client itself releases was given up before.
        if (token != 0 && facts_.is_believed(held) && !facts_.is_excused(held) && !expiry_of(held))
            fail("I5",
                 facts_.describe(held) + " was ended at the server by " + std::string(call.script));
    });
}

void native_locks::inspect_holders(lock_record& lock, const executed_command& call) {
    auto& holders = states_[&lock].holders;
    const auto before = std::exchange(holders, current_holders(lock));
    if (is_forced(call) && !before.empty()) {
        lock.forced_at = lock.last_fault = now();
        forces_.expect_all_notified(lock);
        forces_.check_ended(
            lock, call.process,
            std::ranges::min(before | std::views::values, {}, &server_holder::token).token);
    }
    if (before.empty() && holders.empty()) return;
    std::int64_t permits_held = 0;
    for (const auto& [owner, holder] : holders) {
        if (!before.contains(owner)) note_new_holder(lock, call, owner);
        permits_held += holder.permits;
    }
    const bool calm = lock.last_fault < instant{} && lock.server->clock_set_at < instant{};
    const bool mixed = call.script == "renew_non_exclusive" || !is_held_as(lock, "pawl:permits");
    if (calm && !mixed && lock.has_permits && permits_held > semaphore_permits)
        fail("I1", std::to_string(permits_held) + " permits are held at the server");
    check_all_at_server(lock, call);
}

void native_locks::note_new_holder(lock_record& lock, const executed_command& call,
                                   const std::string& owner) {
    auto& state = states_[&lock];
    const auto& value = state.holders.at(owner).value;
    if (!state.seen_values.insert(value).second) return;  // restored by the server
    state.first_seen[value] = now();
    if (call.script == "renew_non_exclusive") fail("I5", "a renewal created a hold");
    if ((can_enqueue(call.script) || call.script == "downgrade") && owner == owner_in(call)) return;
    queue_.check_granted(lock, member_of(value));
    if (!lock.is_calm()) return;
    after_delivery([this, &lock, owner, value, since = now()] {
        const auto holders = current_holders(lock);
        const auto it = holders.find(owner);
        const auto* process = find_process(facts_, value);
        if (it == holders.end() || it->second.value != value || it->second.token == 0) return;
        if (process == nullptr || !facts_.is_awake(*process, 2 * delivery_limit) ||
            facts_.has_active_set_request(lock, *process) ||
            lock.was_granted_unfenced(*process, since))
            return;
        if (!lock.granted_tokens.contains({process, it->second.token}))
            fail("I6", "a waiter was granted token " + std::to_string(it->second.token) +
                           " and did not take it");
    });
}

// A hand-off is a push: the waiter gets the lock at once, or has left.
void native_locks::expect_delivery(lock_record& lock, const std::string& value) {
    after_delivery([this, &lock, value, since = now()] {
        const auto* process = find_process(facts_, value);
        const auto& state = states_[&lock];
        const auto token = token_in(state.token_by_value, value);
        if (state.value != value || current_value(facts_, lock) != value || token == 0) return;
        const auto has_token = [token](const auto& granted) { return granted.second == token; };
        if (process == nullptr || !facts_.is_awake(*process, 2 * delivery_limit) ||
            std::ranges::any_of(lock.granted_tokens, has_token))
            return;
        if (facts_.has_active_set_request(lock, *process) ||
            lock.was_granted_unfenced(*process, since))
            return;
        fail("I6", "token " + std::to_string(token) + " was handed off, and no user took it");
    });
}

std::optional<instant> native_locks::expiry_of(const user_hold& held) const {
    const auto& lock = *held.lock;
    if (is_exclusive(lock, held.token)) {
        const auto ends = lock.data().peek(lock.keys.lock)->expires_ms;
        return ends ? facts_.instant_of_server_ms(lock, *ends) : instant::max();
    }
    std::optional<instant> last;
    for (const auto& [owner, other] : current_holders(lock)) {
        if (other.token != held.token || find_process(facts_, other.value) != held.process)
            continue;
        last = std::max(last.value_or(instant::min()),
                        facts_.instant_of_server_ms(lock, other.ends_ms));
    }
    return last;
}

bool native_locks::is_exclusive(const lock_record& lock, std::uint64_t token) const {
    const auto value = current_value(facts_, lock);
    const auto state = states_.find(&lock);
    if (value.empty() || state == states_.end()) return false;
    const auto has_token = [&](const value_tokens& tokens) {
        const auto known = tokens.find(value);
        return known != tokens.end() && known->second == token;
    };
    return has_token(state->second.token_by_value) ||
           has_token(state->second.reassigned_token_by_value);
}

const native_locks::value_tokens& native_locks::tokens_by_value(const lock_record& lock) const {
    static const value_tokens none;
    const auto state = states_.find(&lock);
    return state == states_.end() ? none : state->second.token_by_value;
}

instant native_locks::first_seen(const lock_record& lock, const std::string& value) const {
    const auto state = states_.find(&lock);
    if (state == states_.end()) return {};
    const auto seen = state->second.first_seen.find(value);
    return seen == state->second.first_seen.end() ? instant{} : seen->second;
}

void native_locks::check_no_locks() {
    const auto is_alive = [this](const std::string& value) {
        const auto* const process = find_process(facts_, value);
        return process != nullptr && !facts_.dead_processes.contains(process);
    };
    for (const auto& [name, lock] : facts_.locks) {
        const auto value = current_value(facts_, lock);
        if (is_alive(value))
            fail("I6", "'" + name + "' stays locked without a user: '" + value + "'");
        for (const auto& [owner, holder] : current_holders(lock))
            if (is_alive(holder.value))
                fail("I6", "'" + name + "' stays held without a user: '" + holder.value + "'");
    }
}

}  // namespace pawl::simulation
