// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "world.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

std::string_view to_string(scenario_kind kind) noexcept {
    switch (kind) {
    case scenario_kind::single_server: return "single server";
    case scenario_kind::several_servers: return "several servers";
    case scenario_kind::sentinels: return "Sentinels";
    case scenario_kind::redlock: return "Redlock";
    case scenario_kind::sqlite: return "SQLite file";
    case scenario_kind::sql: return "database";
    case scenario_kind::shedlock: return "ShedLock's table";
    case scenario_kind::sessions: return "locks of sessions";
    default: return "cluster";
    }
}

world::world(const world_settings& settings, const trace::line_sink& sink)
    : settings_(settings), trace_(loop_, sink), random_(settings.seed) {}

world::~world() = default;

void world::start() {
    for (std::size_t i = 0; i < settings_.program_count; ++i)
        add_program();
}

world::program& world::add_program() {
    auto& added = *programs_.emplace_back(std::make_unique<program>(
        *this, "P" + std::to_string(programs_.size() + 1), random_.fork()));
    added.connect(connect(added.process));
    for (std::size_t i = 0; i < settings_.users_per_program; ++i)
        added.users.push_back(std::make_unique<user>(random_.fork()));
    return added;
}

void world::begin() {
    for (const auto& each : programs_)
        for (const auto& caller : each->users)
            use_locks(*each, *caller);
    observe();
}

void world::begin_program() {
    auto& added = add_program();
    for (const auto& caller : added.users)
        use_locks(added, *caller);
}

const std::vector<std::string>& world::names() const {
    static const std::vector<std::string> all{"alone", "room", "pool"};
    return all;
}

void world::choose_mode(user& caller, const attempt& made, double reads, lock_options& options) {
    const auto& name = made.names.front();
    if (name == "room" && caller.choices.happens(reads)) options.mode = lock_mode::shared;
    if (name != "pool") return;
    options.mode = lock_mode::permits;
    options.permits = static_cast<std::uint32_t>(caller.choices.between(1, 2));
    options.total_permits = beliefs::total_permits;
}

void world::fail(const std::string& sentence) {
    if (!has_failed()) trace_.write("VIOLATION " + sentence);
    holds().fail(sentence);
}

void world::use_locks(program& by, user& caller) {
    const instant pause(caller.choices.between(1'000'000, settings_.longest_idle.count()));
    loop_.schedule_after(pause, [this, &by, &caller] {
        by.process.post([this, &by, &caller] {
            if (is_finishing_ || is_over_ || by.is_dead || caller.is_busy) return;
            const auto first = caller.choices.below(names().size());
            std::vector<std::string> wanted{names()[first]};
            if (settings_.has_sets && caller.choices.happens(0.3))
                wanted.push_back(names()[(first + 1) % names().size()]);
            acquire(by, caller, std::move(wanted));
        });
    });
}

void world::acquire(program& by, user& caller, std::vector<std::string> wanted) {
    attempts_.push_back(std::make_unique<attempt>(attempt{&by, wanted}));
    auto* const made = attempts_.back().get();
    made->requested_at = loop_.now();
    const auto options = choose(caller, *made);
    made->mode = options.mode;
    made->permits = options.mode == lock_mode::permits ? options.permits : 0;
    caller.is_busy = true;
    trace_.write(by.label +
                 (made->mode == lock_mode::shared ? " requests to read " : " requests ") +
                 wanted.front() + (wanted.size() > 1 ? " and " + wanted.back() : std::string()));
    const auto end = [this, &by, &caller, made](const boost::system::error_code& ec, auto user_lock,
                                                auto lock) {
        const auto position =
            std::ranges::find(attempts_, made, [](const auto& each) { return each.get(); });
        const auto completed = std::move(*position);
        attempts_.erase(position);
        if (is_over_ || by.is_dead) return;
        caller.*user_lock = std::move(lock);
        complete(by, caller, *completed, ec);
    };
    if (wanted.size() == 1)
        by.locks->async_acquire(
            wanted.front(), options,
            redirect_diagnostics(
                by.run_in_process([end](const boost::system::error_code& ec, held_lock lock) {
                    end(ec, &user::lock, std::move(lock));
                }),
                made->messages));
    else
        by.locks->async_acquire_all(
            std::move(wanted), options,
            redirect_diagnostics(
                by.run_in_process([end](const boost::system::error_code& ec, held_locks locks) {
                    end(ec, &user::locks, std::move(locks));
                }),
                made->messages));
}

