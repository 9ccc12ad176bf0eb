// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "checker.hpp"

#include "../java/java_scripts.hpp"
#include "../server/known_scripts.hpp"
#include "budget.hpp"
#include "exclusivity.hpp"
#include "losses.hpp"
#include "native_locks.hpp"
#include "owners.hpp"
#include "redisson_locks.hpp"
#include "redisson_permits.hpp"
#include "redisson_semaphore.hpp"
#include "releases.hpp"
#include "sets.hpp"
#include "tokens.hpp"

#include <algorithm>
#include <utility>

namespace pawl::simulation {
namespace {

// The script, its lock, and the first digits of the owners among its arguments.
void describe(const words& command, std::string_view script, trace::line& line) {
    if (script.empty()) {
        line << command[0];
        return;
    }
    line << script << " " << command[3];
    for (const std::string_view word : std::span(command).subspan(4)) {
        const auto end = word.substr(0, 33).find_first_of(";:");
        if (end == 32) line << " " << word.substr(0, 6) << word.substr(30, 2);
        if (end == 16) line << " " << word.substr(17, 6) << word.substr(47, 2);
        // UUID:THREAD, in Redisson's layout.
        if (word.size() > 36 && word[8] == '-' && word[36] == ':')
            line << " " << word.substr(0, 6) << word.substr(36);
    }
}

void describe(const redis::reply& reply, trace::line& line) {
    using kind = redis::reply::kind;
    switch (reply.type) {
    case kind::nil: line << "nil"; return;
    case kind::integer: line << reply.number; return;
    case kind::string: line << "\"" << reply.text << "\""; return;
    case kind::error:
        line << "error " << std::string_view(reply.text).substr(0, reply.text.find(' '));
        return;
    case kind::array: break;
    }
    line << "[";
    std::string_view separator;
    for (const auto& item : reply.items) {
        line << std::exchange(separator, ", ");
        describe(item, line);
    }
    line << "]";
}

}  // namespace

checker::checker(scheduler& loop, std::span<simulated_network* const> servers,
                 const plan& scenario_plan, trace& log)
    : facts_(loop, servers, scenario_plan, log), trace_(log), latches_(add<latch_rule>()) {
    if (facts_.is_redisson()) {
        add<redisson_owner_rule>();
        add<redisson_budget>();
        redisson_locks_ = &add<redisson_lock_rule>();
        redisson_permits_ = &add<redisson_permit_rule>();
        redisson_semaphores_ = &add<redisson_semaphore_rule>();
    } else {
        add<native_owner_rule>();
        add<native_budget>();
        native_locks_ = &add<native_locks>(add<native_queue>());
    }
    sets_ = &add<set_rule>(native_locks_);
    add<token_rule>();
    add<exclusivity_rule>();
    add<loss_rule>();
    add<release_rule>(native_locks_);
}

checker::~checker() = default;

void checker::add_name(const std::string& name, const lock_keys& keys, std::size_t database,
                       bool has_permits) {
    auto& lock = facts_.add_lock(name, keys, database, has_permits);
    lock.reader = native_locks_;
    if (native_locks_ == nullptr) lock.reader = &redisson_rule_of(lock);
}

redisson_rule& checker::redisson_rule_of(const lock_record& lock) const {
    if (lock.is_plain_semaphore()) return *redisson_semaphores_;
    return lock.has_permits ? *redisson_permits_ : *redisson_locks_;
}

std::vector<std::string> checker::abandoned(const std::string& name) const {
    const auto& lock = facts_.locks.at(name);
    return redisson_rule_of(lock).abandoned(lock);
}

std::int64_t checker::forget_lost_permits(const std::string& name, simulated_process& process) {
    const auto& lock = facts_.locks.at(name);
    return redisson_rule_of(lock).forget_lost_permits(lock, process);
}

pending_request checker::begin_request(simulated_process& process, const std::string& name,
                                       const lock_options& options) {
    tell(&rule::on_requested, process);
    return {facts_.now(), facts_.locks.at(name).newest_token,
            std::min(options.ttl, options.max_hold), options.mode, options.permits};
}

hold_id checker::add_hold(user_hold granted, const pending_request& request) {
    ++grants_;
    auto& held = facts_.add_hold(std::move(granted), request);
    tell(&rule::on_granted, held, request);
    return held.id;
}

hold_id checker::note_grant(simulated_process& process, const std::string& name,
                            const held_lock& handle, const pending_request& request) {
    user_hold held{.process = &process, .lock = &facts_.locks.at(name), .handle = &handle};
    held.token = handle.token().value();
    held.lost = handle.lost();
    held.lock->granted_tokens.emplace(&process, held.token);
    if (held.token == 0) held.lock->unfenced_grants.emplace(&process, facts_.now());
    return add_hold(std::move(held), request);
}

hold_id checker::note_java_grant(simulated_process& process, const std::string& name,
                                 const java_grant& granted, const pending_request& request) {
    user_hold held{.process = &process, .lock = &facts_.locks.at(name), .token = granted.token};
    held.owner = granted.owner;
    held.believed_until = granted.believed_until;
    held.permit_ids = granted.permit_ids;
    return add_hold(std::move(held), request);
}

void checker::note_java_renewal(hold_id id, instant believed_until) {
    const auto it = facts_.holds.find(id);
    if (it == facts_.holds.end()) return;
    it->second.believed_until = std::max(it->second.believed_until, believed_until);
    tell(&rule::on_renewed, it->second);
}

void checker::note_downgrade(hold_id id) {
    auto& held = facts_.holds.at(id);
    held.mode = lock_mode::shared;
    tell(&rule::on_downgrade, held);
}

void checker::end_hold(hold_id id) {
    const auto ended = facts_.holds.extract(id);
    if (!ended.empty()) tell(&rule::on_ended, ended.mapped());
}

void checker::note_crash(simulated_process& process) {
    facts_.dead_processes.insert(&process);
    std::erase_if(facts_.holds, [&](const auto& held) { return held.second.process == &process; });
    tell(&rule::on_crash, process);
}

wait_id checker::begin_wait(simulated_process& process, const std::string& name,
                            std::uint32_t permits, const std::string& java_owner) {
    const auto id = ++last_wait_id_;
    facts_.waits[id] = {&process, &facts_.locks.at(name), facts_.now(), permits, java_owner};
    return id;
}

std::string_view checker::script_of(const words& command) const {
    if (command[0] != "EVALSHA" && command[0] != "EVAL") return {};
    const auto* const script = find_script(command[1]);
    if (script != nullptr) return script->name;
    return facts_.is_redisson() ? find_java_script(command[1]) : std::string_view();
}

void checker::note_command(const executed_command& call) {
    trace::line line(trace_);
    line << (facts_.servers.size() == 1 ? "server: " : "server" + call.server.label + ": ");
    describe(call.command, call.script, line);
    line << " -> ";
    describe(call.reply, line);
}

void checker::on_sent(simulated_process& process, const words& command) {
    tell(&rule::on_sent, process, command, script_of(command));
}

void checker::on_answered(const words& command, const redis::reply* reply) {
    tell(&rule::on_answered, command, script_of(command), reply);
}

// Renewals and `acquire_batch` have keys of several locks.
void checker::on_executed(simulated_network& network, simulated_process& process,
                          const words& command, const redis::reply& reply) {
    const executed_command call{facts_.server_of(network),   process,
                                network.server().database(), command,
                                script_of(command),          reply};
    note_command(call);
    tell(&rule::on_executed, call);
    if (call.script.empty() || call.is_refused()) return;
    for (const auto& key : call.keys())
        if (auto* const lock = facts_.find_lock(call.server, call.database, key))
            tell(&rule::on_lock_executed, *lock, call);
}

void checker::on_data_changed(simulated_network& network) {
    tell(&rule::on_data_changed, facts_.server_of(network));
}

void checker::expect_no_waiters() {
    for (const auto& [name, lock] : facts_.locks)
        for (const auto& key : {lock.keys.queue, lock.keys.waiters})
            if (lock.data().all().contains(key))
                fail("I6", "'" + name + "' still has waiters at the end");
}

void checker::expect_no_redisson_keys() {
    for (std::size_t database = 0; database < simulated_redis::database_count; ++database)
        for (const auto& [key, entry] : facts_.servers.front().data(database).all())
            if (!key.starts_with("redisson_lock_token:") && key != semaphore_name &&
                key != plain_semaphore_name && !key.starts_with("redisson_sc_receipt:"))
                fail("I6", "the key '" + key + "' remains after the end of all clients");
}

}  // namespace pawl::simulation
