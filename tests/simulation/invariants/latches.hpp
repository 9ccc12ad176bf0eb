// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for latches and barriers (I11 to I14). They see every command of the server and the
// results of all waits.
#pragma once

#include "rule.hpp"

#include <charconv>

namespace pawl::simulation {

class latch_rule final : public rule {
public:
    using rule::rule;

    struct latch_keys {
        std::size_t database = 0;
        std::string key;
        bool redisson = false;  // a number, deleted at 0
    };
    void add(const std::string& name, const latch_keys& keys) {
        auto& latch = latches_[name];
        latch.keys = keys;
        latch.server = &facts_.servers[facts_.scenario_plan.server_of(keys.key)];
        latch.last_open_at = keys.redisson ? instant{} : instant{-1};
        latch.last_unknown_at = instant{};
        by_key_[{keys.database, keys.key}] = &latch;
    }

    // A user begins to wait for the phase, or for the current phase if `phase` is 0. `since` is
    // when its request began: the result may rest on any state of the latch from then on.
    // `listens`: the client subscribes to the channel of the latch.
    enum class wait_result : std::uint8_t { passed, unknown_latch, other };
    wait_id begin_wait(simulated_process& process, const std::string& name, std::uint64_t phase,
                       instant since, bool listens) {
        const auto id = ++last_wait_id_;
        auto& latch = latches_.at(name);
        waiting_users_[id] = {&process, &latch, name, phase, since, now(), listens};
        return id;
    }

    // I12: no waiter passes before its latch is at 0, or is told that a known latch is unknown.
    void end_wait(wait_id id, wait_result result) {
        const auto user = std::move(waiting_users_.extract(id).mapped());
        auto& latch = *user.latch;
        if (user.listens) latch.last_listened[user.process] = now();
        update(latch);
        if (result == wait_result::unknown_latch) {
            if (latch.keys.redisson || latch.last_unknown_at < user.since)
                fail("I12",
                     "a waiter for '" + user.name + "' was told that the known latch is unknown");
            return;
        }
        if (result != wait_result::passed) return;
        const bool was_over = user.phase != 0 ? latch.finished_phases.contains(user.phase)
                                              : latch.last_open_at >= user.since;
        const bool may_have_been_over_earlier = latch.went_back && !latch.finished_phases.empty();
        if (!was_over && !may_have_been_over_earlier)
            fail("I12", "a waiter for '" + user.name + "' passed before the count was 0");
    }

    // A step failed because the server did not know the latch.
    void check_unknown_latch(const std::string& name, instant since) {
        auto& latch = latches_.at(name);
        update(latch);
        if (latch.keys.redisson || latch.last_unknown_at < since)
            fail("I12", "a step of '" + name + "' did not find the known latch");
    }

    void on_executed(const executed_command& call) override {
        if (latches_.empty()) return;
        if (call.command[0] == "PUBSUB") {
            auto key = call.command.at(2);
            if (const auto slash = key.rfind('/'); slash != key.npos) key.erase(slash);
            const auto* const latch = find_latch(call.server, call.database, key);
            if (latch != nullptr) check_count(*latch, call.reply.items.at(1).number);
            return;
        }
        const bool is_step = call.script == "latch_down";
        if (!call.script.starts_with("latch_") && !call.script.starts_with("redisson/")) return;
        auto* const latch = find_latch(call.server, call.database, call.command.at(3));
        if (latch != nullptr) update(*latch);
        if (latch != nullptr && is_step) check_arrival(*latch, call);
        if (is_step) check_once(call);
    }

    void on_data_changed(const checked_server& /*server*/) override { update_all(); }

    // All faults have ended; later, every waiter has had enough time since then.
    void note_faults_ended() {
        update_all();
        faults_ended_at_ = now();
        for (auto& [name, latch] : latches_)
            latch.state_after_faults = latch.state;
    }

