// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "topology_scenario.hpp"

#include "../workload/scenario_names.hpp"
#include "../workload/single_client_process.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

constexpr auto observation_pause = 100ms;
// How long a lock may be held by nobody, or free although somebody waits for it, or missing at its
// server, when nothing disturbs it: a program's requests need a few round trips, and a waiter that
// must find out by itself pauses.
constexpr auto longest_orphan = 2s;
constexpr auto longest_neglect = 2500ms;
constexpr auto longest_ignorance = 1500ms;
// With a longer one, a program may hear of a failover of a cluster only late.
constexpr auto longest_view_interval = 500ms;
// Of a program, after most Sentinels have told it of a new master, or after a promotion.
constexpr auto longest_switch = 1s;

lock_keys keys_of(const std::string& name) {
    static const key_space space{};
    return keys_in(space, name);
}

std::string token_in(const store::keys& data, const lock_keys& keys) {
    const auto counter = data.find(keys.fence);
    if (!data.contains(keys.lock) || counter == data.end()) return {};
    const auto* const text = std::get_if<std::string>(&counter->second.content);
    return text == nullptr ? std::string() : *text;
}

redis::options options_of(const topology_plan& plan) {
    redis::options result;
    result.scripts = plan.has_scripts;
    return result;
}

}  // namespace

const std::vector<std::string>& topology_scenario::names() {
    static const std::vector<std::string> all{"a", "b", "c"};
    return all;
}

bool topology_scenario::is_token_of(const std::string& stored, std::uint64_t token) const {
    if (plan_.has_scripts || stored.empty()) return stored == std::to_string(token);
    return std::stoull(stored) >= token;
}

bool topology_scenario::has_lock_with(const simulated_redis::snapshot& data,
                                      const std::string& name, std::uint64_t token) const {
    return is_token_of(token_in(data[0], keys_of(name)), token);
}

topology_scenario::program::program(topology_scenario& parent, std::string name, prng random)
    : label(std::move(name)), process(parent.loop_, time_point(1h), 1.0), time(process, random) {
    const auto named = client_options_for("test", time);
    locks.emplace(process.get_executor(), parent.connect(process), named);
}

topology_scenario::topology_scenario(const topology_plan& scenario_plan, bool tells_of_switches,
                                     const trace::line_sink& sink)
    : plan_(scenario_plan),
      trace_(loop_, sink),
      random_(plan_.seed),
      options_(options_of(plan_)),
      tells_of_switches_(tells_of_switches),
      holds_(loop_) {
    const bool is_delayed = plan_.partitions || plan_.pauses;
    holds_.set_bounds(instant(plan_.longest_ttl), is_delayed ? instant(8s) : instant(1s));
}

topology_scenario::~topology_scenario() = default;

void topology_scenario::start() {
    for (std::size_t i = 0; i < plan_.program_count; ++i) {
        programs_.push_back(
            std::make_unique<program>(*this, "P" + std::to_string(i + 1), random_.fork()));
        for (std::size_t j = 0; j < plan_.users_per_program; ++j)
            programs_.back()->users.push_back(std::make_unique<user>(random_.fork()));
    }
}

void topology_scenario::fail(const std::string& sentence) {
    if (holds_.violation().empty()) trace_.write("VIOLATION " + sentence);
    holds_.fail(sentence);
}

void topology_scenario::use_locks(program& by, user& caller) {
    const instant pause(caller.choices.between(1'000'000, 400'000'000));
    loop_.schedule_after(pause, [this, &by, &caller] {
        by.process.post([this, &by, &caller] {
            if (is_finishing_ || is_over_ || caller.is_busy) return;
            const auto first = caller.choices.below(names().size());
            std::vector<std::string> wanted{names()[first]};
            if (plan_.has_sets && caller.choices.happens(0.3))
                wanted.push_back(names()[(first + 1) % names().size()]);
            acquire(by, caller, std::move(wanted));
        });
    });
}

