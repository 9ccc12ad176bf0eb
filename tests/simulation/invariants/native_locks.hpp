// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The holds of the native layout at the server: no script ends or creates another's hold (I5), and
// a hold that is handed off reaches a user (I6).
#pragma once

#include "forced_releases.hpp"
#include "native_data.hpp"
#include "native_queue.hpp"

#include <algorithm>
#include <ranges>

namespace pawl::simulation {

class native_locks final : public rule, public lock_reader {
public:
    native_locks(scenario_facts& facts, native_queue& queue)
        : rule(facts), queue_(queue), forces_(facts) {}

    void on_executed(const executed_command& call) override {
        const auto& command = call.command;
        if (command[0] == "SUBSCRIBE" && command[1].find(":c:") != std::string::npos)
            facts_.processes[command[1].substr(command[1].rfind(':') + 1)] = &call.process;
    }

    void on_lock_executed(lock_record& lock, const executed_command& call) override {
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

    void check_no_locks() override {
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

    void on_force(const simulated_process& process, const lock_record& lock,
                  std::uint64_t expected) override {
        forces_.note(process, lock, expected);
    }

    [[nodiscard]] std::optional<instant> expiry_of(const user_hold& held) const override {
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

    [[nodiscard]] bool still_has(const lock_record& lock,
                                 const released_hold& hold) const override {
        return hold.mode == lock_mode::exclusive && is_exclusive(lock, hold.token);
    }
    [[nodiscard]] std::string value_of(const lock_record& lock) const override {
        return current_value(facts_, lock);
    }
    // Of every value of exclusive holds so far.
    using value_tokens = std::map<std::string, std::uint64_t>;
    [[nodiscard]] const value_tokens& tokens_by_value(const lock_record& lock) const {
        static const value_tokens none;
        const auto state = states_.find(&lock);
        return state == states_.end() ? none : state->second.token_by_value;
    }

    // When the server had the hold with this value for the first time.
    [[nodiscard]] instant first_seen(const lock_record& lock, const std::string& value) const {
        const auto state = states_.find(&lock);
        if (state == states_.end()) return {};
        const auto seen = state->second.first_seen.find(value);
        return seen == state->second.first_seen.end() ? instant{} : seen->second;
    }

private:
    struct lock_state {
        std::string value;       // of the exclusive hold, at the last inspection
        server_holders holders;  // at the last inspection
        value_tokens token_by_value;
        // Tokens that a refresh returned for a value: new ones if the counter was lost.
        value_tokens reassigned_token_by_value;
        std::set<std::string> seen_values;  // of non-exclusive holds
        std::map<std::string, instant> first_seen;
    };

    // Whether this call requested a token for the value. Nothing: the call did not request the lock
    // under this value.
    static std::optional<bool> requested_token_for(const executed_command& call,
                                                   const std::string& value) {
        const auto args = call.arguments();
        if (can_enqueue(call.script) && value == args[0]) return !args[2].empty();
        if (call.script == "acquire_batch" &&
            std::find(args.begin() + 2, args.end(), value) != args.end())
            return !args[1].empty();
        return std::nullopt;
    }

    static bool names_successor(const executed_command& call, const std::string& member) {
        const auto args = call.arguments();
        return call.script == "release" && args.size() > 4 && args[3] == member;
    }

    // That requests the lock or holds it.
    static std::string owner_in(const executed_command& call) {
        const auto& first = call.arguments()[0];
        return first.substr(0, first.find(';'));
    }

    static bool is_forced(const executed_command& call) {
        return call.script == "force_release" && call.returned(1);
    }

    static std::uint64_t token_in(const std::map<std::string, std::uint64_t>& tokens,
                                  const std::string& value) {
        const auto known = tokens.find(value);
        return known == tokens.end() ? 0 : known->second;
    }

    [[nodiscard]] bool is_exclusive(const lock_record& lock, std::uint64_t token) const {
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

    void note_new_value(lock_record& lock, const executed_command& call,
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
        state.token_by_value[new_value] =
            requested_token.value_or(true) ? current_counter(lock) : 0;
        state.first_seen[new_value] = now();
        if (call.script == "renew") fail("I5", "a renewal created a lock");
        if (call.script == "acquire_batch" && lock.is_calm()) expect_delivery(lock, new_value);
        if (!can_hand_off(call.script) || requested_token) return;
        // A local successor may leave while the release is sent. Then its client passes the lock
        // on.
        const auto member = member_of(new_value);
        if (!names_successor(call, member)) queue_.check_granted(lock, member);
        if (lock.is_calm()) expect_delivery(lock, new_value);
    }

    void check_ended_holds(const lock_record& lock, const executed_command& call,
                           std::uint64_t token) {
        const bool forced = call.script == "force_release";
        facts_.for_each_hold_of(lock, [&](user_hold& held) {
            // The server may have issued a token for a hold that its user has without one.
            if (held.token != token && !(forced && held.token == 0)) return;
            if (forced) facts_.excuse(held);
            // A hold that the client itself releases was given up before.
            if (token != 0 && facts_.is_believed(held) && !facts_.is_excused(held) &&
                !expiry_of(held))
                fail("I5", facts_.describe(held) + " was ended at the server by " +
                               std::string(call.script));
        });
    }

    void inspect_holders(lock_record& lock, const executed_command& call) {
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
        const bool mixed =
            call.script == "renew_non_exclusive" || !is_held_as(lock, "pawl:permits");
        if (calm && !mixed && lock.has_permits && permits_held > semaphore_permits)
            fail("I1", std::to_string(permits_held) + " permits are held at the server");
        check_all_at_server(lock, call);
    }

    void note_new_holder(lock_record& lock, const executed_command& call,
                         const std::string& owner) {
        auto& state = states_[&lock];
        const auto& value = state.holders.at(owner).value;
        if (!state.seen_values.insert(value).second) return;  // restored by the server
        state.first_seen[value] = now();
        if (call.script == "renew_non_exclusive") fail("I5", "a renewal created a hold");
        if ((can_enqueue(call.script) || call.script == "downgrade") && owner == owner_in(call))
            return;
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
    void expect_delivery(lock_record& lock, const std::string& value) {
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

    native_queue& queue_;
    forced_releases forces_;
    std::map<const lock_record*, lock_state> states_;
};

}  // namespace pawl::simulation
