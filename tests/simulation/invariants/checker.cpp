// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the users' holds. The rules for the server's commands are in checker_server.cpp.
#include "checker.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

namespace {

checked_servers checked(std::span<simulated_network* const> servers, const plan& scenario_plan) {
    checked_servers result;
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const auto letter = static_cast<char>('a' + static_cast<char>(i));
        const auto label = servers.size() == 1 ? std::string() : std::string(" ") + letter;
        result.push_back({*servers[i], scenario_plan.servers[i], label});
    }
    return result;
}

}  // namespace

checker::checker(scheduler& loop, std::span<simulated_network* const> servers,
                 const plan& scenario_plan, trace& log)
    : loop_(loop),
      plan_(scenario_plan),
      servers_(checked(servers, scenario_plan)),
      trace_(log),
      latches_(
          loop, servers_, scenario_plan,
          [this](const std::string& rule, const std::string& sentence) { fail(rule, sentence); },
          [this](const simulated_process& process, instant length) {
              return is_awake(process, length);
          }) {}

checked_server& checker::server_of(const simulated_network& network) {
    return *std::ranges::find_if(
        servers_, [&](const checked_server& each) { return &each.network == &network; });
}

checker::lock_record* checker::find_lock(const checked_server& server, std::size_t database,
                                         const std::string& key) const {
    const auto lock = by_key_.find({database, key});
    const bool is_known = lock != by_key_.end() && lock->second->server == &server;
    return is_known ? lock->second : nullptr;
}

void checker::add_name(const std::string& name, const lock_keys& keys, std::size_t database,
                       bool has_permits) {
    auto& lock = locks_[name];
    lock.keys = keys;
    lock.server = &servers_[plan_.server_of(keys.lock)];
    lock.database = database;
    lock.has_permits = has_permits;
    by_key_[{database, keys.lock}] = &lock;
}

void checker::fail(const std::string& rule, const std::string& sentence) {
    trace_.write("VIOLATION " + rule + ": " + sentence);
    if (violation_.empty()) violation_ = rule + ": " + sentence;
}

checker::wait_id checker::begin_wait(simulated_process& process, const std::string& name,
                                     std::uint32_t permits) {
    const auto id = ++last_wait_id_;
    waits_[id] = {&process, &locks_.at(name), loop_.now(), permits};
    return id;
}

checker::pending_request checker::begin_request(simulated_process& process, const std::string& name,
                                                const lock_options& options) {
    requests_[&process].push_back(loop_.now());
    return {loop_.now(), locks_.at(name).newest_token, std::min(options.ttl, options.max_hold),
            options.mode, options.permits};
}

bool checker::is_believed(const user_hold& held) const {
    if (held.handle == nullptr) return loop_.now() < held.believed_until;
    const auto state = held.handle->state();
    return state == lock_state::held || state == lock_state::at_risk;
}

bool checker::is_excused(const user_hold& held) const { return loop_.now() <= held.excused_until; }

bool checker::is_hold_excused(hold_id id) const { return is_excused(holds_.at(id)); }

bool checker::is_awake(const simulated_process& process, instant period) const {
    return !process.is_paused() && !dead_processes_.contains(&process) &&
           (process.resumed_at() == instant{} || process.resumed_at() + period <= loop_.now());
}

std::string checker::describe_hold(const user_hold& held) const {
    if (held.handle == nullptr) return "Java's hold of '" + held.name + "' by " + held.owner;
    return "the hold of '" + held.name + "' with token " + std::to_string(held.token);
}

checker::hold_id checker::note_grant(simulated_process& process, const std::string& name,
                                     const held_lock& handle, const pending_request& request) {
    ++grants_;
    auto& lock = locks_.at(name);
    const auto id = ++last_hold_id_;
    auto& held = holds_[id];
    held = {&process,    name,         &handle,         handle.token().value(), request.ttl,
            instant(-1), request.mode, request.permits, handle.lost()};
    lock.granted_tokens.emplace(&process, held.token);
    if (held.token == 0) lock.unfenced_grants.emplace(&process, loop_.now());
    excuse_grant(held, lock, request);
    if (held.token != 0) check_tokens(held, lock, request);
    if (!is_believed(held)) return id;
    check_exclusivity(held);
    check_held_at_server(held, "when it was granted");
    watch(id);
    return id;
}

bool checker::was_granted_unfenced(const lock_record& lock, const simulated_process& process,
                                   instant since) {
    const auto [begin, end] = lock.unfenced_grants.equal_range(&process);
    return std::any_of(begin, end, [since](const auto& each) { return each.second >= since; });
}

void checker::excuse_grant(user_hold& held, const lock_record& lock,
                           const pending_request& request) {
    // The server may have granted the lock before the fault that took it away, although the user
    // sees the grant only now. The user believes it for one lease.
    if (request.requested_at <= lock.last_fault)
        held.excused_until = end_of_excuse(held, lock.last_fault);
    // A waiter computes the instant of its grant from the server's clock, which was set meanwhile.
    if (request.requested_at <= lock.server->clock_set_at)
        held.excused_until = end_of_excuse(held, loop_.now());
    if (request.requested_at <= lock.restored_at) held.excused_until = instant::max();
}

