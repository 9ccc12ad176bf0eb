#include "latch_checker.hpp"

#include <charconv>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// In a calm network a message and what it leads to take no longer.
constexpr auto at_once = 50ms;

std::uint64_t to_number(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

latch_checker::latch_checker(scheduler& world, simulated_network& network, const plan& of,
                             failing fail, is_awake awake)
    : world_(world),
      network_(network),
      plan_(of),
      fail_(std::move(fail)),
      awake_(std::move(awake)) {}

void latch_checker::add(const std::string& name, const latch_keys& keys) {
    auto& made = books_[name];
    made.where = keys;
    made.opened = keys.redisson ? instant{} : instant{-1};
    made.unknown = instant{};
    by_key_[{keys.database, keys.key}] = &made;
}

latch_checker::standing latch_checker::read(const book& at) {
    auto& data = network_.server().data(at.where.database);
    standing found;
    const auto it = data.peek()->find(at.where.key);
    if (it == data.peek()->end()) return found;
    const auto ends = it->second.expires_ms;
    if (ends && *ends < data.now_ms()) return found;
    found.ends_ms = ends.value_or(0);
    if (const auto* const text = std::get_if<std::string>(&it->second.content)) {
        found.known = true;
        found.count = to_number(*text);
        return found;
    }
    const auto* const fields = std::get_if<store::hash>(&it->second.content);
    if (fields == nullptr) return found;
    const auto field = [&](std::string_view name) {
        const auto value = fields->find(name);
        return value == fields->end() ? std::uint64_t{0} : to_number(value->second);
    };
    found.known = true;
    found.count = field("count");
    found.generation = field("generation");
    found.first = field("first");
    return found;
}

// What it was until now counts as of now: it may have ended only in this moment.
void latch_checker::look(book& at) {
    const auto now = world_.now();
    const auto& data = network_.server().data(at.where.database);
    if (is_open(at)) at.opened = now;
    const bool expired = at.now.ends_ms != 0 && at.now.ends_ms < data.now_ms();
    if (!at.now.known || expired) at.unknown = now;
    const auto before = std::exchange(at.now, read(at));
    if (before != at.now) at.since = now;
    if (is_open(at)) at.opened = now;
    if (!at.now.known) at.unknown = now;
    const bool both = before.known && at.now.known;
    if (both && (at.now.generation < before.generation || at.now.first != before.first))
        at.unknown = now;
    if (at.now.generation < before.generation) at.went_back = true;
    if (at.now.known && at.now.count == 0 && !at.where.redisson)
        came_to_zero(at, at.now.generation);
    if (at.where.redisson && before.known && !at.now.known) expect_passed(at, 0);
}

void latch_checker::came_to_zero(book& at, std::uint64_t turn) {
    if (at.over.emplace(turn, world_.now()).second) expect_passed(at, turn);
}

// I13: each who waited for it goes at once where nothing can hold up the message.
void latch_checker::expect_passed(book& at, std::uint64_t turn) {
    if (!plan_.calm_network) return;
    const auto opened = world_.now();
    world_.after(at_once, [this, &at, turn, opened] {
        // Who looks at Redisson's latch may find it set again.
        if (at.where.redisson && at.since > opened) return;
        for (const auto& [id, each] : waits_) {
            if (each.at != &at || (each.turn != 0 && each.turn != turn)) continue;
            // Who came just before may have looked after it was set again.
            const auto latest = each.turn != 0 ? opened : opened - at_once;
            if (each.began <= latest && awake_(*each.by, 3 * at_once))
                fail_("I13", "a waiter for '" + each.name + "' sleeps, and it came to 0");
        }
    });
}

latch_checker::wait_id latch_checker::waits(process& by, const std::string& name,
                                            std::uint64_t turn, instant since, bool listens) {
    const auto id = ++made_;
    auto& at = books_.at(name);
    waits_[id] = {&by, &at, name, turn, since, world_.now(), listens};
    return id;
}

// I12: nobody goes before its own latch is at 0, or is told that it is gone while it is there.
void latch_checker::ended(wait_id which, ending how) {
    const auto of = std::move(waits_.extract(which).mapped());
    auto& at = *of.at;
    if (of.listens) at.listened[of.by] = world_.now();
    look(at);
    if (how == ending::unknown_latch) {
        if (at.where.redisson || at.unknown < of.since)
            fail_("I12", "a waiter for '" + of.name + "' was told that it is not known, and it is");
        return;
    }
    if (how != ending::passed) return;
    const bool was_over = of.turn != 0 ? at.over.contains(of.turn) : at.opened >= of.since;
    const bool from_before = at.went_back && !at.over.empty();
    if (!was_over && !from_before)
        fail_("I12", "a waiter for '" + of.name + "' went, and it was not at 0");
}

void latch_checker::unknown_latch(const std::string& name, instant since) {
    auto& at = books_.at(name);
    look(at);
    if (at.where.redisson || at.unknown < since)
        fail_("I12", "a step of '" + name + "' did not find it, and it is there");
}

void latch_checker::executed(std::size_t database, const std::vector<std::string>& command,
                             std::string_view script, const redis::reply& answer) {
    if (books_.empty()) return;
    if (command[0] == "PUBSUB") {
        auto key = command.at(2);
        if (const auto slash = key.rfind('/'); slash != key.npos) key.erase(slash);
        const auto at = by_key_.find({database, key});
        if (at != by_key_.end()) check_count(*at->second, answer.items.at(1).number);
        return;
    }
    if (!script.starts_with("latch_") && !script.starts_with("redisson/")) return;
    const auto found = by_key_.find({database, command.at(3)});
    if (found == by_key_.end()) return;
    look(*found->second);
    if (script == "latch_down") check_step(*found->second, command, answer);
}

// I14: a barrier's turn is over when all have come, each of them once.
void latch_checker::check_step(book& at, const std::vector<std::string>& command,
                               const redis::reply& answer) {
    if (answer.items.size() != 2 || answer.items[0].text.empty()) return;
    if (answer.items[0].text == "late") return;
    const auto turn = to_number(answer.items[0].text);
    const auto& missing = answer.items[1].text;
    if (missing == "0") came_to_zero(at, turn);
    const auto& parties = command.at(7);
    if (parties == "0" || plan_.forgets_steps) return;
    auto& told = at.arrivals[turn];
    const auto& request = command.at(4);
    const auto [known, fresh] = told.emplace(missing, request);
    if (!fresh && known->second != request)
        fail_("I14", "two who came to a barrier were told that " + missing + " are missing");
    if (missing == "0" && told.size() != to_number(parties))
        fail_("I14", "a barrier of " + parties + " let go when " + std::to_string(told.size()) +
                         " had come");
}

// I12: who listens is counted in its own database. A connection that broke is counted on for a
// while, so where the network is calm only.
void latch_checker::check_count(const book& at, std::int64_t listeners) {
    if (!plan_.calm_network || at.where.redisson) return;
    std::set<const process*> surely, perhaps;
    for (const auto& [id, each] : waits_) {
        if (each.at != &at || !each.listens) continue;
        perhaps.insert(each.by);
        if (each.began + at_once <= world_.now() && awake_(*each.by, 3 * at_once))
            surely.insert(each.by);
    }
    for (const auto& [by, ended] : at.listened)
        if (ended + at_once > world_.now() || !awake_(*by, 3 * at_once)) perhaps.insert(by);
    const auto counted = static_cast<std::size_t>(listeners);
    if (counted < surely.size() || counted > perhaps.size())
        fail_("I12", std::to_string(counted) + " are said to wait for a latch, and " +
                         std::to_string(surely.size()) + " to " + std::to_string(perhaps.size()) +
                         " do");
}

void latch_checker::data_changed() {
    for (auto& [name, at] : books_)
        look(at);
}

void latch_checker::healed() {
    data_changed();
    healed_ = world_.now();
    for (auto& [name, at] : books_)
        at.when_healed = at.now;
}

// I13: also who waits for a turn that is over or unknown. Data that went back may have brought a
// turn back that was over: what counts is how it stood when all was well again.
bool latch_checker::must_have_ended(const wait& of) const {
    const auto& at = *of.at;
    const auto& then = at.when_healed;
    if (of.began > healed_) return false;
    // A turn that comes again, before a waiter for it has looked, has forgotten the waiter's step.
    const bool comes_again = of.turn > then.generation && of.turn == at.now.generation;
    if (of.turn != 0 && then.known && comes_again) return at.now.count == 0;
    if (of.turn != 0) return !then.known || of.turn != then.generation || then.count == 0;
    return at.since <= healed_ && (is_open(at) || !then.known);
}

void latch_checker::expect_no_sleepers() {
    data_changed();
    for (const auto& [id, each] : waits_)
        if (awake_(*each.by, instant{}) && must_have_ended(each))
            fail_("I13", "a waiter for '" + each.name + "' sleeps, and could have gone for long");
}

}  // namespace pawl::simulation
