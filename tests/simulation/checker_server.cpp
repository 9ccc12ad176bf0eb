// What the server does, command by command.
#include "checker.hpp"

#include "known_scripts.hpp"
#include "replies.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// In a calm network a message and what it leads to take no longer.
constexpr auto at_once = 50ms;

std::string_view script_of(const words& command) {
    if (command[0] != "EVALSHA" && command[0] != "EVAL") return {};
    const auto* const script = find_script(command[1]);
    return script == nullptr ? std::string_view() : script->name;
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
        return script != "acquire" && script != "renew" && script != "renew_beside" &&
               script != "several";
    }
    [[nodiscard]] bool enlists() const { return script == "acquire" || script == "join"; }
    // The caller's own lock, by its value: whether it wanted a token.
    [[nodiscard]] std::optional<bool> fenced_own(const std::string& value) const {
        if (enlists() && value == arguments[0]) return !arguments[2].empty();
        if (script == "several" &&
            std::find(arguments.begin() + 2, arguments.end(), value) != arguments.end())
            return !arguments[1].empty();
        return std::nullopt;
    }
    // Who asks for the lock, or says that it has it.
    [[nodiscard]] std::string owner() const {
        return arguments[0].substr(0, arguments[0].find(';'));
    }
};

std::string checker::value_now(const book& at) {
    auto& data = data_of(at);
    const auto* all = data.peek();
    const auto it = all->find(at.where.lock);
    if (it == all->end()) return {};
    const auto ends = it->second.expires_ms;
    if (ends && *ends < data.now_ms()) return {};
    const auto* text = std::get_if<std::string>(&it->second.content);
    if (text != nullptr && !ends && !text->starts_with("foreign"))
        fail("I6", "a lock without an end: '" + *text + "'");
    // Held beside others: see beside_now.
    return text != nullptr && !text->starts_with("pawl:") ? *text : std::string();
}

std::uint64_t checker::counter_now(const book& at) {
    const auto* all = data_of(at).peek();
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
    const auto database = network_.server().database();
    if (command[0] == "SUBSCRIBE" && command[1].find(":c:") != std::string::npos)
        clients_[command[1].substr(command[1].rfind(':') + 1)] = &by;
    latches_.executed(database, command, script, answer);
    if (script.empty()) return;
    const auto keys = std::stol(command[2]);
    const auto first = command.begin() + 3;
    const call what{by, script, words(first + keys, command.end()), answer};
    const bool refused = answer.what == redis::reply::kind::error;
    if (refused && answer.text.starts_with("NOSCRIPT")) return;
    check_owners(script, what.arguments);
    if (script.starts_with("renew") && !refused) refused_renewals_.clear();
    if (refused) return check_budget(by, script, *first, what.arguments);
    if (script == "latch_down") return check_steps(command.at(4), answer);
    // Renewals and `several` have keys of several locks.
    const auto each = script == "renew"          ? 1
                      : script == "several"      ? 2
                      : script == "renew_beside" ? 3
                                                 : keys;
    call_of_several all{database, {}, what.said(1)};
    for (auto key = first; key != first + keys; key += each) {
        const auto at = by_key_.find({database, *key});
        if (at != by_key_.end()) look_at(*at->second, what);
        if (script == "several")
            all.wanted.emplace_back(*key, what.arguments.at(2 + all.wanted.size()));
    }
    if (script == "several") check_all_or_none(all);
}

void checker::look_at(book& at, const call& what) {
    const auto& a = what.arguments;
    const auto now_ms = network_.server().data().now_ms();
    if (what.enlists() && !a[3].empty() && what.said(0))
        at.leases[a[3]] = now_ms + std::stoll(a[6]);
    if (what.script == "look" && what.said(0)) at.leases[a[2]] = now_ms + std::stoll(a[5]);
    if (what.script == "leave") at.left.insert(a[2]);
    // It may have to make the number anew, where that of the hand-off was lost with the counter.
    if (what.script == "look" && what.said(1))
        at.renumbered[value_now(at)] = std::stoull(what.answer.items[1].text);
    const auto now = value_now(at);
    const auto before = at.tokens[at.value];
    if (now != at.value) changed(at, what, now);
    look_at_holders(at, what);
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
        if (before != 0 && believes(one) && !is_excused(one) && !server_end(at, one))
            fail("I5", shown(one) + " was ended at the server by " + std::string(what.script));
    }
    at.value = now;
    if (now.empty() || at.tokens.contains(now)) return;
    if (now.starts_with("foreign")) {
        at.tokens[now] = 0;
        return;
    }
    const auto own = what.fenced_own(now);
    at.tokens[now] = own.value_or(true) ? counter_now(at) : 0;
    at.since[now] = world_.now();
    if (what.script == "renew") fail("I5", "a renewal made a lock");
    if (what.script == "several" && plan_.calm_network) expect_delivery(at, now);
    if (what.passes_on() && !own) passed_on(at, what, now);
}