void world::complete(program& by, user& caller, const attempt& completed,
                     const boost::system::error_code& ec) {
    if (ec) {
        caller.lock.reset();
        caller.locks.reset();
        trace_.write(by.label + " does not get " + completed.names.front() + ": " +
                     message_of(completed));
        check_failure(completed, ec);
        caller.is_busy = false;
        return use_locks(by, caller);
    }
    if (caller.lock) note_grant(by, caller, completed, *caller.lock);
    if (caller.locks)
        for (const auto& each : *caller.locks)
            note_grant(by, caller, completed, each);
    begin_hold(by, caller, completed);
}

void world::note_grant(program& by, user& caller, const attempt& completed, const held_lock& lock) {
    auto& granted = holds().add({.name = std::string(lock.name()),
                                 .token = lock.token().value(),
                                 .requested_at = completed.requested_at,
                                 .granted_at = loop_.now(),
                                 .program = &by,
                                 .label = by.label,
                                 .permits = completed.permits});
    if (completed.mode == lock_mode::shared) granted.shared_since = granted.granted_at;
    note(granted);
    caller.beliefs.push_back(&granted);
    caller.losses.push_back(std::make_unique<loss_callback>(lock.lost(), [this, &by, &granted] {
        if (granted.ended_at) return;
        trace_.write(by.label + " has lost " + granted.name);
        check_loss(granted);
        holds().end(granted);
    }));
    check_grant(completed, granted);
}

void world::note(believed_hold& granted) {
    trace_.write(granted.label + " has " + granted.name + ", token " +
                 std::to_string(granted.token));
}

void world::begin_hold(program& by, user& caller, const attempt& completed) {
    const bool is_writer = completed.mode == lock_mode::exclusive && caller.lock;
    if (settings_.downgrades > 0 && is_writer && caller.choices.happens(settings_.downgrades))
        downgrade(by, caller);
    const bool is_rare = settings_.longest_rare_hold > instant{} && caller.choices.happens(0.2);
    const auto longest = is_calm_  ? instant(100ms)
                         : is_rare ? settings_.longest_rare_hold
                                   : settings_.longest_hold;
    loop_.schedule_after(caller.choices.between(0ns, longest), [this, &by, &caller] {
        by.process.post([this, &by, &caller] {
            if (!is_over_ && !by.is_dead) release(by, caller);
        });
    });
}

// A writer becomes a reader.
void world::downgrade(program& by, user& caller) {
    auto& hold = *caller.beliefs.front();
    trace_.write(by.label + " makes its hold of " + hold.name + " shared");
    hold.shared_since = loop_.now();
    caller.lock->async_downgrade(
        by.run_in_process([this, &by, &hold](const boost::system::error_code& ec) {
            if (!is_over_ && !by.is_dead) check_downgrade(by, hold, ec);
        }));
}

// The belief ends before the release.
void world::release(program& by, user& caller) {
    for (auto* const each : caller.beliefs)
        holds().end(*each);
    trace_.write(by.label + " releases " + caller.beliefs.front()->name);
    if (caller.lock && awaits_release(*caller.beliefs.front())) await_release(by, caller);
    retire(caller);
    use_locks(by, caller);
}

void world::await_release(program& by, user& caller) {
    const auto lock = std::make_shared<held_lock>(std::move(*caller.lock));
    const auto& hold = *caller.beliefs.front();
    lock->async_release(
        by.run_in_process([this, &by, &hold, lock, asked_at = loop_.now()](release_result result) {
            if (!is_over_ && !by.is_dead) check_release(by, *lock, hold, asked_at, result);
        }));
}

void world::retire(user& caller) {
    caller.losses.clear();
    caller.beliefs.clear();
    caller.lock.reset();
    caller.locks.reset();
    caller.is_busy = false;
}

bool world::stop(program& affected) {
    if (affected.process.is_paused() || affected.is_dead) return false;
    trace_.write(affected.label + " is stopped");
    affected.process.pause();
    affected.paused_at = loop_.now();
    return true;
}