    void expect_no_stuck_waiters() {
        update_all();
        for (const auto& [id, user] : waiting_users_)
            if (facts_.is_awake(*user.process, instant{}) && must_have_ended(user))
                fail("I13",
                     "a waiter for '" + user.name + "' still waits after all faults have ended");
    }

private:
    struct latch_state {
        bool is_known = false;
        std::uint64_t count = 0, generation = 0, first = 0;
        std::int64_t ends_ms = 0;  // 0: no expiry
        [[nodiscard]] bool operator==(const latch_state&) const noexcept = default;
    };
    struct latch_record {
        latch_keys keys;
        const checked_server* server = nullptr;  // has the key
        latch_state state;                       // at the last command
        latch_state state_after_faults;
        instant changed_at{};
        instant last_open_at{-1}, last_unknown_at{-1};
        bool went_back = false;                            // older data came back
        std::map<std::uint64_t, instant> finished_phases;  // and when
        // For each phase of a barrier: the request that was told each number of missing parties.
        std::map<std::uint64_t, std::map<std::string, std::string>> arrivals;
        std::map<const simulated_process*, instant> last_listened;  // end of its last wait
    };
    struct waiting_user {
        const simulated_process* process;
        latch_record* latch;
        std::string name;
        std::uint64_t phase;
        instant since, began;
        bool listens;
    };