// I2: tokens are unique, except among concurrent readers. A hold that was requested after a grant
// has a larger token than that grant.
void checker::check_tokens(const user_hold& held, lock_record& lock,
                           const pending_request& request) {
    const bool reads = held.mode == lock_mode::shared;
    const bool fresh = lock.tokens_seen_by_users.insert(held.token).second ||
                       (reads && lock.reader_tokens.contains(held.token));
    if (reads) lock.reader_tokens.insert(held.token);
    lock.newest_token = std::max(lock.newest_token, held.token);
    if (lock.server->planned.tokens_may_go_back || (reads && lock.had_live_rollback)) return;
    if (!fresh) fail("I2", describe_hold(held) + " has a token that was granted before");
    if (held.token < request.newest_token || (held.token == request.newest_token && !reads))
        fail("I2", describe_hold(held) + " was requested after a grant of token " +
                       std::to_string(request.newest_token));
}

bool checker::can_coexist(const user_hold& held, const user_hold& other) const {
    return held.mode == other.mode && held.mode != lock_mode::exclusive;
}

// I1: no other user believes in the lock, except in a mode that allows both holds.
void checker::check_exclusivity(const user_hold& held) {
    if (is_excused(held)) return;
    for (const auto& [id, other] : holds_) {
        if (&other == &held || other.name != held.name || is_excused(other)) continue;
        if (is_believed(other) && !can_coexist(held, other))
            fail("I1", describe_hold(held) + " was granted during " + describe_hold(other));
    }
    if (held.mode == lock_mode::permits) check_permits(held);
}

void checker::check_permits(const user_hold& held) {
    std::uint32_t permits_held = 0;
    for (const auto& [id, other] : holds_)
        if (other.name == held.name && !is_excused(other) && is_believed(other))
            permits_held += other.permits;
    if (permits_held > semaphore_permits)
        fail("I1", describe_hold(held) + " was granted, and " + std::to_string(permits_held) +
                       " permits are held in all");
}

// I1 at the server: the server has every hold in which a user believes.
void checker::check_held_at_server(const user_hold& held, std::string_view when,
                                   std::string_view script) {
    const bool is_known = held.token != 0 || !held.owner.empty();
    if (!is_known || is_excused(held) || !is_believed(held)) return;
    auto& lock = locks_.at(held.name);
    const auto believed_until = held.handle == nullptr
                                    ? held.believed_until
                                    : held.process->instant_of(held.handle->safe_until());
    const auto end = server_expiry(lock, held);
    if (!end) {
        fail("I1", describe_hold(held) + " is not at the server, " + std::string(when) +
                       (script.empty() ? "" : " " + std::string(script)) + "; its value is '" +
                       current_value(lock) + "'");
    } else if (believed_until > *end) {
        fail("I1", describe_hold(held) + " is believed beyond its end at the server");
    }
}

instant checker::instant_of_server_ms(const lock_record& lock, std::int64_t server_ms) const {
    return loop_.now() + std::chrono::microseconds(server_ms * 1000 - data_of(lock).now_us());
}

// The end of the hold at the server; nothing if the server does not have it.
std::optional<instant> checker::server_expiry(const lock_record& lock, const user_hold& held) {
    if (is_redisson()) return redisson_expiry(lock, held);
    if (is_held_at_server(lock, held.token)) {
        const auto& data = data_of(lock);
        const auto ends = data.peek(lock.keys.lock)->expires_ms;
        return ends ? instant_of_server_ms(lock, *ends) : instant::max();
    }
    std::optional<instant> last;
    for (const auto& [owner, other] : current_holders(lock)) {
        if (other.token != held.token || find_process(other.value) != held.process) continue;
        last = std::max(last.value_or(instant::min()), instant_of_server_ms(lock, other.ends_ms));
    }
    return last;
}

bool checker::is_held_at_server(const lock_record& lock, std::uint64_t token) {
    if (is_redisson()) {
        const auto [first, last] = lock.redisson.owners_by_token.equal_range(token);
        return std::any_of(first, last, [&](const auto& granted) {
            if (lock.has_permits) return has_permits_of(lock, granted.second);
            return read_redisson_lock(lock).owners.contains(granted.second);
        });
    }
    const auto value = current_value(lock);
    const auto has_token = [&](const auto& token_by_value) {
        const auto position = token_by_value.find(value);
        return position != token_by_value.end() && position->second == token;
    };
    return !value.empty() &&
           (has_token(lock.token_by_value) || has_token(lock.reassigned_token_by_value));
}