void world::resume(program& stopped) {
    if (!stopped.process.is_paused() || stopped.is_dead) return;
    trace_.write(stopped.label + " continues");
    holds().note_pause(&stopped, stopped.paused_at, loop_.now());
    stopped.process.resume();
}

bool world::kill(program& affected) {
    if (affected.is_dead || affected.process.is_paused()) return false;
    trace_.write(affected.label + " is killed");
    affected.is_dead = true;
    affected.process.pause();
    for (const auto& caller : affected.users) {
        for (auto* const each : caller->beliefs)
            holds().end(*each);
        caller->beliefs.clear();
    }
    return true;
}

void world::stop_a_program(instant shortest, instant longest) {
    auto& affected = *programs_[random_.below(programs_.size())];
    if (!stop(affected)) return;
    loop_.schedule_after(random_.between(shortest, longest),
                         [this, &affected] { resume(affected); });
}

void world::cut_off_a_program(instant shortest, instant longest) {
    auto& affected = *programs_[random_.below(programs_.size())];
    trace_.write(affected.label + " is cut off");
    cut_off(affected.process);
    loop_.schedule_after(random_.between(shortest, longest), [this, &affected] {
        trace_.write(affected.label + " is connected again");
        reconnect(affected.process);
    });
}

void world::observe() {
    loop_.schedule_after(settings_.observation_pause, [this] {
        if (is_over_) return;
        observe_holds();
        for (const auto& name : names())
            observe_lock(name, observations_[name]);
        observe();
    });
}

bool world::is_requested(const std::string& name) const {
    return std::ranges::any_of(
        attempts_, [&](const auto& each) { return std::ranges::count(each->names, name) > 0; });
}

bool world::lasts(std::optional<instant>& from, bool is_true, instant most) const {
    if (!is_true) from.reset();
    if (is_true && !from) from = loop_.now();
    return is_true && loop_.now() - *from > most;
}

bool world::is_idle() const {
    const auto is_of_the_living = [](const auto& each) { return !each->by->is_dead; };
    const auto is_busy = [](const auto& caller) { return caller->is_busy; };
    return std::ranges::none_of(attempts_, is_of_the_living) &&
           std::ranges::all_of(programs_, [&](const auto& each) {
               return each->is_dead || std::ranges::none_of(each->users, is_busy);
           });
}

bool world::happens_soon(instant most, const std::function<bool()>& is_met) {
    const auto until = loop_.now() + most;
    while (loop_.now() < until && !has_failed() && !is_met())
        loop_.run_for(settings_.end_pause);
    return is_met();
}

void world::wait_until(const char* failure, instant most, const std::function<bool()>& is_met) {
    if (!happens_soon(most, is_met) && !has_failed())
        fail(std::string(is_finishing_ ? "at the end, " : "") + failure);
}

void world::finish() {
    is_finishing_ = settings_.rests_during_recovery;
    trace_.write("all faults end");
    stop_faults();
    for (const auto& each : programs_) {
        reconnect(each->process);
        resume(*each);
    }
    if (!recover()) return;
    is_finishing_ = true;
    wait_until("an acquire or a hold does not end", settings_.longest_end,
               [this] { return is_idle(); });
    if (has_failed()) return;
    is_calm_ = true;
    for (const auto& each : programs_)
        for (const auto& name : names()) {
            if (each->is_dead) continue;
            each->process.post([this, &each, name] { acquire(*each, *each->users[0], {name}); });
            loop_.run_for(1ms);
            wait_until("a lock is not granted or not released", longest_wait(),
                       [this] { return is_idle(); });
        }
}

void world::close() {
    is_over_ = true;
    for (const auto& each : programs_) {
        reconnect(each->process);
        each->process.resume();
        each->process.post([&each] {
            for (const auto& caller : each->users)
                retire(*caller);
            each->locks.reset();
        });
    }
    loop_.run_for(1min);
}

scenario_result world::run(scenario_kind kind) {
    begin();
    for (int round = 0; round < 4 && !has_failed(); ++round) {
        loop_.run_for(random_.between(settings_.shortest_round, settings_.longest_round));
        disturb();
    }
    loop_.run_for(settings_.last_round);
    if (!has_failed()) finish();
    holds().check();
    close();
    return {settings_.seed, holds().violation(),  trace_.hash(), trace_.events(),
            loop_.steps(),  holds().all().size(), loop_.now(),   kind};
}

}  // namespace pawl::simulation
