// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_scenario.hpp"

#include "../workload/scenario_names.hpp"
#include "../workload/single_client_process.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <array>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {

redlock_scenario::program::program(redlock_scenario& parent, std::string name, prng random,
                                   const node_choices& nodes, const redlock::options& options)
    : label(std::move(name)),
      process(parent.loop_, time_point(1h), static_cast<double>(random.between(997, 1003)) / 1000),
      time(process, random) {
    const auto named = client_options_for(label, time);
    locks.emplace(process.get_executor(),
                  redlock_service(nodes, process, options, parent.plan_.limits,
                                  {parent.plan_.bug, parent.plan_.loses_messages}),
                  named);
}

redlock_scenario::redlock_scenario(const redlock_plan& scenario_plan, const trace::line_sink& sink)
    : plan_(scenario_plan),
      trace_(loop_, sink),
      random_(plan_.seed),
      holds_(loop_),
      nodes_(loop_, plan_, random_.fork(), trace_, holds_),
      operator_(loop_, nodes_.choices(), nodes_.options(), plan_, random_.fork(), trace_) {
    holds_.set_longest_lease(plan_.longest_ttl);
    for (std::size_t i = 0; i < plan_.program_count; ++i) {
        programs_.push_back(std::make_unique<program>(*this, "P" + std::to_string(i + 1),
                                                      random_.fork(), nodes_.choices(),
                                                      nodes_.options()));
        for (std::size_t j = 0; j < plan_.users_per_program; ++j)
            programs_.back()->users.push_back(std::make_unique<user>(random_.fork()));
    }
    if (!plan_.has_other_names) return;
    auto aliases = nodes_.options();
    for (auto& each : aliases.nodes)
        each.host = "alias-of-" + each.host;
    client_with_other_names_ = std::make_unique<program>(*this, "other names", random_.fork(),
                                                         nodes_.choices_without_epochs(), aliases);
}

redlock_scenario::~redlock_scenario() = default;

void redlock_scenario::fail(const std::string& sentence) {
    if (holds_.violation().empty()) trace_.write("VIOLATION " + sentence);
    holds_.fail(sentence);
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
    for (const auto& each : programs_)
        for (const auto& caller : each->users)
            use_locks(*each, *caller);
    observe();
}

void redlock_scenario::use_locks(program& by, user& caller) {
    const instant pause(caller.choices.between(1'000'000, 300'000'000));
    loop_.schedule_after(pause, [this, &by, &caller] {
        by.process.post([this, &by, &caller] {
            if (is_finishing_ || is_over_ || by.is_dead) return;
            const auto& names = redlock_server::names();
            const auto first = caller.choices.below(names.size());
            std::vector<std::string> wanted{names[first]};
            if (plan_.has_sets && caller.choices.happens(0.3))
                wanted.push_back(names[(first + 1) % names.size()]);
            acquire(by, caller, std::move(wanted));
        });
    });
}

void redlock_scenario::acquire(program& by, user& caller, std::vector<std::string> wanted) {
    const auto ttl =
        1ms * caller.choices.between(plan_.shortest_ttl / 1ms, plan_.longest_ttl / 1ms);
    lock_options options{.ttl = ttl, .wait = 12s};
    if (plan_.has_readers && wanted.size() == 1 && caller.choices.happens(0.5))
        options.mode = lock_mode::shared;
    if (plan_.has_unfenced) options.fenced = caller.choices.happens(0.6);
    if (is_calm_) options.wait = std::chrono::ceil<std::chrono::milliseconds>(longest_recovery());
    const bool is_short = !is_finishing_ && caller.choices.happens(0.25);
    if (is_short) options.wait = 1ms * caller.choices.between(0, 600);
    attempts_.push_back(std::make_unique<attempt>(
        attempt{&by, wanted, options.mode, loop_.now(), is_short || !is_calm_}));
    auto* const made = attempts_.back().get();
    if (plan_.is_gentle() && !is_short && wanted.size() == 1 && plan_.longest_hold <= 2s)
        made->may_time_out = false;
    caller.is_busy = true;
    trace_.write(by.label +
                 (options.mode == lock_mode::shared ? " requests to read " : " requests ") +
                 wanted.front() + (wanted.size() > 1 ? " and " + wanted.back() : std::string()));
    const auto take = [this, made] {
        const auto position =
            std::ranges::find(attempts_, made, [](const auto& each) { return each.get(); });
        auto result = std::move(*position);
        attempts_.erase(position);
        return result;
    };
    const auto executor = by.process.get_executor();
    if (wanted.size() == 1)
        by.locks->async_acquire(
            wanted.front(), options,
            redirect_diagnostics(
                asio::bind_executor(executor,
                                    [this, &by, &caller, take](const boost::system::error_code& ec,
                                                               held_lock lock) {
                                        const auto completed = take();
                                        if (is_over_ || by.is_dead) return;
                                        caller.lock = std::move(lock);
                                        complete(by, caller, *completed, ec);
                                    }),
                made->messages));
    else
        by.locks->async_acquire_all(
            std::move(wanted), options,
            redirect_diagnostics(
                asio::bind_executor(executor,
                                    [this, &by, &caller, take](const boost::system::error_code& ec,
                                                               held_locks locks) {
                                        const auto completed = take();
                                        if (is_over_ || by.is_dead) return;
                                        caller.locks = std::move(locks);
                                        complete(by, caller, *completed, ec);
                                    }),
                made->messages));
}

