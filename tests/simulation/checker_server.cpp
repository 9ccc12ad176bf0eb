// What the server does, command by command.
#include "checker.hpp"

#include "replies.hpp"

#include <redis_scripts.hpp>

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// In a calm network a message and what it leads to take no longer.
constexpr auto at_once = 50ms;

std::string_view script_of(const words& command) {
    if (command[0] != "EVALSHA" && command[0] != "EVAL") return {};
    for (const auto& one : redis::scripts::all)
        if (command[1] == one.sha1 || command[1] == one.text) return one.name;
    return {};
}

// The script and its lock, and of a value or waiter that it names the owner's first digits.
std::string describe(const words& command, std::string_view script) {
    if (script.empty()) return command[0];
    auto text = std::string(script) + " " + command[3];
    for (auto word = command.begin() + 4; word != command.end(); ++word) {
        const auto end = word->find_first_of(";:");
        if (end == 32) text += " " + word->substr(0, 6) + word->substr(30, 2);
        if (end == 16) text += " " + word->substr(17, 6) + word->substr(47, 2);
    }
    return text;
}

}  // namespace

struct checker::call {
    process& by;
    std::string_view script;
    words arguments;
    const redis::reply& answer;

    [[nodiscard]] bool said(std::int64_t number) const {
        if (answer.what == redis::reply::kind::integer) return answer.number == number;
        return !answer.items.empty() && answer.items[0].number == number;
    }
    [[nodiscard]] bool passes_on() const {
        return script == "release" || script == "leave" || script == "look" || script == "force";
    }
};

std::string checker::value_now(const book& at) {
    auto& data = network_.server().data();
    const auto* all = data.peek();
    const auto it = all->find(at.where.lock);
    if (it == all->end()) return {};
    const auto ends = it->second.expires_ms;
    if (ends && *ends < data.now_ms()) return {};
    const auto* text = std::get_if<std::string>(&it->second.content);
    if (text != nullptr && !ends && !text->starts_with("foreign"))
        fail("I6", "a lock without an end: '" + *text + "'");
    return text != nullptr ? *text : std::string();
}

std::uint64_t checker::counter_now(const book& at) {
    const auto* all = network_.server().data().peek();
    const auto it = all->find(at.where.fence);
    if (it == all->end()) return 0;
    const auto* text = std::get_if<std::string>(&it->second.content);
    return text != nullptr ? std::stoull(*text) : 0;
}

// OWNER;CLIENT;…
std::string checker::member_of(const std::string& value) {
    const auto first = value.find(';');
    const auto second = first == value.npos ? first : value.find(';', first + 1);
    if (second == value.npos) return {};
    return value.substr(first + 1, second - first - 1) + ":" + value.substr(0, first);
}

process* checker::client_of(const std::string& value) const {
    const auto member = member_of(value);
    const auto it = clients_.find(member.substr(0, member.find(':')));
    return it == clients_.end() ? nullptr : it->second;
}

void checker::executed(process& by, const words& command, const redis::reply& answer) {
    const auto script = script_of(command);
    log_.say("server: " + describe(command, script) + " -> " + to_string(answer));
    if (command[0] == "SUBSCRIBE") clients_[command[1].substr(command[1].rfind(':') + 1)] = &by;
    if (script.empty() || answer.what == redis::reply::kind::error) return;
    const auto keys = std::stol(command[2]);
    const auto first = command.begin() + 3;
    const call what{by, script, words(first + keys, command.end()), answer};
    // Only a renewal has keys of several locks.
    const auto locks = script == "renew" ? keys : 1;
    for (auto key = first; key != first + locks; ++key) {
        const auto at = by_key_.find(*key);
        if (at != by_key_.end()) look_at(*at->second, what);
    }
}

void checker::look_at(book& at, const call& what) {
    const auto& a = what.arguments;
    const auto now_ms = network_.server().data().now_ms();
    if (what.script == "acquire" && !a[3].empty() && what.said(0))
        at.leases[a[3]] = now_ms + std::stoll(a[6]);
    if (what.script == "look" && what.said(0)) at.leases[a[2]] = now_ms + std::stoll(a[5]);
    if (what.script == "leave") at.left.insert(a[2]);
    // It may have to make the number anew, where that of the hand-off was lost with the counter.
    if (what.script == "look" && what.said(1))
        at.renumbered[value_now(at)] = std::stoull(what.answer.items[1].text);
    const auto now = value_now(at);
    const auto before = at.tokens[at.value];
    if (now != at.value) changed(at, what, now);
    if (what.script == "force" && what.said(1)) {
        if (before != 0 && counter_now(at) <= before && !plan_.tokens_may_go_back)
            fail("I2", "a lock was taken by force, and its token not overtaken");
        expect_told(at, before);
    }
    check_rules(at, what);
}

