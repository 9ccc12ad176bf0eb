// What users hold: see checker_server.cpp for what the server does.
#include "checker.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

checker::checker(scheduler& world, simulated_network& network, const plan& what, trace& log)
    : world_(world),
      network_(network),
      plan_(what),
      log_(log),
      latches_(
          world, network, what,
          [this](const std::string& rule, const std::string& sentence) { fail(rule, sentence); },
          [this](const process& who, instant length) { return awake(who, length); }) {}

void checker::add_name(const std::string& name, const redis::keys& where, std::size_t database,
                       bool has_permits) {
    auto& made = books_[name];
    made.where = where;
    made.database = database;
    made.has_permits = has_permits;
    by_key_[{database, where.lock}] = &made;
}

void checker::fail(const std::string& rule, const std::string& what) {
    log_.say("VIOLATION " + rule + ": " + what);
    if (violation_.empty()) violation_ = rule + ": " + what;
}

checker::question checker::asked(process& by, const std::string& name,
                                 const lock_options& options) {
    asked_[&by].push_back(world_.now());
    return {world_.now(), books_.at(name).newest, std::min(options.ttl, options.max_hold),
            options.mode, options.permits};
}

bool checker::believes(const tenure& one) const {
    const auto state = one.handle->state();
    return state == lock_state::held || state == lock_state::at_risk;
}

bool checker::is_excused(const tenure& one) const { return world_.now() <= one.excused_until; }

bool checker::excused(tenure_id which) const { return is_excused(tenures_.at(which)); }

bool checker::awake(const process& who, instant for_the_last) const {
    return !who.paused() && !dead_.contains(&who) &&
           (who.resumed_at() == instant{} || who.resumed_at() + for_the_last <= world_.now());
}

std::string checker::shown(const tenure& one) const {
    return "the hold of '" + one.name + "' with token " + std::to_string(one.token);
}

checker::tenure_id checker::granted(process& by, const std::string& name, const held_lock& handle,
                                    const question& asked) {
    ++grants_;
    auto& at = books_.at(name);
    const auto id = ++made_;
    auto& one = tenures_[id];
    one = {&by,         name,       &handle,       handle.token().value(), asked.ttl,
           instant(-1), asked.mode, asked.permits, handle.lost()};
    at.taken.emplace(&by, one.token);
    // What the trouble took may have been given before it, and be believed for one lease.
    if (asked.invoked <= at.disturbed) one.excused_until = at.disturbed + asked.ttl * 102 / 100;
    // A waiter bounds the instant of its grant by the server's clock, which was set meanwhile.
    if (asked.invoked <= clock_set_) one.excused_until = world_.now() + asked.ttl * 102 / 100;
    if (asked.invoked <= at.set_back) one.excused_until = instant::max();
    if (one.token != 0) check_tokens(one, at, asked);
    if (!believes(one)) return id;
    check_alone(one);
    check_ours(one, "when it was given");
    watch(id);
    return id;
}

// I2: unique but for those who read at the same time, and in the order of real time.
void checker::check_tokens(const tenure& one, book& at, const question& asked) {
    const bool reads = one.mode == lock_mode::shared;
    const bool fresh =
        at.returned.insert(one.token).second || (reads && at.of_readers.contains(one.token));
    if (reads) at.of_readers.insert(one.token);
    at.newest = std::max(at.newest, one.token);
    if (plan_.tokens_may_go_back || (reads && at.readers_from_before)) return;
    if (!fresh) fail("I2", shown(one) + " has a token that somebody had before");
    if (one.token < asked.newest || (one.token == asked.newest && !reads))
        fail("I2", shown(one) + " began after one with token " + std::to_string(asked.newest) +
                       " had been given");
}

bool checker::go_together(const tenure& one, const tenure& other) const {
    return one.mode == other.mode && one.mode != lock_mode::exclusive;
}

// I1: nobody else believes, but for who may.
void checker::check_alone(const tenure& one) {
    if (is_excused(one)) return;
    for (const auto& [id, other] : tenures_) {
        if (&other == &one || other.name != one.name || is_excused(other)) continue;
        if (believes(other) && !go_together(one, other))
            fail("I1", shown(one) + " was given during " + shown(other));
    }
    if (one.mode == lock_mode::permits) check_permits(one);
}

void checker::check_permits(const tenure& one) {
    std::uint32_t out = 0;
    for (const auto& [id, other] : tenures_)
        if (other.name == one.name && !is_excused(other) && believes(other)) out += other.permits;
    if (out > pool_permits)
        fail("I1", shown(one) + " was given, and " + std::to_string(out) + " permits are out");
}

// I1, from the server's side: what a user believes, the server has in its books.
void checker::check_ours(const tenure& one, const std::string& when) {
    if (one.token == 0 || is_excused(one) || !believes(one)) return;
    auto& at = books_.at(one.name);
    const auto end = server_end(at, one);
    if (!end) {
        fail("I1",
             shown(one) + " is not the server's, " + when + "; that has '" + value_now(at) + "'");
    } else if (one.by->instant_of(one.handle->safe_until()) > *end) {
        fail("I1", shown(one) + " is believed for longer than the server keeps it");
    }
}

instant checker::instant_at(std::int64_t server_ms) {
    const auto& data = network_.server().data();
    return world_.now() + std::chrono::microseconds(server_ms * 1000 - data.now_us());
}