void checker::watch(hold_id id) {
    const auto& held = holds_.at(id);
    const auto deadline = held.handle->safe_until();
    const auto before = held.process->instant_of(deadline) - 2us;
    loop_.schedule_at(before, [this, id] {
        const auto it = holds_.find(id);
        if (it != holds_.end()) check_held_at_server(it->second, "just before its deadline");
    });
    loop_.schedule_at(before + 2us, [this, id] { check_deadline(id); });
}

// I4: at the deadline the user has been notified, if its program was running just before.
void checker::check_deadline(hold_id id) {
    const auto it = holds_.find(id);
    if (it == holds_.end()) return;
    const auto& held = it->second;
    if (is_believed(held)) return watch(id);
    if (held.handle->state() == lock_state::released || held.lost.stop_requested()) return;
    if (is_awake(*held.process, 10ms)) {
        fail("I4", describe_hold(held) + " ended without a notification");
    } else if (!dead_processes_.contains(held.process)) {
        loop_.schedule_after(100ms, [this, id] { check_deadline(id); });
    }
}

void checker::end_hold(hold_id id) {
    const auto ended = holds_.extract(id);
    if (ended.empty()) return;
    for (const auto& permit : ended.mapped().permit_ids)
        java_permit_ids_.erase(permit);
}

void checker::note_downgrade(hold_id id) {
    auto& held = holds_.at(id);
    held.mode = lock_mode::shared;
    locks_.at(held.name).reader_tokens.insert(held.token);
}

// I3: the write of a believing user is not refused.
void checker::check_write(hold_id id) {
    const auto& held = holds_.at(id);
    if (held.token == 0 || !is_believed(held)) return;
    check_held_at_server(held, "while it wrote");
    if (held.mode == lock_mode::permits) return;  // permit holders write in any order
    auto& lock = locks_.at(held.name);
    const bool may_have_older_token = held.mode == lock_mode::shared && lock.had_live_rollback;
    const bool refused = held.token < lock.highest_written && !may_have_older_token;
    if (refused && !is_excused(held) && !lock.server->planned.tokens_may_go_back)
        fail("I3", describe_hold(held) + " wrote to the resource after token " +
                       std::to_string(lock.highest_written));
    // Readers' tokens may differ after a restart of the server, so only writers raise the highest
    // token.
    if (held.mode == lock_mode::exclusive)
        lock.highest_written = std::max(lock.highest_written, held.token);
}

void checker::check_noticed_loss(hold_id id) {
    const auto& held = holds_.at(id);
    const auto why = held.handle->why_lost();
    if (why == loss_reason::max_hold || was_ever_excused(held)) return;
    if (is_calm(locks_.at(held.name)) && held.process->resumed_at() == instant{})
        fail("I4", describe_hold(held) + " was lost (" + to_string(why) + ") without a fault");
}

void checker::note_crash(simulated_process& process) {
    dead_processes_.insert(&process);
    std::erase_if(holds_, [&](const auto& held) { return held.second.process == &process; });
    std::erase_if(java_permit_ids_, [&](const auto& permit) { return permit.second == &process; });
}

// The user believes in the hold for at most one lease after the fault. Nothing tells a Java thread
// that permits without a lease are lost.
instant checker::end_of_excuse(const user_hold& held, instant fault) const {
    const bool is_endless = held.believed_until == instant::max();
    if (is_endless && !is_plain_semaphore(locks_.at(held.name))) return instant::max();
    return fault + held.ttl * 102 / 100;
}

void checker::note_fault(lock_record& lock) {
    lock.last_fault = loop_.now();
    for (auto& [id, held] : holds_)
        if (&locks_.at(held.name) == &lock)
            held.excused_until = std::max(held.excused_until, end_of_excuse(held, loop_.now()));
}

void checker::note_fault(const std::string& name) { note_fault(locks_.at(name)); }

void checker::note_fault(const simulated_network& server) {
    for (auto& [name, lock] : locks_)
        if (&lock.server->network == &server) note_fault(lock);
}

void checker::note_clock_set(const simulated_network& server) {
    server_of(server).clock_set_at = loop_.now();
    note_fault(server);
}

void checker::set_refusing(const simulated_network& server, bool refusing) {
    auto& checked = server_of(server);
    if (checked.is_refusing && !refusing) checked.refusing_until = loop_.now();
    checked.is_refusing = refusing;
}

bool checker::was_refusing_since(std::size_t server, instant when) const {
    return servers_[server].is_refusing || servers_[server].refusing_until >= when;
}

void checker::note_live_rollback(const simulated_network& server) {
    note_old_data(server);
    for (auto& [name, lock] : locks_)
        if (&lock.server->network == &server) lock.had_live_rollback = true;
}

void checker::note_old_data(const simulated_network& server) {
    note_fault(server);
    for (auto& [name, lock] : locks_)
        if (&lock.server->network == &server) lock.restored_at = loop_.now();
    for (auto& [id, held] : holds_)
        if (&locks_.at(held.name).server->network == &server) held.excused_until = instant::max();
}

}  // namespace pawl::simulation