void checker::changed(book& at, const call& what, const std::string& now) {
    const auto before = at.tokens[at.value];
    const bool forced = what.script == "force";
    if (forced) at.forced = at.disturbed = world_.now();
    for (auto& [id, one] : tenures_) {
        if (one.token != before || &books_.at(one.name) != &at) continue;
        if (forced)
            one.excused_until = std::max(one.excused_until, world_.now() + one.ttl * 102 / 100);
        // What the client itself is giving back at this moment was given up before.
        if (before != 0 && believes(one) && !is_excused(one))
            fail("I5", shown(one) + " was ended at the server by " + std::string(what.script));
    }
    at.value = now;
    if (now.empty() || at.tokens.contains(now)) return;
    if (now.starts_with("foreign")) {
        at.tokens[now] = 0;
        return;
    }
    const bool fenced = what.script != "acquire" || !what.arguments[2].empty();
    at.tokens[now] = fenced ? counter_now(at) : 0;
    if (what.script == "renew") fail("I5", "a renewal made a lock");
    if (what.passes_on()) passed_on(at, what, now);
}

void checker::passed_on(book& at, const call& what, const std::string& now) {
    const auto member = member_of(now);
    const bool heir = what.script == "release" && what.arguments[3] == member;
    if (!heir && at.leases[member] <= network_.server().data().now_ms())
        fail("I6", "the lock was passed on to a waiter whose place had ended");
    if (!plan_.calm_network) return;
    // An heir may leave while the release is on its way; then its client passes the lock on.
    if (!heir && at.left.contains(member))
        fail("I6", "the lock was passed on to a waiter that had left");
    expect_delivery(at, now);
}

// A hand-off is a push: its waiter runs at once, or has left.
void checker::expect_delivery(book& at, const std::string& value) {
    world_.after(at_once, [this, &at, value] {
        const auto* to = client_of(value);
        const auto token = at.tokens[value];
        if (at.value != value || value_now(at) != value || token == 0) return;
        if (to == nullptr || !awake(*to, 2 * at_once) || at.returned.contains(token)) return;
        // A look that was under way while an operator took the lock may be given it a second time.
        if (at.forced + 2 * at_once > world_.now()) return;
        fail("I6", "token " + std::to_string(token) + " was handed off, and nobody took it");
    });
}

void checker::expect_told(const book& of, std::uint64_t token) {
    if (!plan_.calm_network || token == 0) return;
    world_.after(at_once, [this, &of, token] {
        for (const auto& [id, one] : tenures_)
            if (&books_.at(one.name) == &of && one.token == token && believes(one) &&
                awake(*one.by, 2 * at_once))
                fail("I4", shown(one) + " was taken by force, and its holder not told");
    });
}

void checker::check_rules(book& at, const call& what) {
    const auto& a = what.arguments;
    if (what.script == "release" && what.said(1) && at.value == a[0])
        fail("I5", "a release left the lock as it was");
    if (what.script == "leave" && at.value.starts_with(a[3] + ";"))
        fail("I6", "a waiter left and kept the lock");
    if (what.script == "look" || (what.passes_on() && what.said(1)))
        check_nobody_forgotten(at, what);
}

// A free lock and a living waiter do not meet.
void checker::check_nobody_forgotten(book& at, const call& what) {
    if (!plan_.calm_network || !at.value.empty()) return;
    auto& data = network_.server().data();
    const auto* all = data.peek();
    const auto it = all->find(at.where.waiters);
    if (it == all->end()) return;
    const auto* waiters = std::get_if<store::hash>(&it->second.content);
    if (waiters == nullptr) return;
    for (const auto& [member, record] : *waiters) {
        const auto client = clients_.find(member.substr(0, member.find(':')));
        if (client == clients_.end() || dead_.contains(client->second)) continue;
        if (std::stoll(record) > data.now_ms())
            fail("I6", std::string(what.script) + " freed the lock under a waiter's nose");
    }
}

void checker::expect_no_locks() {
    for (auto& [name, at] : books_) {
        const auto value = value_now(at);
        const auto* of = client_of(value);
        if (of != nullptr && !dead_.contains(of))
            fail("I6", "'" + name + "' stays locked, and nobody has it: '" + value + "'");
    }
}

void checker::expect_no_waiters() {
    for (auto& [name, at] : books_) {
        for (const auto* key : {&at.where.queue, &at.where.waiters})
            if (network_.server().data().all().contains(*key))
                fail("I6", "'" + name + "' still has waiters, and nobody waits");
    }
}

}  // namespace pawl::simulation
