// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "plan.hpp"

#include "../../server/spread_servers.hpp"

#include <redis/common/keys.hpp>
#include <redis/common/redisson_names.hpp>

#include <algorithm>
#include <array>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr std::array<std::string_view, fault_kind_count> fault_names{
    "cut off", "break all",      "freeze",  "restart",       "restart old",    "restart empty",
    "flush",   "forget scripts", "evict",   "clock forward", "clock backward", "pause",
    "crash",   "force",          "foreign", "data back",     "out of memory",  "refuse"};

// The faults of any scenario; the others are planned separately.
constexpr auto common_kinds = static_cast<std::size_t>(fault_kind::refuse);

// Over several orders of magnitude, so that short and long times are both likely.
instant random_magnitude(prng& random, instant low, instant high) {
    auto value = low;
    while (value < high && random.happens(0.6))
        value *= 2;
    return std::min(random.between(low, value * 2), high);
}

void plan_network(server_plan& server, prng& random) {
    auto& net = server.network;
    net.latency_low = random.between(20us, 100us);
    net.latency_high = net.latency_low + random_magnitude(random, 50us, 2ms);
    net.reply_before_own_push = random.happens(0.5);
    net.pushes_overtake = random.happens(0.5);
    if (server.is_calm) return;
    if (random.happens(0.4)) {
        net.slow_message = random.happens(0.5) ? 0.01 : 0.1;
        net.longest_delay = random_magnitude(random, 5ms, 2s);
    }
    if (random.happens(0.3)) net.break_on_request = 0.02;
    if (random.happens(0.3)) net.break_on_reply = 0.02;
    if (random.happens(0.4)) net.unnoticed_break = 0.5;
    if (random.happens(0.5)) {
        net.late_delivery = 0.5;
        net.longest_late_delay = random_magnitude(random, 1ms, 4s);
    }
}

bool affects_network(fault_kind kind) {
    return kind <= fault_kind::forget_scripts || kind == fault_kind::clock_forward ||
           kind == fault_kind::clock_backward || kind == fault_kind::evict ||
           kind == fault_kind::data_back;
}

bool loses_counters(fault_kind kind) {
    return kind == fault_kind::restart_old || kind == fault_kind::restart_empty ||
           kind == fault_kind::flush || kind == fault_kind::evict || kind == fault_kind::data_back;
}

instant choose_length(fault_kind kind, prng& random) {
    switch (kind) {
    case fault_kind::clock_forward:
    case fault_kind::clock_backward: return random_magnitude(random, 5ms, 20s);
    case fault_kind::restart_old:
    case fault_kind::data_back: return random_magnitude(random, 10ms, 3s);
    default: return random_magnitude(random, 5ms, 6s);
    }
}

void plan_troubles(plan& result, prng& random) {
    std::array<bool, fault_kind_count> enabled{};
    const auto probability = std::array{0.1, 0.3, 0.6}[random.below(3)];
    for (std::size_t kind = 0; kind < common_kinds; ++kind) {
        const auto kind_of_fault = static_cast<fault_kind>(kind);
        enabled[kind] = random.happens(probability) &&
                        !(result.has_calm_network && affects_network(kind_of_fault));
    }
    enabled[static_cast<std::size_t>(fault_kind::foreign)] &= result.shares_keys;
    for (std::size_t kind = 0; kind < common_kinds; ++kind) {
        if (!enabled[kind]) continue;
        const auto kind_of_fault = static_cast<fault_kind>(kind);
        for (auto times = random.between(1, 3); times > 0; --times) {
            fault planned{random.between(10ms, result.horizon), kind_of_fault,
                          choose_length(kind_of_fault, random), random.below(1000)};
            result.faults.push_back(planned);
        }
    }
    std::ranges::stable_sort(result.faults, {}, &fault::time);
}

