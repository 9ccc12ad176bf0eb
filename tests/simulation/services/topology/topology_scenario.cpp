// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "topology_scenario.hpp"

#include "../redis/plan.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

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

world_settings settings_of(const topology_plan& plan) {
    return {.seed = plan.seed,
            .program_count = plan.program_count,
            .users_per_program = plan.users_per_program,
            .has_sets = plan.has_sets,
            .longest_idle = 400ms,
            .longest_hold = plan.longest_hold,
            .longest_round = 3s,
            .longest_end = 30s};
}

}  // namespace

topology_scenario::topology_scenario(const topology_plan& scenario_plan, bool tells_of_switches,
                                     const trace::line_sink& sink)
    : world(settings_of(scenario_plan), sink),
      plan_(scenario_plan),
      options_(options_of(plan_)),
      tells_of_switches_(tells_of_switches),
      holds_(loop_) {
    const bool is_delayed = plan_.partitions || plan_.pauses;
    holds_.set_bounds(instant(plan_.longest_ttl), is_delayed ? instant(8s) : instant(1s));
}

// A replica whose clock is behind keeps a dead holder's lock longer than its ttl.
void topology_scenario::start() {
    const std::int64_t error = plan_.is_skewed ? 60'000'000 : 1'000'000;
    for (std::size_t i = 0; i < server_count(); ++i)
        server(i).jump_clock(random_.between(-error, error));
    for (std::size_t i = 0; plan_.is_on_disk && i < server_count(); ++i)
        server(i).keep_append_file(longest_sync_pause);
    world::start();
}

void topology_scenario::cut_links(std::size_t nodes,
                                  const std::function<void(std::size_t, std::size_t)>& cut) {
    const auto share = std::array{0.1, 0.3, 0.6}[random_.below(3)];
    for (std::size_t from = 0; from < nodes; ++from)
        for (std::size_t to = 0; to < nodes; ++to)
            if (from != to && random_.happens(share)) cut(from, to);
    trace_.write("links between the nodes are cut");
    loop_.run_for(random_.between(200ms, 3s));
}

void topology_scenario::lose_a_replica() {
    const auto replica = random_.below(server_count());
    if (!is_replica(replica)) return;
    trace_.write("replica " + std::to_string(replica) + " is away");
    server(replica).stop_server();
    loop_.schedule_after(random_.between(500ms, 5s), [this, replica] { restart(replica); });
}

void topology_scenario::cut_off(simulated_process& process) {
    for (std::size_t i = 0; i < server_count(); ++i)
        switch (random_.below(4)) {
        case 0: break;
        case 1: server(i).cut_off_requests(process); break;
        case 2: server(i).cut_off_replies(process); break;
        default: server(i).cut_off(process);
        }
}

void topology_scenario::reconnect(simulated_process& process) {
    for (std::size_t i = 0; i < server_count(); ++i)
        server(i).reconnect(process);
}

const std::vector<std::string>& topology_scenario::names() const {
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

lock_options topology_scenario::choose(user& caller, attempt& made) {
    const auto seconds = caller.choices.between(plan_.shortest_ttl / 1s, plan_.longest_ttl / 1s);
    // A program passes a lock on within itself for as long as `max_local_hand_offs` holds.
    lock_options options{.ttl = 1s * seconds, .wait = is_finishing_ ? 20s : 15s};
    const bool is_short = !is_finishing_ && caller.choices.happens(0.2);
    if (is_short) options.wait = 1ms * caller.choices.between(0, 600);
    if (plan_.durable_copies > 0 && !is_finishing_)
        options.durable = durability::replicas(plan_.durable_copies);
    if (plan_.is_on_disk && !is_finishing_) options.durable = durability::disk;
    made.may_time_out = is_short || (!is_calm_ && plan_.longest_hold > 2s);
    // A dead holder's lock lasts as long as the clock of a promoted replica says. A partition leads
    // to a promotion, too.
    made.must_succeed =
        is_calm_ ? !plan_.is_skewed : plan_.is_gentle() && !plan_.has_sets && !plan_.is_durable();
    return options;
}

void topology_scenario::note(believed_hold& granted) {
    granted.is_of_present_master = is_of_present_master(granted);
    trace::line(trace_) << granted.label << " has " << granted.name << ", epoch "
                        << static_cast<std::int64_t>(granted.epoch()) << ", token "
                        << static_cast<std::int64_t>(granted.token);
}

void topology_scenario::check_loss(const believed_hold& lost) {
    // A grant may be confirmed too late because its slot moves.
    const bool was_late = plan_.moves && loop_.now() - lost.granted_at < 1ms;
    if (plan_.is_gentle() && !was_late) fail("a hold was lost without a fault");
}

void topology_scenario::check_grant(const attempt& completed, const believed_hold& granted) {
    // The first lock of a set may have its copies long before the last one is granted.
    // In the time of the simulation, so the clocks do not matter.
    const auto replaced = replaced_at(granted.epoch());
    if (!plan_.partitions && !plan_.pauses && replaced &&
        completed.requested_at > *replaced + longest_switch)
        fail("a master that was replaced has granted " + granted.name);
    check_durability(completed, granted);
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

void topology_scenario::disturb() {
    if (plan_.pauses && random_.happens(0.5)) stop_a_program(200ms, 7s);
    if (plan_.partitions && random_.happens(0.7)) cut_off_a_program(100ms, 5s);
    disturb_servers();
}

bool topology_scenario::is_wanted(const std::string& name) const {
    return std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.size() == 1 && each->names.front() == name && !each->may_time_out;
    });
}

