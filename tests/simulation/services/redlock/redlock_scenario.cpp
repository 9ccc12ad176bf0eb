// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_scenario.hpp"

#include "../../kernel/process_resources.hpp"
#include "../scenarios.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <array>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

// How long a node may keep a lock of nobody, or a waiter may wait for a free lock, when nothing
// disturbs them. Clients that have tried at the same time pause for up to half a second; a client
// that nobody tells tries again after about one second.
constexpr auto longest_orphan = 1500ms;
constexpr auto longest_neglect = 800ms;
// A longer round trip is that of a far node.
constexpr auto longest_quick_trip = 50ms;
// Beside the lease, until a client has noticed that it has lost its nodes.
constexpr auto longest_ignorance = 1500ms;

world_settings settings_of(const redlock_plan& plan) {
    return {.seed = plan.seed,
            .program_count = plan.program_count,
            .users_per_program = plan.users_per_program,
            .has_sets = plan.has_sets,
            .downgrades = plan.has_readers ? 0.3 : 0,
            .longest_idle = 300ms,
            .longest_hold = plan.longest_hold,
            .shortest_round = 300ms,
            .longest_round = 2500ms,
            .last_round = 3s,
            .observation_pause = 50ms,
            .rests_during_recovery = false,
            .longest_end = 20s,
            .end_pause = 20ms};
}

}  // namespace

redlock_scenario::redlock_scenario(const redlock_plan& scenario_plan, const trace::line_sink& sink)
    : world(settings_of(scenario_plan), sink),
      plan_(scenario_plan),
      holds_(loop_),
      nodes_({loop_, plan_, random_.fork(), trace_, holds_}),
      operator_(loop_, nodes_.choices(), nodes_.options(), plan_, random_.fork(), trace_) {
    holds_.set_bounds(plan_.longest_ttl, 1s);
    start();
    if (!plan_.has_other_names) return;
    auto aliases = nodes_.options();
    for (auto& each : aliases.nodes)
        std::get<redis::server>(each).host.insert(0, "alias-of-");
    client_with_other_names_ = std::make_unique<program>(*this, "other names", random_.fork());
    client_with_other_names_->connect(
        redlock_service(nodes_.choices_without_epochs(), client_with_other_names_->process, aliases,
                        plan_.limits, {plan_.bug, plan_.loses_messages}));
}

service redlock_scenario::connect(simulated_process& process) {
    return redlock_service(nodes_.choices(), process, nodes_.options(), plan_.limits,
                           {plan_.bug, plan_.loses_messages});
}

const std::vector<std::string>& redlock_scenario::names() const { return redlock_server::names(); }

double redlock_scenario::clock_rate(prng& random) const {
    return static_cast<double>(random.between(997, 1003)) / 1000;
}

// An operator who knows that the set is new begins it, before any program runs.
void redlock_scenario::begin() {
    if (!plan_.is_asserted_new) {
        has_begun_ = true;
    } else {
        for (int i = 0; i < 20 && !has_begun_; ++i) {
            operator_.begin_set(false, [this](bool succeeded) { has_begun_ = succeeded; });
            while (operator_.is_busy())
                loop_.run_for(10ms);
        }
        // A broken connection may have kept a node from answering in time, or half a set began.
        if (!has_begun_ && !plan_.breaks) fail("a new set does not begin");
    }
    if (plan_.has_contests) hold_contests();
    world::begin();
}

lock_options redlock_scenario::choose(user& caller, attempt& made) {
    const bool is_single = made.names.size() == 1;
    const auto ttl =
        1ms * caller.choices.between(plan_.shortest_ttl / 1ms, plan_.longest_ttl / 1ms);
    lock_options options{.ttl = ttl, .wait = 12s};
    if (plan_.has_readers && is_single && caller.choices.happens(0.5))
        options.mode = lock_mode::shared;
    if (plan_.has_unfenced) options.fenced = caller.choices.happens(0.6);
    if (is_calm_) options.wait = std::chrono::ceil<std::chrono::milliseconds>(longest_recovery());
    const bool is_short = !is_finishing_ && caller.choices.happens(0.25);
    if (is_short) options.wait = 1ms * caller.choices.between(0, 600);
    const bool is_served = plan_.is_gentle() && is_single && plan_.longest_hold <= 2s;
    made.may_time_out = is_short || (!is_calm_ && !is_served);
    return options;
}

void redlock_scenario::check_downgrade(program& by, const believed_hold&,
                                       const boost::system::error_code& ec) {
    trace_.write(by.label + (ec ? " cannot share it: " + ec.message() : " shares it"));
}

// Nobody learns of the end of a hold from the result of its release alone.
void redlock_scenario::check_release(program& by, const held_lock& lock, const believed_hold& hold,
                                     instant asked_at, release_result result) {
    trace_.write(by.label + " is told that " + hold.name + " is " + to_string(result));
    if (result == release_result::expired || result == release_result::taken_over) {
        const auto counted = by.locks->statistics();
        const bool is_told = lock.state() == lock_state::lost && lock.lost().stop_requested() &&
                             counted.losses + counted.late_releases >= ++by.late_releases;
        if (!is_told)
            fail("a hold of " + hold.name +
                 " had ended before its release, and neither its state nor a counter tells");
        return;
    }
    // The operator's program is cut off from some nodes.
    const bool all_nodes_answer = &by != programs_.front().get();
    if (plan_.judges_releases && (result == release_result::released || all_nodes_answer))
        holds_.note_release(hold, asked_at, result);
}

void redlock_scenario::note(believed_hold& granted) {
    trace::line(trace_) << granted.label << " has " << granted.name << ", token "
                        << static_cast<std::int64_t>(granted.token) << ", nodes "
                        << static_cast<std::int64_t>(
                               nodes_.count_nodes_with(granted.name, granted.label));
}

