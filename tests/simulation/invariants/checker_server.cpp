// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the server's commands, one by one.
#include "checker.hpp"

#include "../java/java_scripts.hpp"
#include "../server/known_scripts.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// In a calm network, a message and its consequences take no longer.
constexpr auto delivery_limit = 50ms;

std::string_view script_of(const words& command, bool has_java) {
    if (command[0] != "EVALSHA" && command[0] != "EVAL") return {};
    const auto* const script = find_script(command[1]);
    if (script != nullptr) return script->name;
    return has_java ? find_java_script(command[1]) : std::string_view();
}

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

struct checker::script_invocation {
    simulated_process& process;
    std::string_view script;
    std::span<const std::string> arguments;
    const redis::reply& reply;

    [[nodiscard]] bool returned(std::int64_t number) const {
        if (reply.type == redis::reply::kind::integer) return reply.number == number;
        return !reply.items.empty() && reply.items[0].number == number;
    }
    [[nodiscard]] bool can_hand_off() const {
        return script != "acquire" && script != "renew" && script != "renew_non_exclusive" &&
               script != "acquire_batch";
    }
    [[nodiscard]] bool can_enqueue() const {
        return script == "acquire" || script == "acquire_any_mode";
    }
    // The call asks for a place in the queue.
    [[nodiscard]] bool names_waiter() const {
        return can_enqueue() && arguments.size() > 3 && !arguments[3].empty();
    }
    [[nodiscard]] bool names_successor(std::string_view member) const {
        return script == "release" && arguments.size() > 4 && arguments[3] == member;
    }
    // Whether this call requested a token for the value. Empty: the call did not request the lock
    // under this value.
    [[nodiscard]] std::optional<bool> requested_token_for(const std::string& value) const {
        if (can_enqueue() && value == arguments[0]) return !arguments[2].empty();
        if (script == "acquire_batch" &&
            std::find(arguments.begin() + 2, arguments.end(), value) != arguments.end())
            return !arguments[1].empty();
        return std::nullopt;
    }
    // The owner that requests the lock or holds it.
    [[nodiscard]] std::string owner() const {
        return arguments[0].substr(0, arguments[0].find(';'));
    }
};

std::string checker::current_value(const lock_record& lock) {
    if (is_redisson()) return {};
    auto& data = data_of(lock);
    const auto* const stored = data.peek(lock.keys.lock);
    if (stored == nullptr) return {};
    const auto ends = stored->expires_ms;
    if (ends && *ends < data.now_ms()) return {};
    const auto* const text = std::get_if<std::string>(&stored->content);
    if (text != nullptr && !ends && !text->starts_with("foreign"))
        fail("I6", "a lock without an expiry: '" + *text + "'");
    // Non-exclusive holds: see current_holders.
    return text != nullptr && !text->starts_with("pawl:") ? *text : std::string();
}

std::uint64_t checker::current_counter(const lock_record& lock) {
    const auto* const text = data_of(lock).peek<std::string>(lock.keys.fence);
    return text != nullptr ? std::stoull(*text) : 0;
}

std::string checker::member_of(const std::string& value) {
    const auto first = value.find(';');
    const auto second = first == value.npos ? first : value.find(';', first + 1);
    if (second == value.npos) return {};
    return value.substr(first + 1, second - first - 1) + ":" + value.substr(0, first);
}

simulated_process* checker::find_process(const std::string& value) const {
    const auto member = member_of(value);
    const auto it = processes_.find(member.substr(0, member.find(':')));
    return it == processes_.end() ? nullptr : it->second;
}

void checker::note_command(const checked_server& server, const words& command,
                           std::string_view script, const redis::reply& reply) {
    trace::line line(trace_);
    line << (servers_.size() == 1 ? "server: " : "server" + server.label + ": ");
    describe(command, script, line);
    line << " -> ";
    describe(reply, line);
}