void plan_users(plan& result, prng& random) {
    auto& users = result.behaviour;
    const auto half_of_plans = [&](double most) { return random.happens(0.5) ? most : 0.0; };
    users.tries_once = half_of_plans(0.4);
    users.limits_wait = half_of_plans(0.5);
    users.cancels = half_of_plans(0.3);
    users.drops_handle = half_of_plans(0.4);
    users.holds_too_long = half_of_plans(0.15);
    users.limits_hold = half_of_plans(0.2);
    users.unfenced = random.happens(0.1) ? 0.3 : 0.0;
    users.longest_idle = random_magnitude(random, 1ms, 300ms);
    users.longest_hold = random_magnitude(random, 1ms, 500ms);
    users.shortest_ttl = random_magnitude(random, 50ms, 1s);
    users.longest_ttl = users.shortest_ttl + random_magnitude(random, 50ms, 5s);
}

void plan_modes(plan& result, prng& random) {
    auto& users = result.behaviour;
    result.has_all_modes = random.happens(0.4);
    users.fair = random.happens(0.3) ? 0.4 : 0.0;
    users.reads = std::array{0.3, 0.6, 0.9}[random.below(3)];
    users.takes_permits = std::array{0.6, 0.9, 1.0}[random.below(3)];
    users.downgrades = random.happens(0.5) ? 0.3 : 0.0;
}

// Planned late, so that scenarios without sets keep their random choices.
void plan_sets(plan& result, prng& random) {
    if (!random.happens(0.3)) return;
    auto& users = result.behaviour;
    users.takes_sets = std::array{0.4, 0.7, 1.0}[random.below(3)];
    users.uses_owner = random.happens(0.4) ? 0.5 : 0.0;
    users.reads_sets = random.happens(0.3) ? 0.3 : 0.0;
    result.name_count = static_cast<std::size_t>(random.between(2, 4));
    result.program_count = std::max<std::size_t>(result.program_count, 2);
}

// Refusals last up to several ttls: a waiter survives them, a hold does not.
void plan_refusals(plan& result, prng& random) {
    if (result.has_calm_network || !random.happens(0.25)) return;
    for (auto times = random.between(1, 2); times > 0; --times) {
        const auto longest =
            std::clamp<instant>(4 * instant(result.behaviour.longest_ttl), 4s, 12s);
        const fault planned{random.between(10ms, result.horizon), fault_kind::refuse,
                            random.between(5ms, longest), random.below(1000)};
        result.faults.push_back(planned);
    }
    std::ranges::stable_sort(result.faults, {}, &fault::time);
    for (const auto& planned : result.faults)
        if (planned.kind == fault_kind::refuse)
            result.horizon = std::max(result.horizon, planned.time + planned.length + 1s);
}

// Tiny limits, so that each of them is reached.
void plan_bounds(plan& result, prng& random) {
    if (!random.happens(0.3)) return;
    auto& limits = result.limits;
    if (random.happens(0.5)) limits.max_undos = static_cast<std::size_t>(random.between(1, 3));
    if (random.happens(0.5))
        limits.max_concurrent_undos = static_cast<std::size_t>(random.between(1, 2));
    if (random.happens(0.5))
        limits.max_local_hand_offs = static_cast<unsigned>(random.between(0, 2));
    limits.max_counted_hand_offs = 1;
    if (random.happens(0.3)) limits.claim_window = 150ms;
    if (random.happens(0.5))
        limits.renewals_per_script = static_cast<std::size_t>(random.between(1, 2));
    if (random.happens(0.5))
        limits.max_unread_messages = static_cast<std::size_t>(random.between(1, 2));
}