void redlock_scenario::complete(program& by, user& caller, const attempt& completed,
                                const boost::system::error_code& ec) {
    if (ec) {
        caller.lock.reset();
        caller.locks.reset();
        trace_.write(by.label + " does not get " + completed.names.front() + ": " +
                     std::string(completed.messages.message()));
        check_failure(completed, ec);
        caller.is_busy = false;
        return use_locks(by, caller);
    }
    if (caller.lock) note_grant(by, caller, completed, *caller.lock);
    if (caller.locks)
        for (const auto& each : *caller.locks)
            note_grant(by, caller, completed, each);
    const instant longest = is_finishing_ ? instant(50ms) : plan_.longest_hold;
    const bool is_writer = completed.mode == lock_mode::exclusive && caller.lock;
    if (plan_.has_readers && is_writer && caller.choices.happens(0.3)) downgrade(by, caller);
    end_hold_later(by, caller, longest);
}

void redlock_scenario::end_hold_later(program& by, user& caller, instant longest) {
    loop_.schedule_after(instant(caller.choices.between(0, longest.count())), [this, &by, &caller] {
        by.process.post([this, &by, &caller] {
            if (!is_over_ && !by.is_dead) release(by, caller);
        });
    });
}

// The release may come before its end.
void redlock_scenario::downgrade(program& by, user& caller) {
    auto& hold = *caller.beliefs.front();
    trace_.write(by.label + " makes its hold of " + hold.name + " shared");
    hold.shared_since = loop_.now();
    caller.lock->async_downgrade(asio::bind_executor(
        by.process.get_executor(), [this, &by](const boost::system::error_code& ec) {
            if (!is_over_ && !by.is_dead)
                trace_.write(by.label + (ec ? " cannot share it: " + ec.message() : " shares it"));
        }));
}

// The belief ends before the release.
void redlock_scenario::release(program& by, user& caller) {
    for (auto* const each : caller.beliefs)
        holds_.end(*each);
    trace_.write(by.label + " releases " + caller.beliefs.front()->name);
    if ((plan_.judges_releases || plan_.awaits_releases) && caller.lock)
        release_and_wait(by, caller);
    retire(caller);
    use_locks(by, caller);
}

void redlock_scenario::release_and_wait(program& by, user& caller) {
    const auto lock = std::make_shared<held_lock>(std::move(*caller.lock));
    const auto& hold = *caller.beliefs.front();
    lock->async_release(asio::bind_executor(
        by.process.get_executor(),
        [this, &by, &hold, lock, asked_at = loop_.now()](release_result result) {
            if (is_over_ || by.is_dead) return;
            trace_.write(by.label + " is told that " + hold.name + " is " + to_string(result));
            judge_release(by, *lock, hold, asked_at, result);
        }));
}

// Nobody learns of the end of a hold from the result of its release alone.
void redlock_scenario::judge_release(program& by, const held_lock& lock, const quorum_hold& hold,
                                     instant asked_at, release_result result) {
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

void redlock_scenario::retire(user& caller) {
    caller.losses.clear();
    caller.beliefs.clear();
    caller.lock.reset();
    caller.locks.reset();
    caller.is_busy = false;
}

void redlock_scenario::note_grant(program& by, user& caller, const attempt& completed,
                                  const held_lock& lock) {
    const std::string name(lock.name());
    auto& hold = holds_.add({name,
                             lock.token().value(),
                             completed.requested_at,
                             loop_.now(),
                             {},
                             &by,
                             by.label,
                             {},
                             {}});
    if (completed.mode == lock_mode::shared) hold.shared_since = hold.granted_at;
    caller.beliefs.push_back(&hold);
    trace::line(trace_) << by.label << " has " << name << ", token "
                        << static_cast<std::int64_t>(hold.token) << ", nodes "
                        << static_cast<std::int64_t>(nodes_.count_nodes_with(name, by.label));
    caller.losses.push_back(std::make_unique<loss_callback>(lock.lost(), [this, &by, &hold] {
        if (hold.ended_at) return;
        trace_.write(by.label + " has lost " + hold.name);
        const bool is_forced = holds_.is_forced_near(hold.name, hold.granted_at, hold.token);
        if (plan_.is_gentle() && !is_forced) fail("a hold was lost without a fault");
        holds_.end(hold);
    }));
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

scenario_result redlock_scenario::run() {
    begin();
    for (int round = 0; round < 4 && holds_.violation().empty(); ++round) {
        loop_.run_for(random_time(300ms, 2500ms));
        disturb();
    }
    loop_.run_for(3s);
    if (holds_.violation().empty()) finish();
    holds_.check();
    close_all();
    const auto left = nodes_.leftovers();
    if (!left.empty()) fail("after the end, " + left);
    return {plan_.seed,    holds_.violation(),  trace_.hash(), trace_.events(),
            loop_.steps(), holds_.all().size(), loop_.now(),   scenario_kind::redlock};
}

scenario_result run_redlock_scenario(std::uint64_t seed, redlock_bug bug,
                                     const trace::line_sink& sink, const redlock_faults& wanted) {
    set_current_seed(seed);
    return redlock_scenario(make_redlock_plan(seed, bug, wanted), sink).run();
}

}  // namespace pawl::simulation