void checker::on_executed(simulated_network& network, simulated_process& process,
                          const words& command, const redis::reply& reply) {
    auto& server = server_of(network);
    const auto script = script_of(command, is_redisson());
    note_command(server, command, script, reply);
    const auto database = network.server().database();
    if (is_redisson()) {
        if (!script.empty()) on_redisson_executed({process, database, script, command, reply});
        return;
    }
    if (command[0] == "SUBSCRIBE" && command[1].find(":c:") != std::string::npos)
        processes_[command[1].substr(command[1].rfind(':') + 1)] = &process;
    latches_.on_executed(server, database, command, script, reply);
    if (script.empty()) return;
    const auto key_count = std::stol(command[2]);
    const auto first = command.begin() + 3;
    const script_invocation invocation{process, script, {first + key_count, command.end()}, reply};
    const bool refused = reply.type == redis::reply::kind::error;
    if (refused && reply.text.starts_with("NOSCRIPT")) return;
    check_owners(script, invocation.arguments);
    if (script.starts_with("renew") && !refused) server.refused_renewals.clear();
    if (refused) return check_budget(server, process, script, *first, invocation.arguments);
    if (script == "latch_down") return check_latch_step(server, command.at(4), reply);
    // Renewals and `acquire_batch` have keys of several locks.
    const auto keys_per_lock = script == "renew"                 ? 1
                               : script == "acquire_batch"       ? 2
                               : script == "renew_non_exclusive" ? 3
                                                                 : key_count;
    batch_invocation batch{server, database, {}, invocation.returned(1)};
    for (auto key = first; key != first + key_count; key += keys_per_lock) {
        auto* const lock = find_lock(server, database, *key);
        if (lock != nullptr) inspect_lock(*lock, invocation);
        if (script == "acquire_batch")
            batch.wanted.emplace_back(*key, invocation.arguments[2 + batch.wanted.size()]);
    }
    if (script == "acquire_batch") check_all_or_none(batch);
}

void checker::inspect_lock(lock_record& lock, const script_invocation& invocation) {
    const auto& args = invocation.arguments;
    const auto now_ms = data_of(lock).now_ms();
    if (invocation.names_waiter() && invocation.returned(0))
        lock.waiter_leases[args[3]] = now_ms + std::stoll(args[6]);
    if (invocation.script == "refresh" && invocation.returned(0))
        lock.waiter_leases[args[2]] = now_ms + std::stoll(invocation.reply.items.at(4).text);
    if (invocation.script == "refresh")
        check_far_refresh(lock, invocation.process, args[2], invocation.reply);
    if (invocation.script == "leave") lock.left_waiters.insert(args[2]);
    // The script may create a new token if the token of the hand-off was lost with the counter.
    if (invocation.script == "refresh" && invocation.returned(1))
        lock.reassigned_token_by_value[current_value(lock)] =
            std::stoull(invocation.reply.items[1].text);
    const auto new_value = current_value(lock);
    const auto token_before = lock.token_by_value[lock.value];
    if (new_value != lock.value) note_new_value(lock, invocation, new_value);
    inspect_holders(lock, invocation);
    if (invocation.script == "force_release" && invocation.returned(1)) {
        if (token_before != 0 && current_counter(lock) <= token_before &&
            !lock.server->planned.tokens_may_go_back)
            fail("I2", "a forced release did not raise the token");
        check_forced(lock, invocation.process, token_before);
        expect_notified(lock, token_before);
    }
    check_rules(lock, invocation);
}

void checker::note_new_value(lock_record& lock, const script_invocation& invocation,
                             const std::string& new_value) {
    const auto token_before = lock.token_by_value[lock.value];
    const bool forced = invocation.script == "force_release";
    if (forced) lock.forced_at = lock.last_fault = loop_.now();
    for (auto& [id, held] : holds_) {
        // The server may have issued a token for a hold that its user has without one.
        const bool may_be_this = held.token == token_before || (forced && held.token == 0);
        if (!may_be_this || &locks_.at(held.name) != &lock) continue;
        if (forced)
            held.excused_until = std::max(held.excused_until, end_of_excuse(held, loop_.now()));
        // A hold that the client itself releases was given up before.
        if (token_before != 0 && is_believed(held) && !is_excused(held) &&
            !server_expiry(lock, held))
            fail("I5", describe_hold(held) + " was ended at the server by " +
                           std::string(invocation.script));
    }
    lock.value = new_value;
    if (new_value.empty() || lock.token_by_value.contains(new_value)) return;
    if (new_value.starts_with("foreign")) {
        lock.token_by_value[new_value] = 0;
        return;
    }
    const auto requested_token = invocation.requested_token_for(new_value);
    lock.token_by_value[new_value] = requested_token.value_or(true) ? current_counter(lock) : 0;
    lock.first_seen[new_value] = loop_.now();
    if (invocation.script == "renew") fail("I5", "a renewal created a lock");
    if (invocation.script == "acquire_batch" && is_calm(lock)) expect_delivery(lock, new_value);
    if (invocation.can_hand_off() && !requested_token.has_value())
        note_hand_off(lock, invocation, new_value);
}