// With choices of its own, so that the other scenarios stay the same.
void plan_unanswered_renewals(plan& result) {
    prng random(result.seed ^ 0x4E4E'3A15'0000'0001U);
    if (random.happens(0.4))
        result.limits.unanswered_renewals = static_cast<std::size_t>(random.between(1, 2));
}

// Programs with the same names in different key spaces, at least two in each.
void plan_spaces(plan& result, prng& random) {
    if (!random.happens(0.15)) return;
    result.database_count = static_cast<std::size_t>(random.between(1, 3));
    result.has_other_namespace =
        !result.shares_keys && (result.database_count == 1 || random.happens(0.3));
    result.program_count = std::max<std::size_t>(result.program_count, 4);
    result.users_per_program = 1;
}

void plan_latches(plan& result, prng& random) {
    result.has_latch_users = random.happens(0.3);
    result.has_latch_waiters = result.has_latch_users && random.happens(0.6);
    result.has_redisson_latches = result.has_latch_waiters && random.happens(0.4);
    if (result.has_latch_waiters)
        result.users_per_program = std::min<std::size_t>(result.users_per_program, 2);
}

// Connections break and requests arrive late, at a server that forgets nothing. A step that counts
// twice is then visible.
void plan_late_steps(plan& result, prng& random) {
    if (!result.has_latch_users || result.has_calm_network || !random.happens(0.3)) return;
    std::erase_if(result.faults, [](const fault& each) {
        return each.kind == fault_kind::clock_backward || loses_counters(each.kind);
    });
    result.reply_timeout = 300ms;
    auto& net = result.servers.front().network;
    net.break_on_request = net.break_on_reply = 0.02;
    net.late_delivery = 0.5;
    net.longest_late_delay = 4s;
}

// Planned late, as above.
void plan_callbacks(plan& result, prng& random) {
    auto& users = result.behaviour;
    users.blocks_callback = std::array{0.0, 0.3, 1.0}[random.below(3)];
    users.longest_block = random_magnitude(random, 10ms, 10s);
    users.runs_short = random.happens(0.3) ? 0.05 : 0.0;
}

// Planned late, as above. Some scenarios lack all memory for moments, others lack some of it for a
// long time.
void plan_shortages(plan& result, prng& random) {
    if (result.has_calm_network || !random.happens(0.3)) return;
    for (auto times = random.between(1, 4); times > 0; --times) {
        const auto missing = static_cast<resource>(random.below(resource_count));
        result.shortages.push_back(
            {random.between(10ms, result.horizon), missing,
             random_magnitude(random, 1ms, missing == resource::memory ? 300ms : 4s),
             random.below(1000)});
    }
}

// Redisson's Semaphore has no leases. If its data are lost, its number of permits stays wrong, and
// a program without memory cannot return them.
void plan_plain_semaphore(plan& result, prng& random) {
    result.has_plain_semaphore = random.happens(0.4) && result.shortages.empty();
    if (result.has_plain_semaphore)
        std::erase_if(result.faults, [](const fault& each) { return loses_counters(each.kind); });
}

// Redisson's objects, for which Pawl competes with Java. Its latches are in the native scenarios.
void plan_redisson(plan& result, prng& random) {
    auto& users = result.behaviour;
    result.java_program_count = static_cast<std::size_t>(random.between(1, 2));
    result.program_count = std::min<std::size_t>(result.program_count, 3);
    result.has_fair_lock = random.happens(0.4);
    result.has_all_modes = random.happens(0.4);
    std::erase_if(result.faults,
                  [](const fault& each) { return each.kind == fault_kind::foreign; });
    result.shares_keys = result.has_other_namespace = false;
    result.has_latch_users = result.has_latch_waiters = result.has_redisson_latches = false;
    users.takes_sets = 0;
    users.takes_permits = 1;
    result.has_semaphore = random.happens(0.5);
    plan_plain_semaphore(result, random);
    result.may_lose_data = std::ranges::any_of(result.faults, loses_counters, &fault::kind);
    result.has_endless_permits = result.has_semaphore && random.happens(0.5);
    result.is_cluster_node = random.happens(0.3);
    if (result.is_cluster_node) result.database_count = 1;
}

// Each server gets a network and a clock of its own. One of them has the planned network.
void plan_server_networks(plan& result, prng& random) {
    const auto count = static_cast<std::size_t>(random.between(2, 3));
    while (result.servers.size() < count) {
        server_plan added;
        added.is_calm =
            result.has_calm_network || (result.shortages.empty() && random.happens(0.5));
        plan_network(added, random);
        added.clock_offset = random_magnitude(random, 1ms, 1h) * (random.happens(0.5) ? 1 : -1);
        result.servers.push_back(added);
    }
    std::swap(result.servers.front(), result.servers[random.below(count)]);
}

// A calm server stays calm while the others have faults.
void assign_faults(plan& result, prng& random) {
    std::vector<std::size_t> all, disturbed;
    for (std::size_t i = 0; i < result.servers.size(); ++i) {
        all.push_back(i);
        if (!result.servers[i].is_calm) disturbed.push_back(i);
    }
    for (auto& planned : result.faults) {
        const bool disturbs = affects_network(planned.kind) || planned.kind == fault_kind::refuse;
        const auto& possible = disturbs ? disturbed : all;
        planned.server = possible[random.below(possible.size())];
        const bool is_of_program =
            planned.kind == fault_kind::cut_off || planned.kind == fault_kind::break_all;
        if (is_of_program && random.happens(0.5)) planned.server.reset();
    }
}

// A server is silent for longer than the shortest leases, while users hold locks of the others.
void plan_outages(plan& result, prng& random) {
    if (result.has_calm_network || !random.happens(0.7)) return;
    for (auto times = random.between(2, 5); times > 0; --times)
        result.faults.push_back({random.between(10ms, result.horizon), fault_kind::freeze,
                                 random.between(300ms, 6s), random.below(1000)});
    std::ranges::stable_sort(result.faults, {}, &fault::time);
    auto& users = result.behaviour;
    users.holds_too_long = std::max(users.holds_too_long, 0.4);
    users.takes_sets = std::max(users.takes_sets, 0.5);
}

// Planned last, so that scenarios with one server keep their random choices. Users hold locks of
// several servers at the same time.
void plan_servers(plan& result, prng& random) {
    if (!random.happens(1.0 / 6)) return;
    plan_server_networks(result, random);
    plan_outages(result, random);
    assign_faults(result, random);
    result.name_count = std::max(result.name_count, static_cast<std::size_t>(random.between(2, 4)));
    result.users_per_program = std::max<std::size_t>(result.users_per_program, 2);
    if (random.happens(0.5))
        result.behaviour.takes_sets = std::max(result.behaviour.takes_sets, 0.4);
}

// Planned last, as above. Many users wait for one lock, which is held for long, and the scripts
// look at few of them.
void plan_crowd(plan& result, prng& random) {
    if (!random.happens(0.15)) return;
    result.bounds_of_scripts = {.near_waiters = static_cast<int>(random.between(1, 4)),
                                .grants_at_once = static_cast<int>(random.between(1, 3))};
    if (random.happens(0.5)) return;
    auto& users = result.behaviour;
    result.program_count = 4;
    result.users_per_program = 3;
    result.name_count = 1;
    result.horizon = std::max(result.horizon, instant(5s));
    users.fair = std::max(users.fair, 0.4);
    users.longest_hold = std::max(users.longest_hold, instant(1500ms));
    users.takes_sets = 0;
}

void note_consequences(plan& result) {
    for (std::size_t i = 0; i < result.servers.size(); ++i) {
        const auto any = [&](auto test) {
            return std::ranges::any_of(result.faults, [&](const fault& each) {
                return each.server == i && test(each.kind);
            });
        };
        auto& server = result.servers[i];
        const bool sets_clock_back =
            any([](fault_kind kind) { return kind == fault_kind::clock_backward; });
        server.runs_out_of_memory =
            any([](fault_kind kind) { return kind == fault_kind::out_of_memory; });
        server.may_forget_steps = sets_clock_back || any(loses_counters);
        server.tokens_may_go_back =
            (sets_clock_back || result.layout == redis::key_layout::redisson) &&
            any(loses_counters);
        server.network.bug = result.bug;
        server.network.bounds_of_scripts = result.bounds_of_scripts;
    }
}

}  // namespace