bool topology_scenario::is_disturbed(const std::string& name) {
    auto* const server = server_of(name);
    const bool hears_of_switches =
        tells_of_switches_ || plan_.cluster_limits.view_interval <= longest_view_interval;
    // The Sentinels have told the programs of it, even if the old master still serves.
    const bool is_replaced =
        !tells_of_switches_ &&
        holds_.is_replaced_near(name, loop_.now() - longest_switch, loop_.now());
    return plan_.partitions || plan_.pauses || (plan_.failovers && !hears_of_switches) ||
           server == nullptr || !server->is_up() || server->is_frozen() ||
           !is_settled(name, loop_.now()) || is_replaced;
}

instant topology_scenario::allowance() const {
    return plan_.breaks                             ? instant(3s)
           : plan_.failovers && !tells_of_switches_ ? instant(1s)
                                                    : instant(0);
}

bool topology_scenario::check_holders(const std::string& name, const std::string& token) {
    bool is_believed = false;
    for (const auto& each : holds_.all()) {
        if (each->name != name || each->ended_at) continue;
        is_believed = true;
        if (is_token_of(token, each->token))
            each->missing_since.reset();
        else if (lasts(each->missing_since, true, longest_ignorance + allowance()))
            fail("a holder of " + name + " does not know of the loss");
    }
    return is_believed;
}

void topology_scenario::observe_lock(const std::string& name, observation& seen) {
    // A promoted replica may keep a lock for longer than its ttl. And a durable acquire that still
    // waits for its copies learns only some time later that the lock is lost.
    const bool keeps_locks = (!plan_.failovers || !plan_.is_skewed) &&
                             !holds_.is_replaced_near(name, loop_.now() - 3s, loop_.now());
    if (is_disturbed(name)) {
        seen = {};
        for (const auto& each : holds_.all())
            if (each->name == name) each->missing_since.reset();
        return;
    }
    const auto& data = server_of(name)->server().data().all();
    const auto keys = keys_of(name);
    const bool is_locked = data.contains(keys.lock);
    const auto token = token_in(data, keys);
    // An acquire may have the lock, and wait for another one, or for its copies.
    const bool is_half_granted = std::ranges::any_of(attempts_, [&](const auto& each) {
        return std::ranges::count(each->names, name) > 0 &&
               (each->names.size() > 1 || plan_.is_durable());
    });
    const bool is_believed = check_holders(name, token) || is_half_granted;
    const auto since = loop_.now() - instant(plan_.longest_ttl) - 2s;
    // A promoted replica may not know of a release, or of a failed acquire, of an earlier epoch.
    const bool may_be_outdated = holds_.has_lost_power_since(since) ||
                                 (holds_.is_replaced_near(name, since, loop_.now()) &&
                                  (token.empty() || epoch_in(std::stoull(token)) < epoch_of(name)));
    // Another grant, to a waiter whose message was lost, has its own time.
    if (std::exchange(seen.token, token) != token) seen.nobody_has_it.reset();
    if (lasts(seen.nobody_has_it, keeps_locks && is_locked && !is_believed && !may_be_outdated,
              longest_orphan + allowance()))
        fail("nobody has the lock " + name + ", but the server keeps it");
    if (lasts(seen.nobody_gets_it, keeps_locks && !is_locked && is_wanted(name),
              longest_neglect + allowance()))
        fail("somebody waits for the lock " + name + ", which is free");
}

bool topology_scenario::recover() {
    const bool has_agreed = happens_soon(30s, [this] { return is_agreed(); });
    // Slots that move while the bus of a cluster is cut may need an operator (`--cluster fix`).
    if (!has_agreed && plan_.moves && plan_.partitions) return false;
    if (!has_agreed) fail("at the end, the servers do not agree");
    repair();
    return true;
}

}  // namespace pawl::simulation
