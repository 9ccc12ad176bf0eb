// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The events of a scenario with one server or several, and the base of the rules, which observe
// them. Each rule keeps its own state and reports its violations
// (docs/contributing/testing.md, "The simulation").
#pragma once

#include "facts.hpp"

#include <pawl/held_locks.hpp>

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

// A command that a server has executed.
struct executed_command {
    const checked_server& server;
    simulated_process& process;
    std::size_t database;
    const words& command;
    std::string_view script;  // empty: it is no script
    const redis::reply& reply;

    // Of a script.
    [[nodiscard]] std::span<const std::string> keys() const {
        return std::span(command).subspan(3, std::stoul(command[2]));
    }
    [[nodiscard]] std::span<const std::string> arguments() const {
        return std::span(command).subspan(3 + std::stoul(command[2]));
    }
    [[nodiscard]] bool is_refused() const { return reply.type == redis::reply::kind::error; }
    // The server does not know the script, and will get it again.
    [[nodiscard]] bool is_unknown() const {
        return is_refused() && reply.text.starts_with("NOSCRIPT");
    }
    [[nodiscard]] bool returned(std::int64_t number) const {
        if (reply.type == redis::reply::kind::integer) return reply.number == number;
        return !reply.items.empty() && reply.items[0].number == number;
    }
};

// A forced release of any hold.
inline constexpr auto any_token = std::numeric_limits<std::uint64_t>::max();

// The end of a release by a user.
struct release_report {
    std::vector<std::string> names;
    std::vector<released_hold> holds;  // one for each name
    // The release must find the holds, unless a fault or a force since `called` ended one.
    bool expects_release;
    instant called;
    release_result result;  // the worst of all results
    // The hold's state is lost, and its client has counted a loss.
    bool was_told;
};

class rule {
public:
    explicit rule(scenario_facts& facts) : facts_(facts) {}
    virtual ~rule() = default;
    rule(const rule&) = delete;
    rule& operator=(const rule&) = delete;

    // A program sends a command. Later the reply reaches it, or is null: the program does not wait
    // any more. `script` as in `executed_command`.
    virtual void on_sent(simulated_process& /*process*/, const words& /*command*/,
                         std::string_view /*script*/) {}
    virtual void on_answered(const words& /*command*/, std::string_view /*script*/,
                             const redis::reply* /*reply*/) {}
    virtual void on_executed(const executed_command& /*call*/) {}
    // The script was not refused, and has this lock among its keys.
    virtual void on_lock_executed(lock_record& /*lock*/, const executed_command& /*call*/) {}
    virtual void on_data_changed(const checked_server& /*server*/) {}

    virtual void on_requested(const simulated_process& /*process*/) {}
    virtual void on_granted(user_hold& /*held*/, const pending_request& /*request*/) {}
    virtual void on_renewed(const user_hold& /*held*/) {}  // by Java
    virtual void on_downgrade(const user_hold& /*held*/) {}
    // The user writes to the resource that the lock protects.
    virtual void on_write(const user_hold& /*held*/) {}
    virtual void on_noticed_loss(const user_hold& /*held*/) {}
    virtual void on_ended(const user_hold& /*held*/) {}
    virtual void on_released(const release_report& /*report*/) {}
    // An operator of the program wants to end the hold with this token, or with `any_token`.
    virtual void on_force(const simulated_process& /*process*/, const lock_record& /*lock*/,
                          std::uint64_t /*expected*/) {}
    virtual void on_crash(const simulated_process& /*process*/) {}

    // At the end, when all users have finished: no lock of a living program.
    virtual void check_no_locks() {}

protected:
    [[nodiscard]] instant now() const noexcept { return facts_.now(); }
    void fail(const std::string& rule_name, const std::string& sentence) const {
        facts_.fail(rule_name, sentence);
    }
    // When every message of now has arrived.
    template <class F>
    void after_delivery(F check) {
        facts_.loop.schedule_after(delivery_limit, std::move(check));
    }
    // I1 at the server: the server has every hold in which a user believes.
    void check_held_at_server(const user_hold& held, std::string_view when,
                              std::string_view script = {}) const {
        const bool is_known = held.token != 0 || !held.owner.empty();
        if (!is_known || facts_.is_excused(held) || !facts_.is_believed(held)) return;
        const auto& reader = *held.lock->reader;
        const auto believed_until = held.handle == nullptr
                                        ? held.believed_until
                                        : held.process->instant_of(held.handle->safe_until());
        const auto end = reader.expiry_of(held);
        if (!end) {
            fail("I1", facts_.describe(held) + " is not at the server, " + std::string(when) +
                           (script.empty() ? "" : " " + std::string(script)) + "; its value is '" +
                           reader.value_of(*held.lock) + "'");
        } else if (believed_until > *end) {
            fail("I1", facts_.describe(held) + " is believed beyond its end at the server");
        }
    }
    void check_all_at_server(const lock_record& lock, const executed_command& call) const {
        facts_.for_each_hold_of(
            lock, [&](const user_hold& held) { check_held_at_server(held, "after", call.script); });
    }

    scenario_facts& facts_;
};

}  // namespace pawl::simulation