    static std::uint64_t to_number(std::string_view text) {
        std::uint64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    [[nodiscard]] static bool is_open(const latch_record& latch) {
        return latch.keys.redisson ? !latch.state.is_known
                                   : latch.state.is_known && latch.state.count == 0;
    }
    // The latch with this key, if this server has it.
    [[nodiscard]] latch_record* find_latch(const checked_server& server, std::size_t database,
                                           const std::string& key) const {
        const auto latch = by_key_.find({database, key});
        const bool is_known = latch != by_key_.end() && latch->second->server == &server;
        return is_known ? latch->second : nullptr;
    }

    [[nodiscard]] static latch_state read_state(const latch_record& latch) {
        auto& data = latch.server->data(latch.keys.database);
        latch_state state;
        const auto* const stored = data.peek(latch.keys.key);
        if (stored == nullptr) return state;
        const auto ends = stored->expires_ms;
        if (ends && *ends < data.now_ms()) return state;
        state.ends_ms = ends.value_or(0);
        if (const auto* const text = std::get_if<std::string>(&stored->content)) {
            state.is_known = true;
            state.count = to_number(*text);
            return state;
        }
        const auto* const fields = std::get_if<store::hash>(&stored->content);
        if (fields == nullptr) return state;
        const auto field = [&](std::string_view name) {
            const auto value = fields->find(name);
            return value == fields->end() ? std::uint64_t{0} : to_number(value->second);
        };
        state.is_known = true;
        state.count = field("count");
        state.generation = field("generation");
        state.first = field("first");
        return state;
    }

    void update_all() {
        for (auto& [name, latch] : latches_)
            update(latch);
    }

    // The previous state counts until now, because it may have ended only at this moment.
    void update(latch_record& latch) {
        const auto present = now();
        const auto& data = latch.server->data(latch.keys.database);
        if (is_open(latch)) latch.last_open_at = present;
        const bool expired = latch.state.ends_ms != 0 && latch.state.ends_ms < data.now_ms();
        if (!latch.state.is_known || expired) latch.last_unknown_at = present;
        const auto before = std::exchange(latch.state, read_state(latch));
        if (before != latch.state) latch.changed_at = present;
        if (is_open(latch)) latch.last_open_at = present;
        if (!latch.state.is_known) latch.last_unknown_at = present;
        const bool both = before.is_known && latch.state.is_known;
        if (both &&
            (latch.state.generation < before.generation || latch.state.first != before.first))
            latch.last_unknown_at = present;
        if (latch.state.generation < before.generation) latch.went_back = true;
        if (latch.state.is_known && latch.state.count == 0 && !latch.keys.redisson)
            note_zero(latch, latch.state.generation);
        if (latch.keys.redisson && before.is_known && !latch.state.is_known)
            expect_release(latch, 0);
    }

    void note_zero(latch_record& latch, std::uint64_t phase) {
        if (latch.finished_phases.emplace(phase, now()).second) expect_release(latch, phase);
    }

    // I13: every waiter passes at once if nothing can delay the message.
    void expect_release(latch_record& latch, std::uint64_t phase) {
        if (!latch.server->planned.is_calm) return;
        const auto opened = now();
        after_delivery([this, &latch, phase, opened] {
            // A waiter that checks Redisson's latch may find it set again.
            if (latch.keys.redisson && latch.changed_at > opened) return;
            for (const auto& [id, user] : waiting_users_) {
                if (user.latch != &latch || (user.phase != 0 && user.phase != phase)) continue;
                // A waiter that came just before may have checked after the latch was set again.
                const auto latest = user.phase != 0 ? opened : opened - delivery_limit;
                if (user.began <= latest && facts_.is_awake(*user.process, 3 * delivery_limit))
                    fail("I13", "a waiter for '" + user.name + "' was not released at 0");
            }
        });
    }

    // I11: a step counts once or not at all. A repeated request has the same reply, or none.
    void check_once(const executed_command& step) {
        const auto& reply = step.reply;
        if (step.server.planned.may_forget_steps || reply.items.size() != 2) return;
        const auto& first = reply.items[0].text;
        if (first.empty() || first == "late") return;
        const auto text = first + " " + reply.items[1].text;
        const auto [known, fresh] = step_replies_.emplace(step.command.at(4), text);
        if (!fresh && known->second != text)
            fail("I11", "a step was counted twice: " + known->second + ", then " + text);
    }

    // I14: a barrier's phase ends when all parties have arrived, each of them once.
    void check_arrival(latch_record& latch, const executed_command& step) {
        const auto& items = step.reply.items;
        if (items.size() != 2 || items[0].text.empty() || items[0].text == "late") return;
        const auto phase = to_number(items[0].text);
        const auto& missing = items[1].text;
        if (missing == "0") note_zero(latch, phase);
        const auto& parties = step.command.at(7);
        if (parties == "0" || latch.server->planned.may_forget_steps) return;
        auto& arrivals = latch.arrivals[phase];
        const auto& request = step.command.at(4);
        const auto [known, fresh] = arrivals.emplace(missing, request);
        if (!fresh && known->second != request)
            fail("I14", "two parties were told that " + missing + " parties are missing");
        if (missing == "0" && arrivals.size() != to_number(parties))
            fail("I14", "a barrier of " + parties + " ended its phase after " +
                            std::to_string(arrivals.size()) + " arrivals");
    }

    // I13: also waiters for a phase that is over or unknown. Restored data may contain a phase that
    // was over, so the state at the end of all faults counts.
    [[nodiscard]] bool must_have_ended(const waiting_user& user) const {
        const auto& latch = *user.latch;
        const auto& then = latch.state_after_faults;
        if (user.began > faults_ended_at_) return false;
        // If a phase is repeated before its waiter checks, the waiter's step is forgotten.
        const bool comes_again =
            user.phase > then.generation && user.phase == latch.state.generation;
        if (user.phase != 0 && then.is_known && comes_again) return latch.state.count == 0;
        if (user.phase != 0)
            return !then.is_known || user.phase != then.generation || then.count == 0;
        return latch.changed_at <= faults_ended_at_ && (is_open(latch) || !then.is_known);
    }

    // I12: listeners are counted in their own database. A broken connection is counted for a while,
    // so the rule applies only to calm networks.
    void check_count(const latch_record& latch, std::int64_t listeners) {
        if (!latch.server->planned.is_calm || latch.keys.redisson) return;
        std::set<const simulated_process*> certain, possible;
        for (const auto& [id, user] : waiting_users_) {
            if (user.latch != &latch || !user.listens) continue;
            possible.insert(user.process);
            if (user.began + delivery_limit <= now() &&
                facts_.is_awake(*user.process, 3 * delivery_limit))
                certain.insert(user.process);
        }
        for (const auto& [process, ended] : latch.last_listened)
            if (ended + delivery_limit > now() || !facts_.is_awake(*process, 3 * delivery_limit))
                possible.insert(process);
        const auto reported = static_cast<std::size_t>(listeners);
        if (reported < certain.size() || reported > possible.size())
            fail("I12", std::to_string(reported) + " listeners are counted at a latch that has " +
                            std::to_string(certain.size()) + " to " +
                            std::to_string(possible.size()));
    }

    std::map<std::string, latch_record> latches_;
    std::map<std::pair<std::size_t, std::string>, latch_record*> by_key_;
    std::map<wait_id, waiting_user> waiting_users_;
    std::map<std::string, std::string> step_replies_;  // the first, by request
    wait_id last_wait_id_ = 0;
    instant faults_ended_at_{};
};

}  // namespace pawl::simulation