checker::server_holders checker::current_holders(const lock_record& lock) {
    server_holders result;
    auto& data = data_of(lock);
    const auto* const mark = data.peek<std::string>(lock.keys.lock);
    const auto* const members = data.peek<store::sorted_set>(lock.keys.holders);
    const auto* const records = data.peek<store::hash>(lock.keys.details);
    if (mark == nullptr || !mark->starts_with("pawl:") || !members || !records) return result;
    for (const auto& [score, owner] : members->in_order()) {
        const auto record = records->find(owner);
        const auto ends = static_cast<std::int64_t>(score);
        if (record == records->end() || ends <= data.now_ms()) continue;
        const auto& text = record->second;  // PERMITS TOKEN VALUE
        const auto first = text.find(' ');
        const auto second = text.find(' ', first + 1);
        result[owner] = {text.substr(second + 1), std::stoull(text.substr(first + 1)),
                         std::stoll(text), ends};
    }
    return result;
}

bool checker::is_held_as(const lock_record& lock, std::string_view mark) const {
    const auto* const text = data_of(lock).peek<std::string>(lock.keys.lock);
    return text != nullptr && *text == mark;
}

void checker::inspect_holders(lock_record& lock, const script_invocation& invocation) {
    const auto before = std::exchange(lock.non_exclusive_holders, current_holders(lock));
    if (invocation.script == "force_release" && invocation.returned(1) && !before.empty()) {
        lock.forced_at = lock.last_fault = loop_.now();
        expect_all_notified(lock);
        check_forced(
            lock, invocation.process,
            std::ranges::min(before | std::views::values, {}, &server_holder::token).token);
    }
    if (before.empty() && lock.non_exclusive_holders.empty()) return;
    for (const auto& [owner, holder] : lock.non_exclusive_holders)
        if (!before.contains(owner)) note_new_holder(lock, invocation, owner);
    std::int64_t permits_held = 0;
    for (const auto& [owner, holder] : lock.non_exclusive_holders)
        permits_held += holder.permits;
    const bool calm = lock.last_fault < instant{} && lock.server->clock_set_at < instant{};
    const bool mixed =
        invocation.script == "renew_non_exclusive" || !is_held_as(lock, "pawl:permits");
    if (calm && !mixed && lock.has_permits && permits_held > semaphore_permits)
        fail("I1", std::to_string(permits_held) + " permits are held at the server");
    for (const auto& [id, held] : holds_)
        if (&locks_.at(held.name) == &lock) check_held_at_server(held, "after", invocation.script);
}

void checker::note_new_holder(lock_record& lock, const script_invocation& invocation,
                              const std::string& owner) {
    const auto& value = lock.non_exclusive_holders.at(owner).value;
    if (!lock.seen_values.insert(value).second) return;  // restored by the server
    lock.first_seen[value] = loop_.now();
    if (invocation.script == "renew_non_exclusive") fail("I5", "a renewal created a hold");
    if ((invocation.can_enqueue() || invocation.script == "downgrade") &&
        owner == invocation.owner())
        return;
    const auto member = member_of(value);
    if (lock.waiter_leases[member] <= data_of(lock).now_ms())
        fail("I6", "a waiter with an expired lease was granted the lock");
    if (!is_calm(lock)) return;
    if (lock.left_waiters.contains(member))
        fail("I6", "a waiter that had left was granted the lock");
    loop_.schedule_after(delivery_limit, [this, &lock, owner, value, since = loop_.now()] {
        const auto present_holders = current_holders(lock);
        const auto it = present_holders.find(owner);
        const auto* process = find_process(value);
        if (it == present_holders.end() || it->second.value != value || it->second.token == 0)
            return;
        if (process == nullptr || !is_awake(*process, 2 * delivery_limit) ||
            has_active_set_request(lock, *process) || was_granted_unfenced(lock, *process, since))
            return;
        if (!lock.granted_tokens.contains({process, it->second.token}))
            fail("I6", "a waiter was granted token " + std::to_string(it->second.token) +
                           " and did not take it");
    });
}

