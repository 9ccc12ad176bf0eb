// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "facts.hpp"

#include <algorithm>

namespace pawl::simulation {

bool lock_record::was_granted_unfenced(const simulated_process& process, instant since) const {
    const auto [begin, end] = unfenced_grants.equal_range(&process);
    return std::any_of(begin, end, [since](const auto& each) { return each.second >= since; });
}

scenario_facts::scenario_facts(scheduler& scenario_loop,
                               std::span<simulated_network* const> networks, const plan& whole_plan,
                               trace& log)
    : loop(scenario_loop), scenario_plan(whole_plan), trace_(log) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
        const auto letter = static_cast<char>('a' + static_cast<char>(i));
        const auto label = networks.size() == 1 ? std::string() : std::string(" ") + letter;
        servers.push_back({*networks[i], scenario_plan.servers[i], label});
    }
}

lock_record& scenario_facts::add_lock(const std::string& name, const lock_keys& keys,
                                      std::size_t database, bool has_permits) {
    auto& lock = locks[name];
    lock.name = name;
    lock.keys = keys;
    lock.server = &servers[scenario_plan.server_of(keys.lock)];
    lock.database = database;
    lock.has_permits = has_permits;
    by_key_[{database, keys.lock}] = &lock;
    return lock;
}

checked_server& scenario_facts::server_of(const simulated_network& network) {
    return *std::ranges::find_if(
        servers, [&](const checked_server& each) { return &each.network == &network; });
}

lock_record* scenario_facts::find_lock(const checked_server& server, std::size_t database,
                                       const std::string& key) const {
    const auto lock = by_key_.find({database, key});
    const bool is_known = lock != by_key_.end() && lock->second->server == &server;
    return is_known ? lock->second : nullptr;
}

user_hold& scenario_facts::add_hold(user_hold granted, const pending_request& request) {
    granted.id = ++last_hold_id_;
    granted.ttl = request.ttl;
    granted.mode = request.mode;
    granted.permits = request.permits;
    auto& lock = *granted.lock;
    lock.newest_token = std::max(lock.newest_token, granted.token);
    // The server may have granted the lock before the fault that took it away, although the user
    // sees the grant only now. The user believes it for one lease.
    if (request.requested_at <= lock.last_fault)
        granted.excused_until = end_of_excuse(granted, lock.last_fault);
    // A waiter computes the instant of its grant from the server's clock, which was set meanwhile.
    if (request.requested_at <= lock.server->clock_set_at)
        granted.excused_until = end_of_excuse(granted, now());
    if (request.requested_at <= lock.restored_at) granted.excused_until = instant::max();
    return holds[granted.id] = std::move(granted);
}

bool scenario_facts::is_awake(const simulated_process& process, instant period) const {
    return !process.is_paused() && !dead_processes.contains(&process) &&
           (process.resumed_at() == instant{} || process.resumed_at() + period <= now());
}

bool scenario_facts::is_believed(const user_hold& held) const {
    if (held.handle == nullptr) return now() < held.believed_until;
    const auto state = held.handle->state();
    return state == lock_state::held || state == lock_state::at_risk;
}

std::string scenario_facts::describe(const user_hold& held) const {
    const auto& name = held.lock->name;
    if (held.handle == nullptr) return "Java's hold of '" + name + "' by " + held.owner;
    return "the hold of '" + name + "' with token " + std::to_string(held.token);
}

bool scenario_facts::has_active_set_request(lock_record& lock,
                                            const simulated_process& process) const {
    const auto& sets = lock.set_requests[&process];
    return sets.active > 0 || now() < sets.ended + delivery_limit;
}

// Nothing tells a Java thread that permits without a lease are lost.
instant scenario_facts::end_of_excuse(const user_hold& held, instant fault) const {
    const bool is_endless = held.believed_until == instant::max();
    if (is_endless && !held.lock->is_plain_semaphore()) return instant::max();
    return fault + held.ttl * 102 / 100;
}

void scenario_facts::excuse(user_hold& held) const {
    held.excused_until = std::max(held.excused_until, end_of_excuse(held, now()));
}

void scenario_facts::note_fault(lock_record& lock) {
    lock.last_fault = now();
    for_each_hold_of(lock, [this](user_hold& held) { excuse(held); });
}

void scenario_facts::note_fault(const simulated_network& network) {
    for (auto& [name, lock] : locks)
        if (&lock.server->network == &network) note_fault(lock);
}

bool scenario_facts::had_fault_since(const std::vector<std::string>& names, instant when) const {
    return std::ranges::any_of(names,
                               [&](const auto& name) { return locks.at(name).last_fault >= when; });
}

void scenario_facts::note_clock_set(const simulated_network& network) {
    server_of(network).clock_set_at = now();
    note_fault(network);
}

void scenario_facts::note_old_data(const simulated_network& network) {
    note_fault(network);
    for (auto& [name, lock] : locks)
        if (&lock.server->network == &network) lock.restored_at = now();
    for (auto& [id, held] : holds)
        if (&held.lock->server->network == &network) held.excused_until = instant::max();
}

void scenario_facts::note_live_rollback(const simulated_network& network) {
    note_old_data(network);
    for (auto& [name, lock] : locks)
        if (&lock.server->network == &network) lock.had_live_rollback = true;
}

void scenario_facts::set_refusing(const simulated_network& network, bool refusing) {
    auto& server = server_of(network);
    if (server.is_refusing && !refusing) server.refusing_until = now();
    server.is_refusing = refusing;
}

void scenario_facts::fail(const std::string& rule, const std::string& sentence) {
    trace_.write("VIOLATION " + rule + ": " + sentence);
    if (violation_.empty()) violation_ = rule + ": " + sentence;
}

}  // namespace pawl::simulation