std::string_view to_string(fault_kind kind) noexcept {
    return fault_names[static_cast<std::size_t>(kind)];
}

std::size_t plan::server_of(std::string_view key) const noexcept {
    return simulation::server_of(key, servers.size());
}

plan make_plan(std::uint64_t seed, redis::key_layout layout, injected_bug bug) {
    prng random(seed ^ 0x5EED0F91A0000000u);
    plan result;
    result.seed = seed;
    result.layout = layout;
    result.bug = bug;
    result.program_count = static_cast<std::size_t>(random.between(1, 4));
    result.users_per_program = static_cast<std::size_t>(random.between(1, 3));
    result.name_count = random.happens(0.7) ? 1 : 2;
    result.horizon = random.between(1s, 6s);
    result.reply_timeout = std::array<duration, 3>{300ms, 1s, 5s}[random.below(3)];
    result.shares_keys = random.happens(0.25);
    result.clock_rate_spread = random.happens(0.5) ? 0.004 : 0.0;
    result.has_calm_network = random.happens(0.3);
    result.servers.front().is_calm = result.has_calm_network;
    plan_network(result.servers.front(), random);
    plan_troubles(result, random);
    plan_users(result, random);
    plan_modes(result, random);
    plan_sets(result, random);
    plan_refusals(result, random);
    plan_bounds(result, random);
    plan_latches(result, random);
    plan_late_steps(result, random);
    plan_spaces(result, random);
    plan_callbacks(result, random);
    plan_shortages(result, random);
    if (layout == redis::key_layout::redisson)
        plan_redisson(result, random);
    else
        plan_servers(result, random);
    if (layout == redis::key_layout::native) plan_crowd(result, random);
    plan_unanswered_renewals(result);
    note_consequences(result);
    return result;
}