// Every holder is notified of a forced release.
void checker::expect_all_notified(const lock_record& lock) {
    std::vector<hold_id> victims;
    for (auto& [id, held] : holds_) {
        if (&locks_.at(held.name) != &lock) continue;
        held.excused_until = std::max(held.excused_until, end_of_excuse(held, loop_.now()));
        // One that a forced release by token has left to its holder is no victim.
        if (held.token != 0 && !server_expiry(lock, held)) victims.push_back(id);
    }
    if (!is_calm(lock)) return;
    loop_.schedule_after(delivery_limit, [this, victims] {
        for (const auto id : victims) {
            const auto it = holds_.find(id);
            if (it == holds_.end() || !is_believed(it->second)) continue;
            if (is_awake(*it->second.process, 2 * delivery_limit))
                fail("I4",
                     describe_hold(it->second) + " was released by force without a notification");
        }
    });
}

void checker::note_hand_off(lock_record& lock, const script_invocation& invocation,
                            const std::string& new_value) {
    const auto member = member_of(new_value);
    const bool to_local_successor = invocation.names_successor(member);
    if (!to_local_successor && lock.waiter_leases[member] <= data_of(lock).now_ms())
        fail("I6", "the lock was granted to a waiter with an expired lease");
    if (!is_calm(lock)) return;
    // A local successor may leave while the release is sent. Then its client passes the lock on.
    if (!to_local_successor && lock.left_waiters.contains(member))
        fail("I6", "the lock was granted to a waiter that had left");
    expect_delivery(lock, new_value);
}

// A hand-off is a push: the waiter gets the lock at once, or has left.
void checker::expect_delivery(lock_record& lock, const std::string& value) {
    loop_.schedule_after(delivery_limit, [this, &lock, value, since = loop_.now()] {
        const auto* process = find_process(value);
        const auto token = lock.token_by_value[value];
        if (lock.value != value || current_value(lock) != value || token == 0) return;
        if (process == nullptr || !is_awake(*process, 2 * delivery_limit) ||
            lock.tokens_seen_by_users.contains(token))
            return;
        if (has_active_set_request(lock, *process) || was_granted_unfenced(lock, *process, since))
            return;
        fail("I6", "token " + std::to_string(token) + " was handed off, and no user took it");
    });
}

void checker::expect_notified(const lock_record& lock, std::uint64_t token) {
    if (!is_calm(lock) || token == 0) return;
    loop_.schedule_after(delivery_limit, [this, &lock, token] {
        for (const auto& [id, held] : holds_)
            if (&locks_.at(held.name) == &lock && held.token == token && is_believed(held) &&
                is_awake(*held.process, 2 * delivery_limit))
                fail("I4", describe_hold(held) + " was released by force without a notification");
    });
}

void checker::check_rules(lock_record& lock, const script_invocation& invocation) {
    const auto& args = invocation.arguments;
    if (invocation.script == "release" && invocation.returned(1) && lock.value == args[0])
        fail("I5", "a release did not change the lock");
    if (invocation.script == "leave" && lock.value.starts_with(args[3] + ";") &&
        lock.value != args[4])
        fail("I6", "a waiter left the queue and kept the lock");
    if (invocation.script == "refresh" || (invocation.can_hand_off() && invocation.returned(1)))
        check_no_waiter_skipped(lock, invocation);
    if (invocation.script == "acquire_any_mode" && invocation.returned(1) &&
        data_of(lock).peek(lock.keys.queue) != nullptr)
        fail("I6", "a new waiter overtook the queue");
}