checker::holders checker::beside_now(const book& at) {
    holders found;
    auto& data = data_of(at);
    const auto* all = data.peek();
    const auto lock = all->find(at.where.lock);
    const auto set = all->find(at.where.holders);
    const auto details = all->find(at.where.details);
    if (lock == all->end() || set == all->end() || details == all->end()) return found;
    const auto* mark = std::get_if<std::string>(&lock->second.content);
    const auto* members = std::get_if<store::sorted_set>(&set->second.content);
    const auto* records = std::get_if<store::hash>(&details->second.content);
    if (mark == nullptr || !mark->starts_with("pawl:") || !members || !records) return found;
    for (const auto& [score, owner] : members->order) {
        const auto record = records->find(owner);
        const auto ends = static_cast<std::int64_t>(score);
        if (record == records->end() || ends <= data.now_ms()) continue;
        const auto& text = record->second;  // PERMITS TOKEN VALUE
        const auto first = text.find(' ');
        const auto second = text.find(' ', first + 1);
        found[owner] = {text.substr(second + 1), std::stoull(text.substr(first + 1)),
                        std::stoll(text), ends};
    }
    return found;
}

bool checker::held_as(const book& at, std::string_view mark) const {
    const auto* all = data_of(at).peek();
    const auto lock = all->find(at.where.lock);
    if (lock == all->end()) return false;
    const auto* text = std::get_if<std::string>(&lock->second.content);
    return text != nullptr && *text == mark;
}

void checker::look_at_holders(book& at, const call& what) {
    const auto before = std::exchange(at.beside, beside_now(at));
    if (what.script == "force" && what.said(1) && !before.empty()) {
        at.forced = at.disturbed = world_.now();
        expect_all_told(at);
    }
    if (before.empty() && at.beside.empty()) return;
    for (const auto& [owner, one] : at.beside)
        if (!before.contains(owner)) joined(at, what, owner);
    std::int64_t out = 0;
    for (const auto& [owner, one] : at.beside)
        out += one.permits;
    const bool calm = at.disturbed < instant{} && clock_set_ < instant{};
    const bool mixed = what.script == "renew_beside" || !held_as(at, "pawl:permits");
    if (calm && !mixed && at.has_permits && out > pool_permits)
        fail("I1", std::to_string(out) + " permits are out at the server");
    for (const auto& [id, one] : tenures_)
        if (&books_.at(one.name) == &at) check_ours(one, "after " + std::string(what.script));
}

void checker::joined(book& at, const call& what, const std::string& owner) {
    const auto& value = at.beside.at(owner).value;
    if (!at.seen.insert(value).second) return;  // the server came up with it again
    at.since[value] = world_.now();
    if (what.script == "renew_beside") fail("I5", "a renewal made a hold");
    if ((what.enlists() || what.script == "downgrade") && owner == what.owner()) return;
    const auto member = member_of(value);
    if (at.leases[member] <= network_.server().data().now_ms())
        fail("I6", "a waiter whose place had ended was let in");
    if (!plan_.calm_network) return;
    if (at.left.contains(member)) fail("I6", "a waiter that had left was let in");
    world_.after(at_once, [this, &at, owner, value] {
        const auto now = beside_now(at);
        const auto found = now.find(owner);
        const auto* to = client_of(value);
        if (found == now.end() || found->second.value != value || found->second.token == 0) return;
        if (to == nullptr || !awake(*to, 2 * at_once) || has_set_under_way(at, *to)) return;
        if (!at.taken.contains({to, found->second.token}))
            fail("I6", "a waiter was let in with token " + std::to_string(found->second.token) +
                           ", and did not come");
    });
}