void redlock_scenario::check_loss(const believed_hold& lost) {
    const bool is_forced = holds_.is_forced_near(lost.name, lost.granted_at, lost.token);
    if (plan_.is_gentle() && !is_forced) fail("a hold was lost without a fault");
}

void redlock_scenario::check_failure(const attempt& failed, const boost::system::error_code& ec) {
    static constexpr std::array expected{errc::timed_out, errc::unreachable, errc::unavailable,
                                         errc::no_quorum, errc::no_set,      errc::lost};
    if (std::ranges::none_of(expected, [&](errc each) { return ec == make_error_code(each); }))
        return fail("an unexpected error: " + ec.message() + ": " +
                    std::string(failed.messages.message()));
    const bool may_be_lost =
        plan_.loses_majority || plan_.restarts_set || plan_.replaces_servers || !has_begun_;
    if (!may_be_lost && failed.messages.message().find("init --force") != std::string::npos)
        fail("a client advises to begin a set anew that remembers: " +
             std::string(failed.messages.message()));
    if (!failed.may_time_out)
        fail("no lock, without a fault: " + std::string(failed.messages.message()));
}

// A program that has its lock at a minority only, and for a lease, must know it.
void redlock_scenario::observe_holds() {
    for (const auto& each : holds_.all()) {
        if (each->ended_at) continue;
        if (nodes_.count_nodes_with(each->name, each->label) >= plan_.majority()) {
            each->missing_since.reset();
            continue;
        }
        if (!each->missing_since) each->missing_since = loop_.now();
        const auto& by = *static_cast<const program*>(each->program);
        const auto most = instant(plan_.longest_ttl) + longest_ignorance;
        if (loop_.now() - *each->missing_since > most && !by.process.is_paused() &&
            !holds_.was_paused(&by, *each->missing_since))
            fail("a holder of " + each->name + " does not know of the loss");
    }
}

void redlock_scenario::observe_lock(const std::string& name, observation& seen) {
    if (!plan_.is_gentle() || holds_.is_forced_near(name, loop_.now() - 2s)) {
        seen = {};
        return;
    }
    const bool is_anywhere = nodes_.is_locked_anywhere(name);
    const bool is_believed = std::ranges::any_of(
        holds_.all(), [&](const auto& each) { return each->name == name && !each->ended_at; });
    const bool is_wanted = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.size() == 1 && each->names.front() == name;
    });
    const auto far = plan_.longest_round_trip();
    if (lasts(seen.nobody_has_it, is_anywhere && !is_believed && !is_requested(name),
              longest_orphan + 4 * far))
        fail("nobody has the lock " + name + ", but a node keeps it");
    // A hold shows that the quarantine of the new set is over.
    const bool may_vote = (far > longest_quick_trip && plan_.is_asserted_new) ||
                          std::ranges::any_of(holds_.all(), [&](const auto& each) {
                              return loop_.now() - each->granted_at > 2s;
                          });
    // Attempts that come to nothing have far nodes for a while. A set may have one of its locks,
    // and wait for the other.
    const bool is_of_set = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.size() > 1 && std::ranges::count(each->names, name) > 0;
    });
    const bool is_taken =
        far > longest_quick_trip && !is_of_set ? is_believed : is_believed || is_anywhere;
    if (lasts(seen.nobody_gets_it, may_vote && !is_taken && is_wanted, longest_neglect + 12 * far))
        fail("somebody waits for the lock " + name + ", which is free");
}

// A quarantine, a lease and two seconds, by the slowest clock, and what the clocks were set back.
instant redlock_scenario::longest_recovery() const {
    const auto slowest = std::ranges::min(plan_.clock_rates);
    const auto counted = plan_.quarantine() + instant(plan_.ttl_max);
    return instant(static_cast<std::int64_t>(static_cast<double>(counted.count()) / slowest)) + 2s +
           nodes_.longest_clock_delay();
}

bool redlock_scenario::recover() {
    while (operator_.is_busy())
        loop_.run_for(10ms);
    restore_set();
    return true;
}

// The users' requests make the nodes join. A set that has lost its tokens, but not at all nodes,
// needs an operator, who waits until nobody has a lock any more.
void redlock_scenario::restore_set() {
    // Some names lead to other servers from now on, and the set's memory was at the earlier ones.
    const bool is_lost = plan_.replaces_servers && nodes_.count_members() < plan_.majority();
    const auto until = loop_.now() + longest_recovery();
    while (loop_.now() < until && nodes_.count_members() < nodes_.size())
        loop_.run_for(50ms);
    if (nodes_.count_members() == nodes_.size()) return;
    if (!plan_.loses_majority && !plan_.restarts_set && has_begun_ && !is_lost)
        return fail("at the end, a node has not joined again");
    bool has_succeeded = false;
    for (int i = 0; i < 10 && !has_succeeded; ++i) {
        trace_.write("an operator begins the set anew");
        operator_.begin_set(true, [&](bool succeeded) { has_succeeded = succeeded; });
        while (operator_.is_busy())
            loop_.run_for(10ms);
    }
    if (!has_succeeded) fail("at the end, an operator cannot begin the set");
}

void redlock_scenario::close() {
    if (client_with_other_names_)
        client_with_other_names_->process.post([this] { client_with_other_names_->locks.reset(); });
    world::close();
    const auto left = nodes_.leftovers();
    if (!left.empty()) fail("after the end, " + left);
}

scenario_result run_redlock_scenario(std::uint64_t seed, redlock_bug bug,
                                     const trace::line_sink& sink, const redlock_faults& wanted) {
    set_current_seed(seed);
    return redlock_scenario(make_redlock_plan(seed, bug, wanted), sink).run(scenario_kind::redlock);
}

}  // namespace pawl::simulation
