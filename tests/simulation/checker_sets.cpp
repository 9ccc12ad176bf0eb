// Several names as one: all of them, or none.
#include "checker.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr auto at_once = 50ms;

}  // namespace

void checker::set_asked(process& by, const std::vector<std::string>& names) {
    for (const auto& name : names)
        ++books_.at(name).sets[&by].asking;
}

void checker::set_ended(process& by, const std::vector<std::string>& names) {
    for (const auto& name : names) {
        auto& at = books_.at(name);
        auto& sets = at.sets[&by];
        --sets.asking;
        sets.ended = world_.now();
        expect_nothing_left(at, by);
    }
}

bool checker::disturbed_since(const std::vector<std::string>& names, instant when) const {
    return std::ranges::any_of(names,
                               [&](const auto& name) { return books_.at(name).disturbed >= when; });
}

void checker::set_given(process& by, const held_locks& set,
                        const std::vector<std::string>& wanted) {
    if (!std::ranges::equal(set, wanted, {}, &held_lock::name))
        fail("I8", "a set has other names than it was asked for");
    for (const held_lock& one : set)
        if (one.state() == lock_state::lost && awake(by, 10ms))
            fail("I8", "a set was given, and '" + std::string(one.name()) + "' of it was lost");
    look_at_set(set);
}

// What it says of itself is what its parts say.
void checker::look_at_set(const held_locks& set) {
    const auto any = [&](auto test) { return std::any_of(set.begin(), set.end(), test); };
    const auto is_lost = [](const held_lock& one) { return one.state() == lock_state::lost; };
    const auto is_told = [](const held_lock& one) { return one.lost().stop_requested(); };
    const auto is_earlier = [&](const held_lock& one) {
        return one.safe_until() < set.safe_until();
    };
    const auto has_other = [&](const held_lock& one) {
        return set.token(one.name()) != one.token();
    };
    if (any(is_lost) != (set.state() == lock_state::lost))
        fail("I8", "one of a set was lost, and not the set, or the other way round");
    if (any(is_told) != set.lost().stop_requested())
        fail("I8", "the loss of one of a set was not told as that of the set");
    if (any(is_earlier)) fail("I8", "a set is believed for longer than one of it");
    if (any(has_other)) fail("I8", "a set has another token for a name than its handle");
}

// `several` at the server: all of them are the caller's now, or none is.
void checker::check_all_or_none(const call_of_several& what) {
    std::size_t taken = 0;
    for (const auto& [key, value] : what.wanted) {
        const auto at = by_key_.find({what.database, key});
        if (at != by_key_.end() && value_now(*at->second) == value) ++taken;
    }
    if (taken != (what.granted ? what.wanted.size() : 0))
        fail("I8", "several said " + std::string(what.granted ? "all" : "none") + ", and took " +
                       std::to_string(taken));
}

// Or ceased to ask a moment ago, and gives back what it has; expect_nothing_left looks after it.
bool checker::has_set_under_way(book& at, const process& by) const {
    const auto& sets = at.sets[&by];
    return sets.asking > 0 || world_.now() < sets.ended + at_once;
}

// What a client was given, and none of its users has, is under way to one of them, or goes back.
// While a user of it asks for several, what came early waits for what comes last.
void checker::expect_nothing_left(book& at, process& by) {
    if (!plan_.calm_network) return;
    world_.after(at_once, [this, &at, &by] {
        if (has_set_under_way(at, by) || !awake(by, 2 * at_once)) return;
        const auto look = [&](const std::string& value, std::uint64_t token) {
            if (token == 0 || client_of(value) != &by || at.taken.contains({&by, token})) return;
            if (world_.now() >= at.since[value] + at_once)
                fail("I8", "'" + value + "' was taken with others, and given neither on nor back");
        };
        const auto value = value_now(at);
        if (!value.empty()) look(value, at.tokens[value]);
        for (const auto& [owner, one] : beside_now(at))
            look(one.value, one.token);
    });
}

}  // namespace pawl::simulation