// I11: a step counts once or not at all. A repeated request has the same reply, or none.
void checker::check_latch_step(const checked_server& server, const std::string& request,
                               const redis::reply& reply) {
    if (server.planned.may_forget_steps || reply.items.size() != 2) return;
    const auto& first = reply.items[0].text;
    if (first.empty() || first == "late") return;
    const auto text = first + " " + reply.items[1].text;
    const auto [known, fresh] = step_replies_.emplace(request, text);
    if (!fresh && known->second != text)
        fail("I11", "a step was counted twice: " + known->second + ", then " + text);
}

// Restored data contain waiters. If the clock was set back, their leases may end later than those
// of the last requests.
void checker::on_data_changed(simulated_network& network) {
    latches_.on_data_changed();
    if (is_redisson()) {
        for (auto& [name, lock] : locks_) {
            lock.redisson.present = read_redisson_lock(lock);
            lock.redisson.permits = read_permits(lock);
            lock.redisson.queue.clear();
        }
        return;
    }
    for (auto& [name, lock] : locks_) {
        if (&lock.server->network != &network) continue;
        const auto* const waiters = data_of(lock).peek<store::hash>(lock.keys.waiters);
        if (waiters == nullptr) continue;
        for (const auto& [member, record] : *waiters) {
            std::int64_t lease = 0;
            std::from_chars(record.data(), record.data() + record.size(), lease);
            lock.waiter_leases[member] = std::max(lock.waiter_leases[member], lease);
        }
    }
}

// No waiter remains in the queue of a lock that could be granted to it.
void checker::check_no_waiter_skipped(lock_record& lock, const script_invocation& invocation) {
    if (!is_calm(lock) || !lock.value.empty()) return;
    // A script that admits few waiters leaves the others to the next one.
    if (plan_.bounds_of_scripts.grants_at_once < script_limits().grants_at_once) return;
    auto& data = data_of(lock);
    const auto* const waiters = data.peek<store::hash>(lock.keys.waiters);
    const auto* const queue = data.peek<store::sorted_set>(lock.keys.queue);
    if (waiters == nullptr || queue == nullptr) return;
    bool first = true;
    for (const auto& [score, member] : queue->in_order()) {
        const auto record = waiters->find(member);
        const auto client = processes_.find(member.substr(0, member.find(':')));
        if (record == waiters->end() || client == processes_.end() ||
            std::stoll(record->second) <= data.now_ms())
            continue;
        if (!dead_processes_.contains(client->second) &&
            can_be_granted(lock, record->second, first))
            fail("I6", std::string(invocation.script) +
                           " left the lock free although a waiter could get it");
        first = false;
    }
}

// `record`: LEASE WINDOW WANT PREFIX
bool checker::can_be_granted(const lock_record& lock, const std::string& record, bool first) {
    if (lock.non_exclusive_holders.empty()) return true;
    if (!first) return false;
    const auto want = record.substr(record.find(' ', record.find(' ') + 1) + 1);
    if (want[0] != 'p') return want[0] == 's' && is_held_as(lock, "pawl:shared");
    std::int64_t permits_held = std::stoll(want.substr(1));
    for (const auto& [owner, holder] : lock.non_exclusive_holders)
        permits_held += holder.permits;
    return is_held_as(lock, "pawl:permits") && permits_held <= semaphore_permits;
}

void checker::expect_no_locks() {
    if (is_redisson()) return expect_no_redisson_locks();
    for (auto& [name, lock] : locks_) {
        const auto value = current_value(lock);
        const auto* process = find_process(value);
        if (process != nullptr && !dead_processes_.contains(process))
            fail("I6", "'" + name + "' stays locked without a user: '" + value + "'");
        for (const auto& [owner, holder] : current_holders(lock)) {
            const auto* holder_process = find_process(holder.value);
            if (holder_process != nullptr && !dead_processes_.contains(holder_process))
                fail("I6", "'" + name + "' stays held without a user: '" + holder.value + "'");
        }
    }
}

void checker::expect_no_waiters() {
    for (auto& [name, lock] : locks_) {
        for (const auto& key : {lock.keys.queue, lock.keys.waiters})
            if (data_of(lock).all().contains(key))
                fail("I6", "'" + name + "' still has waiters at the end");
    }
}

}  // namespace pawl::simulation