// How long the server keeps it; nothing: it is not the server's.
std::optional<instant> checker::server_end(const book& at, const tenure& one) {
    if (server_has(at, one.token)) {
        const auto& data = data_of(at);
        const auto ends = data.peek()->find(at.where.lock)->second.expires_ms;
        return ends ? instant_at(*ends) : instant::max();
    }
    std::optional<instant> last;
    for (const auto& [owner, other] : beside_now(at)) {
        if (other.token != one.token || client_of(other.value) != one.by) continue;
        last = std::max(last.value_or(instant::min()), instant_at(other.ends_ms));
    }
    return last;
}

bool checker::server_has(const book& at, std::uint64_t token) {
    const auto value = value_now(at);
    const auto is_its = [&](const auto& numbers) {
        const auto known = numbers.find(value);
        return known != numbers.end() && known->second == token;
    };
    return !value.empty() && (is_its(at.tokens) || is_its(at.renumbered));
}

void checker::watch(tenure_id which) {
    const auto& one = tenures_.at(which);
    const auto deadline = one.handle->safe_until();
    const auto before = one.by->instant_of(deadline) - 2us;
    world_.at(before, [this, which] {
        const auto found = tenures_.find(which);
        if (found != tenures_.end()) check_ours(found->second, "just before its deadline");
    });
    world_.at(before + 2us, [this, which, before] { check_deadline(which, before + 2us); });
}

// I4: at the deadline the user has been told, if its program could run at all just before.
void checker::check_deadline(tenure_id which, instant deadline) {
    const auto found = tenures_.find(which);
    if (found == tenures_.end()) return;
    const auto& one = found->second;
    if (believes(one)) return watch(which);
    if (one.handle->state() == lock_state::released || one.lost.stop_requested()) return;
    if (awake(*one.by, 10ms)) {
        fail("I4", shown(one) + " was over without a word");
    } else if (!dead_.contains(one.by)) {
        world_.after(100ms, [this, which, deadline] { check_deadline(which, deadline); });
    }
}

void checker::gone(tenure_id which) { tenures_.erase(which); }

void checker::released(const std::vector<std::string>& names, const std::vector<given_up>& what,
                       bool surely, instant called, release_result found) {
    const bool disturbed = !plan_.calm_network || std::ranges::any_of(names, [&](const auto& name) {
        return books_.at(name).forced >= called;
    });
    if (surely && !disturbed && found != release_result::released)
        fail("I5", "a release of '" + names.front() + "' found it " + to_string(found));
    if (found != release_result::released) return;
    // It may have come back before the answer was seen.
    if (books_.at(names.front()).set_back >= called) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& one = what.at(i);
        if (one.mode == lock_mode::exclusive && one.token != 0 &&
            server_has(books_.at(names[i]), one.token))
            fail("I5", "a release of '" + names[i] + "' left it as it was");
    }
}

void checker::steps_down(tenure_id which) {
    auto& one = tenures_.at(which);
    one.mode = lock_mode::shared;
    books_.at(one.name).of_readers.insert(one.token);
}

// I3: what a believer writes is not refused.
void checker::wrote(tenure_id which) {
    const auto& one = tenures_.at(which);
    if (one.token == 0 || !believes(one)) return;
    check_ours(one, "while it wrote");
    if (one.mode == lock_mode::permits) return;  // they write in any order
    auto& at = books_.at(one.name);
    const bool from_before = one.mode == lock_mode::shared && at.readers_from_before;
    const bool refused = one.token < at.written && !from_before;
    if (refused && !is_excused(one) && !plan_.tokens_may_go_back)
        fail("I3", shown(one) + " wrote after token " + std::to_string(at.written));
    // Readers' tokens may differ after a restart of the server; what they read is of the last
    // writer.
    if (one.mode == lock_mode::exclusive) at.written = std::max(at.written, one.token);
}

void checker::noticed_loss(tenure_id which) {
    const auto& one = tenures_.at(which);
    const auto why = one.handle->why_lost();
    if (why == loss_reason::max_hold || is_excused(one) || one.excused_until >= instant{}) return;
    if (plan_.calm_network && one.by->resumed_at() == instant{})
        fail("I4", shown(one) + " was lost (" + to_string(why) + ") although nothing went wrong");
}

void checker::died(process& who) {
    dead_.insert(&who);
    std::erase_if(tenures_, [&](const auto& one) { return one.second.by == &who; });
}

void checker::disturbed(const std::string* name) {
    for (auto& [key, at] : books_)
        if (name == nullptr || key == *name) at.disturbed = world_.now();
    for (auto& [id, one] : tenures_)
        if (name == nullptr || one.name == *name)
            one.excused_until = std::max(one.excused_until, world_.now() + one.ttl * 102 / 100);
}

void checker::clock_set() {
    clock_set_ = world_.now();
    disturbed(nullptr);
}

void checker::refusing(bool on) {
    if (refusing_ && !on) refused_ = world_.now();
    refusing_ = on;
}

bool checker::refused_since(instant when) const { return refusing_ || refused_ >= when; }

void checker::data_went_back() {
    set_back();
    for (auto& [key, at] : books_)
        at.readers_from_before = true;
}

void checker::set_back() {
    disturbed(nullptr);
    for (auto& [key, at] : books_)
        at.set_back = world_.now();
    for (auto& [id, one] : tenures_)
        one.excused_until = instant::max();
}

}  // namespace pawl::simulation