// Every holder is told of an operator's force.
void checker::expect_all_told(const book& of) {
    std::vector<tenure_id> victims;
    for (auto& [id, one] : tenures_) {
        if (&books_.at(one.name) != &of) continue;
        one.excused_until = std::max(one.excused_until, world_.now() + one.ttl * 102 / 100);
        if (one.token != 0) victims.push_back(id);
    }
    if (!plan_.calm_network) return;
    world_.after(at_once, [this, victims] {
        for (const auto id : victims) {
            const auto found = tenures_.find(id);
            if (found == tenures_.end() || !believes(found->second)) continue;
            if (awake(*found->second.by, 2 * at_once))
                fail("I4", shown(found->second) + " was taken by force, and its holder not told");
        }
    });
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
        if (has_set_under_way(at, *to)) return;
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
    if (what.script == "leave" && at.value.starts_with(a[3] + ";") && at.value != a[4])
        fail("I6", "a waiter left and kept the lock");
    if (what.script == "look" || (what.passes_on() && what.said(1)))
        check_nobody_forgotten(at, what);
    if (what.script == "join" && what.said(1) && data_of(at).peek()->contains(at.where.queue))
        fail("I6", "who waits for his turn went past the line");
}

// I11: a step is taken once or not at all. Said again it has the same answer, or none.
void checker::check_steps(const std::string& request, const redis::reply& answer) {
    if (plan_.forgets_steps || answer.items.size() != 2) return;
    const auto& first = answer.items[0].text;
    if (first.empty() || first == "late") return;
    const auto said = first + " " + answer.items[1].text;
    const auto [known, fresh] = steps_.emplace(request, said);
    if (!fresh && known->second != said)
        fail("I11", "a step was counted twice: " + known->second + ", then " + said);
}

// Places come back with the data: one of an hour that the clock was set back from ends later than
// the last one that was asked for.
void checker::data_changed() {
    latches_.data_changed();
    for (auto& [name, at] : books_) {
        const auto* all = data_of(at).peek();
        const auto it = all->find(at.where.waiters);
        if (it == all->end()) continue;
        const auto* places = std::get_if<store::hash>(&it->second.content);
        if (places == nullptr) continue;
        for (const auto& [member, record] : *places) {
            std::int64_t lease = 0;
            std::from_chars(record.data(), record.data() + record.size(), lease);
            at.leases[member] = std::max(at.leases[member], lease);
        }
    }
}

// A lock that is free, or may be shared, and who could have it, do not meet.
void checker::check_nobody_forgotten(book& at, const call& what) {
    if (!plan_.calm_network || !at.value.empty()) return;
    auto& data = data_of(at);
    const auto* all = data.peek();
    const auto it = all->find(at.where.waiters);
    const auto line = all->find(at.where.queue);
    if (it == all->end() || line == all->end()) return;
    const auto* waiters = std::get_if<store::hash>(&it->second.content);
    const auto* order = std::get_if<store::sorted_set>(&line->second.content);
    if (waiters == nullptr || order == nullptr) return;
    bool first = true;
    for (const auto& [score, member] : order->order) {
        const auto record = waiters->find(member);
        const auto client = clients_.find(member.substr(0, member.find(':')));
        if (record == waiters->end() || client == clients_.end() ||
            std::stoll(record->second) <= data.now_ms())
            continue;
        if (!dead_.contains(client->second) && could_go(at, record->second, first))
            fail("I6", std::string(what.script) + " left the lock free under a waiter's nose");
        first = false;
    }
}

// `record`: LEASE WINDOW WANT PREFIX
bool checker::could_go(const book& at, const std::string& record, bool first) {
    if (at.beside.empty()) return true;
    if (!first) return false;
    const auto want = record.substr(record.find(' ', record.find(' ') + 1) + 1);
    if (want[0] != 'p') return want[0] == 's' && held_as(at, "pawl:shared");
    std::int64_t out = std::stoll(want.substr(1));
    for (const auto& [owner, one] : at.beside)
        out += one.permits;
    return held_as(at, "pawl:permits") && out <= pool_permits;
}

void checker::expect_no_locks() {
    for (auto& [name, at] : books_) {
        const auto value = value_now(at);
        const auto* of = client_of(value);
        if (of != nullptr && !dead_.contains(of))
            fail("I6", "'" + name + "' stays locked, and nobody has it: '" + value + "'");
        for (const auto& [owner, one] : beside_now(at)) {
            const auto* by = client_of(one.value);
            if (by != nullptr && !dead_.contains(by))
                fail("I6", "'" + name + "' stays held, and nobody has it: '" + one.value + "'");
        }
    }
}

void checker::expect_no_waiters() {
    for (auto& [name, at] : books_) {
        for (const auto* key : {&at.where.queue, &at.where.waiters})
            if (data_of(at).all().contains(*key))
                fail("I6", "'" + name + "' still has waiters, and nobody waits");
    }
}

}  // namespace pawl::simulation