void topology_scenario::acquire(program& by, user& caller, std::vector<std::string> wanted) {
    const auto seconds = caller.choices.between(plan_.shortest_ttl / 1s, plan_.longest_ttl / 1s);
    // A program passes a lock on within itself for as long as `max_local_hand_offs` holds.
    lock_options options{.ttl = 1s * seconds, .wait = is_finishing_ ? 20s : 15s};
    const bool is_short = !is_finishing_ && caller.choices.happens(0.2);
    if (is_short) options.wait = 1ms * caller.choices.between(0, 600);
    if (plan_.durable_copies > 0 && !is_finishing_)
        options.durable = durability::replicas(plan_.durable_copies);
    if (plan_.is_on_disk && !is_finishing_) options.durable = durability::disk;
    // A dead holder's lock lasts as long as the clock of a promoted replica says. A partition leads
    // to a promotion, too.
    const bool may_be_stuck = plan_.is_skewed;
    attempts_.push_back(std::make_unique<attempt>(attempt{
        wanted, loop_.now(), is_short || (!is_calm_ && plan_.longest_hold > 2s),
        is_calm_ ? !may_be_stuck : plan_.is_gentle() && !plan_.has_sets && !plan_.is_durable()}));
    auto* const made = attempts_.back().get();
    caller.is_busy = true;
    trace_.write(by.label + " requests " + wanted.front() +
                 (wanted.size() > 1 ? " and " + wanted.back() : std::string()));
    const auto take = [this, made] {
        const auto position =
            std::ranges::find(attempts_, made, [](const auto& each) { return each.get(); });
        auto result = std::move(*position);
        attempts_.erase(position);
        return result;
    };
    if (wanted.size() == 1)
        by.locks->async_acquire(
            wanted.front(), options,
            redirect_diagnostics(
                asio::bind_executor(by.process.get_executor(),
                                    [this, &by, &caller, take](const boost::system::error_code& ec,
                                                               held_lock lock) {
                                        const auto completed = take();
                                        if (is_over_) return;
                                        caller.lock = std::move(lock);
                                        complete(by, caller, *completed, ec);
                                    }),
                made->messages));
    else
        by.locks->async_acquire_all(
            std::move(wanted), options,
            redirect_diagnostics(
                asio::bind_executor(by.process.get_executor(),
                                    [this, &by, &caller, take](const boost::system::error_code& ec,
                                                               held_locks locks) {
                                        const auto completed = take();
                                        if (is_over_) return;
                                        caller.locks = std::move(locks);
                                        complete(by, caller, *completed, ec);
                                    }),
                made->messages));
}

void topology_scenario::complete(program& by, user& caller, const attempt& completed,
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
    const instant longest = is_calm_ ? instant(100ms) : plan_.longest_hold;
    loop_.schedule_after(instant(caller.choices.between(0, longest.count())), [this, &by, &caller] {
        by.process.post([this, &by, &caller] {
            if (!is_over_) release(by, caller);
        });
    });
}

// The belief ends before the release.
void topology_scenario::release(program& by, user& caller) {
    for (auto* const each : caller.beliefs)
        holds_.end(*each);
    trace_.write(by.label + " releases " + caller.beliefs.front()->name);
    caller.losses.clear();
    caller.beliefs.clear();
    caller.lock.reset();
    caller.locks.reset();
    caller.is_busy = false;
    use_locks(by, caller);
}

void topology_scenario::note_grant(program& by, user& caller, const attempt& completed,
                                   const held_lock& lock) {
    const std::string name(lock.name());
    auto& hold =
        holds_.add({name, lock.token().value(), completed.requested_at, loop_.now(), {}, &by, {}});
    hold.is_of_present_master = is_of_present_master(hold);
    caller.beliefs.push_back(&hold);
    trace::line(trace_) << by.label << " has " << name << ", epoch "
                        << static_cast<std::int64_t>(hold.epoch()) << ", token "
                        << static_cast<std::int64_t>(hold.token);
    caller.losses.push_back(std::make_unique<loss_callback>(lock.lost(), [this, &by, &hold] {
        if (hold.ended_at) return;
        trace_.write(by.label + " has lost " + hold.name);
        // A grant may be confirmed too late because its slot moves.
        const bool was_late = plan_.moves && loop_.now() - hold.granted_at < 1ms;
        if (plan_.is_gentle() && !was_late) fail("a hold was lost without a fault");
        holds_.end(hold);
    }));
    // The first lock of a set may have its copies long before the last one is granted.
    // In the time of the simulation, so the clocks do not matter.
    const auto replaced = replaced_at(hold.epoch());
    if (!plan_.partitions && !plan_.pauses && replaced &&
        completed.requested_at > *replaced + longest_switch)
        fail("a master that was replaced has granted " + name);
    check_durability(completed, hold);
}

void topology_scenario::check_durability(const attempt& completed, const believed_hold& hold) {
    const auto& name = hold.name;
    const bool is_checked =
        plan_.is_durable() && !is_finishing_ && !plan_.pauses && !plan_.partitions &&
        is_settled(name, completed.names.size() > 1 ? completed.requested_at : loop_.now());
    if (!is_checked) return;
    if (copies_of(name, hold.token) < plan_.durable_copies)
        fail("a durable grant of " + name + " has too few copies");
    auto* const server = server_of(name);
    if (plan_.is_on_disk && server != nullptr &&
        !has_lock_with(server->synced_data(), name, hold.token))
        fail("a grant of " + name + " is not on the disk of its server");
}

