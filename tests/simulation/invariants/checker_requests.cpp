// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests in Redisson's layout, as their programs send them and see their replies.
#include "checker.hpp"

#include "../java/java_scripts.hpp"
#include "../server/known_scripts.hpp"

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// The owner of permits is 12 random bytes.
std::string printable(const std::string& owner) {
    static constexpr char digits[] = "0123456789abcdef";
    if (owner.size() != 12) return owner;
    std::string text;
    for (const auto letter : owner) {
        const auto byte = static_cast<unsigned char>(letter);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// The ids follow the number of permits, two times, the time of an endless permit, and a command.
std::span<const std::string> requested_permit_ids(const words& command) {
    return std::span(command).subspan(3 + std::stoul(command[2]) + 5);
}

bool is_release(std::string_view script) {
    return script.starts_with("redisson/") && script.ends_with("release") &&
           script != "redisson/force_release";
}

// An undo is a release without an unlock latch, which would be its last key.
bool is_undo(const words& command, std::string_view script) {
    if (!is_release(script)) return false;
    const auto& last_key = command[2 + std::stoul(command[2])];
    return !last_key.starts_with("redisson_unlock_latch:");
}

bool can_make_hold(std::string_view script) {
    return script.starts_with("redisson/") && script.ends_with("acquire");
}

const std::string& owner_in(const words& command) { return command[3 + std::stoul(command[2])]; }

// The script refused the request, or the server refused the script before its first write.
bool has_taken_nothing(const redis::reply& reply) {
    return reply.type == redis::reply::kind::error || reply.items.at(0).number == 0;
}

std::string_view script_of(const words& command) {
    if (command[0] != "EVALSHA" && command[0] != "EVAL") return {};
    const auto* const known = find_script(command[1]);
    return known != nullptr ? known->name : find_java_script(command[1]);
}

}  // namespace

// I9: an owner is not used again after a request that was granted, undone, or left without a reply.
// The undo of the one request would also undo the other. While the replies are refusals, the same
// waiter tries again with its owner. Java's requests for permits have new ids each.
void checker::on_sent(simulated_process& process, const words& command) {
    if (!is_redisson()) return note_release_sent(command);
    const auto script = script_of(command);
    if (can_make_hold(script)) {
        const auto& owner = owner_in(command);
        if (spent_owners_.contains(owner) || !pending_owners_.insert(owner).second)
            fail("I9", "the owner " + printable(owner) + " of a request was used before");
    } else if (is_undo(command, script)) {
        spent_owners_.insert(owner_in(command));
    } else if (script == "java/permits_acquire") {
        for (const auto& id : requested_permit_ids(command)) {
            java_permit_ids_.emplace(id, &process);
            if (!owners_.insert(id).second) fail("I9", "a permit's id of Java was used before");
        }
    }
}

void checker::on_answered(const words& command, const redis::reply* reply) {
    if (!is_redisson()) return note_release_answered(command, reply);
    const auto script = script_of(command);
    if (can_make_hold(script)) {
        const auto& owner = owner_in(command);
        pending_owners_.erase(owner);
        if (reply == nullptr || !has_taken_nothing(*reply)) spent_owners_.insert(owner);
    } else if (script == "java/permits_acquire" && (reply == nullptr || reply->text != "OK")) {
        for (const auto& id : requested_permit_ids(command))
            java_permit_ids_.erase(id);
    }
}

// I9 at the server: no request is executed again after it was granted.
void checker::check_granted_owner(const redisson_invocation& invocation) {
    const auto& owner = invocation.arguments()[0];
    if (owners_.contains(owner))
        fail("I9", std::string(invocation.script) + " was executed for the owner " +
                       printable(owner) + " after a grant");
    if (invocation.reply.items.at(0).number == 1) owners_.insert(owner);
}

// I10: as in the native layout. Java's programs are not checked: a refused thread gets an
// exception, and decides itself when to try again.
void checker::check_redisson_budget(const redisson_invocation& invocation) {
    if (!invocation.script.starts_with("redisson/") ||
        invocation.reply.text.starts_with("NOSCRIPT"))
        return;
    auto& server = servers_.front();
    const auto& owner = invocation.arguments()[0];
    const auto users = plan_.users_per_program;
    if (can_make_hold(invocation.script)) {
        const auto& key = invocation.keys().front();
        // Each executed script may publish a message, which causes another attempt, or may be a
        // waiter's own, whose success ends its back-off.
        auto& executed = executed_scripts_[key];
        auto& requests = requests_[&invocation.process];
        const std::size_t reconnections = server.planned.is_calm ? 0 : 4;
        count_refusal(invocation.process, "attempts at " + key,
                      (7 + reconnections) * users + 3 * count_recent(requests, loop_.now(), 1s) +
                          users * count_recent(executed, loop_.now(), 1s),
                      (12 + 2 * reconnections) * users +
                          3 * count_recent(requests, loop_.now(), 5s) +
                          users * count_recent(executed, loop_.now(), 5s));
    } else if (is_undo(invocation.command, invocation.script)) {
        // Each of a program's clients has its own undos.
        count_refusal(invocation.process, "undos", 3 * (8 + 8 * users), 3 * (12 + 8 * users));
    } else if (is_release(invocation.script)) {
        count_refusal(invocation.process, "releases of " + printable(owner), 14, 24);
    } else if (invocation.script == "redisson/renew") {
        for (std::size_t i = 1; i < invocation.arguments().size(); i += 4)
            count_refused_renewal(invocation.arguments()[i]);
    }
}

// The server may refuse one renewal of a script and execute the others.
void checker::check_renewal_replies(const redisson_invocation& invocation) {
    for (std::size_t i = 0; i < invocation.reply.items.size(); ++i) {
        const auto& owner = invocation.arguments()[4 * i + 1];
        if (invocation.reply.items[i].number == -1)
            count_refused_renewal(owner);
        else
            servers_.front().refused_renewals.erase(owner);
    }
}

void checker::count_refused_renewal(const std::string& owner) {
    if (++servers_.front().refused_renewals[owner] > 20)
        fail("I10", "more than 20 renewals of " + printable(owner) + " were refused");
}

}  // namespace pawl::simulation