std::vector<key_space> key_spaces_of(const plan& scenario_plan) {
    redis::options options;
    options.layout = scenario_plan.layout;
    options.reply_timeout = scenario_plan.reply_timeout;
    options.connect_timeout = 300ms;  // affects only the time limit of a latch's step
    if (scenario_plan.shares_keys) options.key = "{name}";
    std::vector<key_space> all;
    for (std::uint32_t database = 0; database < scenario_plan.database_count; ++database) {
        options.database = database;
        all.push_back({options, database == 0 ? "" : "/" + std::to_string(database)});
    }
    if (scenario_plan.has_other_namespace) {
        options.database = 0;
        options.name_space = "other";
        all.push_back({options, "@other"});
    }
    return all;
}

std::vector<std::string> names_of(const plan& scenario_plan) {
    constexpr std::array plain{"gate", "door", "yard", "attic"};
    std::vector<std::string> result(plain.begin(), plain.begin() + scenario_plan.name_count);
    if (scenario_plan.has_all_modes) result.emplace_back(read_write_name);
    const bool is_native = scenario_plan.layout == redis::key_layout::native;
    if (is_native ? scenario_plan.has_all_modes : scenario_plan.has_semaphore)
        result.emplace_back(semaphore_name);
    if (scenario_plan.has_plain_semaphore) result.emplace_back(plain_semaphore_name);
    if (scenario_plan.has_fair_lock) result.emplace_back(fair_name);
    return result;
}

lock_keys keys_in(const key_space& space, std::string_view name) {
    const auto& options = space.options;
    if (options.layout == redis::key_layout::native) {
        const auto keys =
            redis::key_scheme(options.name_space, options.key, options.database).keys_of(name);
        return {std::string(keys.lock()),    std::string(keys.fence()),
                std::string(keys.queue()),   std::string(keys.waiters()),
                std::string(keys.holders()), std::string(keys.details())};
    }
    const auto names = redis::redisson::naming("").names_of(name);
    return {names.lock,     names.counter,  names.queue,
            names.timeouts, names.presence, names.lent_permits};
}

}  // namespace pawl::simulation