// Whatever the servers do, a caller gets the lock in time, or an error about the wait, the server
// or the durability: never that of a rule between the servers.
void topology_scenario::check_failure(const attempt& failed, const boost::system::error_code& ec) {
    static constexpr std::array expected{errc::timed_out, errc::unreachable, errc::unavailable,
                                         errc::no_quorum, errc::lost,        errc::not_durable};
    if (std::ranges::none_of(expected, [&](errc each) { return ec == make_error_code(each); }))
        return fail("an unexpected error: " + ec.message());
    // A dead holder's lock may last longer than the wait, but its server answers.
    if (is_calm_ && ec == make_error_code(errc::unreachable))
        return fail("at the end, no server is reached: " + std::string(failed.messages.message()));
    if (failed.must_succeed && !failed.may_time_out)
        fail("no lock, without a fault: " + ec.message());
}

void topology_scenario::pause_a_program() {
    auto& affected = *programs_[random_.below(programs_.size())];
    if (!stop(affected)) return;
    loop_.schedule_after(random_time(200ms, 7s), [this, &affected] { resume(affected); });
}

bool topology_scenario::stop(program& affected) {
    if (affected.process.is_paused()) return false;
    trace_.write(affected.label + " is stopped");
    affected.process.pause();
    affected.paused_at = loop_.now();
    return true;
}

void topology_scenario::stop(std::size_t number) { stop(*programs_.at(number)); }

void topology_scenario::request(std::size_t number, const std::string& name) {
    auto& by = *programs_.at(number);
    by.process.post([this, &by, name] {
        const auto idle =
            std::ranges::find(by.users, false, [](const auto& each) { return each->is_busy; });
        if (idle != by.users.end() && !is_over_) acquire(by, **idle, {name});
    });
}

// Then the token is above all earlier ones, whatever has happened to the masters: the present one
// has the greatest epoch. docs/contributing/models.md has the exceptions, after moves and
// takeovers.
bool topology_scenario::is_of_present_master(const believed_hold& hold) {
    auto* const server = server_of(hold.name);
    return !plan_.moves && !plan_.partitions && server != nullptr &&
           token_in(server->server().data().all(), keys_of(hold.name)) ==
               std::to_string(hold.token);
}

void topology_scenario::resume(program& stopped) {
    if (!stopped.process.is_paused()) return;
    trace_.write(stopped.label + " continues");
    holds_.note_pause(&stopped, stopped.paused_at, loop_.now());
    stopped.process.resume();
}

void topology_scenario::cut_off_a_program() {
    auto& affected = *programs_[random_.below(programs_.size())];
    trace_.write(affected.label + " is cut off");
    cut_off(affected.process);
    loop_.schedule_after(random_time(100ms, 5s), [this, &affected] {
        trace_.write(affected.label + " is connected again");
        reconnect(affected.process);
    });
}

bool topology_scenario::is_wanted(const std::string& name) const {
    return std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.size() == 1 && each->names.front() == name && !each->may_time_out;
    });
}

void topology_scenario::observe() {
    loop_.schedule_after(observation_pause, [this] {
        if (is_over_) return;
        for (const auto& name : names())
            observe_lock(name);
        observe();
    });
}

void topology_scenario::observe_lock(const std::string& name) {
    auto& seen = observations_[name];
    auto* const server = server_of(name);
    const bool hears_of_switches =
        tells_of_switches_ || plan_.cluster_limits.view_interval <= longest_view_interval;
    const bool is_disturbed =
        plan_.partitions || plan_.pauses || (plan_.failovers && !hears_of_switches);
    // A promoted replica may keep a lock for longer than its ttl. And a durable acquire that still
    // waits for its copies learns only some time later that the lock is lost.
    const bool keeps_locks = (!plan_.failovers || !plan_.is_skewed) &&
                             !holds_.is_replaced_near(name, loop_.now() - 3s, loop_.now());
    // The Sentinels have told the programs of it, even if the old master still serves.
    const bool is_replaced =
        !tells_of_switches_ &&
        holds_.is_replaced_near(name, loop_.now() - longest_switch, loop_.now());
    // A request whose reply is lost is repeated after a pause.
    const auto allowance = plan_.breaks                             ? instant(3s)
                           : plan_.failovers && !tells_of_switches_ ? instant(1s)
                                                                    : instant(0);
    const auto since = loop_.now() - instant(plan_.longest_ttl) - 2s;
    if (is_disturbed || server == nullptr || !server->is_up() || server->is_frozen() ||
        !is_settled(name, loop_.now()) || is_replaced) {
        seen = {};
        for (const auto& each : holds_.all())
            if (each->name == name) each->missing_since.reset();
        return;
    }
    const auto& data = server->server().data().all();
    const auto keys = keys_of(name);
    const bool is_locked = data.contains(keys.lock);
    const auto token = token_in(data, keys);
    // An acquire may have the lock, and wait for another one, or for its copies.
    bool is_believed = std::ranges::any_of(attempts_, [&](const auto& each) {
        return std::ranges::count(each->names, name) > 0 &&
               (each->names.size() > 1 || plan_.is_durable());
    });
    for (const auto& each : holds_.all()) {
        if (each->name != name || each->ended_at) continue;
        is_believed = true;
        if (is_token_of(token, each->token))
            each->missing_since.reset();
        else if (!each->missing_since)
            each->missing_since = loop_.now();
        else if (loop_.now() - *each->missing_since > longest_ignorance + allowance)
            fail("a holder of " + name + " does not know of the loss");
    }
    const auto lasts = [&](std::optional<instant>& from, bool is_true, instant most) {
        if (!is_true) from.reset();
        if (is_true && !from) from = loop_.now();
        return is_true && loop_.now() - *from > most;
    };
    // A promoted replica may not know of a release, or of a failed acquire, of an earlier epoch.
    const bool may_be_outdated = holds_.has_lost_power_since(since) ||
                                 (holds_.is_replaced_near(name, since, loop_.now()) &&
                                  (token.empty() || epoch_in(std::stoull(token)) < epoch_of(name)));
    // Another grant, to a waiter whose message was lost, has its own time.
    if (std::exchange(seen.token, token) != token) seen.nobody_has_it.reset();
    if (lasts(seen.nobody_has_it, keeps_locks && is_locked && !is_believed && !may_be_outdated,
              longest_orphan + allowance))
        fail("nobody has the lock " + name + ", but the server keeps it");
    if (lasts(seen.nobody_gets_it, keeps_locks && !is_locked && is_wanted(name),
              longest_neglect + allowance))
        fail("somebody waits for the lock " + name + ", which is free");
}

template <class Condition>
bool topology_scenario::happens_soon(Condition is_met) {
    for (int i = 0; i < 600 && holds_.violation().empty(); ++i) {
        if (is_met()) return true;
        loop_.run_for(50ms);
    }
    return is_met();
}

template <class Condition>
void topology_scenario::wait_until(const char* failure, Condition is_met) {
    if (!happens_soon(is_met)) fail(std::string("at the end, ") + failure);
}

void topology_scenario::finish() {
    is_finishing_ = true;
    trace_.write("all faults end");
    stop_faults();
    for (const auto& each : programs_) {
        reconnect(each->process);
        resume(*each);
    }
    const auto is_idle = [this] {
        return attempts_.empty() && std::ranges::all_of(programs_, [](const auto& each) {
                   return std::ranges::none_of(
                       each->users, &user::is_busy,
                       [](const auto& caller) -> const user& { return *caller; });
               });
    };
    const bool has_agreed = happens_soon([this] { return is_agreed(); });
    // Slots that move while the bus of a cluster is cut may need an operator (`--cluster fix`).
    if (!has_agreed && plan_.moves && plan_.partitions) return;
    if (!has_agreed) fail("at the end, the servers do not agree");
    repair();
    wait_until("an acquire or a hold does not end", is_idle);
    is_calm_ = true;
    for (const auto& each : programs_)
        for (const auto& name : names()) {
            each->process.post([this, &each, name] { acquire(*each, *each->users[0], {name}); });
            loop_.run_for(1ms);
            wait_until("a lock is not granted or not released", is_idle);
        }
}

scenario_result topology_scenario::run(scenario_kind kind) {
    for (const auto& each : programs_)
        for (const auto& caller : each->users)
            use_locks(*each, *caller);
    observe();
    for (int round = 0; round < 4 && holds_.violation().empty(); ++round) {
        loop_.run_for(random_time(500ms, 3s));
        if (plan_.pauses && random_.happens(0.5)) pause_a_program();
        if (plan_.partitions && random_.happens(0.7)) cut_off_a_program();
        disturb();
    }
    loop_.run_for(5s);
    if (holds_.violation().empty()) finish();
    holds_.check();
    is_over_ = true;
    for (const auto& each : programs_) {
        reconnect(each->process);
        resume(*each);
        each->process.post([&each] {
            for (const auto& caller : each->users) {
                caller->losses.clear();
                caller->lock.reset();
                caller->locks.reset();
            }
            each->locks.reset();
        });
    }
    loop_.run_for(1min);
    return {plan_.seed,    holds_.violation(),  trace_.hash(), trace_.events(),
            loop_.steps(), holds_.all().size(), loop_.now(),   kind};
}

}  // namespace pawl::simulation
