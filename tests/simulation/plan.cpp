#include "plan.hpp"

#include <algorithm>
#include <array>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr std::array<std::string_view, trouble_kinds> names{
    "cut off", "break all",      "freeze",  "restart",       "restart old",    "restart empty",
    "flush",   "forget scripts", "evict",   "clock forward", "clock backward", "pause",
    "crash",   "force",          "foreign", "data back",     "out of memory",  "refuse"};

// Those that any world may have; the others are planned by themselves.
constexpr auto common_kinds = static_cast<std::size_t>(trouble::refuse);

instant between(prng& chance, instant low, instant high) {
    return instant(chance.between(low.count(), high.count()));
}

// Over several orders of size: short and long alike are likely.
instant spread(prng& chance, instant low, instant high) {
    auto value = low;
    while (value < high && chance.chance(0.6))
        value *= 2;
    return std::min(between(chance, low, value * 2), high);
}

void plan_network(plan& made, prng& chance) {
    auto& net = made.net;
    net.latency_low = between(chance, 20us, 100us);
    net.latency_high = net.latency_low + spread(chance, 50us, 2ms);
    net.reply_before_own_push = chance.chance(0.5);
    net.pushes_overtake = chance.chance(0.5);
    if (made.calm_network) return;
    if (chance.chance(0.4)) {
        net.slow = chance.chance(0.5) ? 0.01 : 0.1;
        net.slow_for = spread(chance, 5ms, 2s);
    }
    if (chance.chance(0.3)) net.break_on_request = 0.02;
    if (chance.chance(0.3)) net.break_on_reply = 0.02;
    if (chance.chance(0.4)) net.unnoticed = 0.5;
    if (chance.chance(0.5)) {
        net.zombie = 0.5;
        net.zombie_for = spread(chance, 1ms, 4s);
    }
}

bool harms_network(trouble what) {
    return what <= trouble::forget_scripts || what == trouble::clock_forward ||
           what == trouble::clock_backward || what == trouble::evict || what == trouble::data_back;
}

bool loses_counters(trouble what) {
    return what == trouble::restart_old || what == trouble::restart_empty ||
           what == trouble::flush || what == trouble::evict || what == trouble::data_back;
}

instant length_of(trouble what, prng& chance) {
    switch (what) {
    case trouble::clock_forward:
    case trouble::clock_backward: return spread(chance, 5ms, 20s);
    case trouble::restart_old:
    case trouble::data_back: return spread(chance, 10ms, 3s);
    default: return spread(chance, 5ms, 6s);
    }
}

void plan_troubles(plan& made, prng& chance) {
    std::array<bool, trouble_kinds> on{};
    const auto likely = std::array{0.1, 0.3, 0.6}[chance.below(3)];
    for (std::size_t kind = 0; kind < common_kinds; ++kind) {
        const auto what = static_cast<trouble>(kind);
        on[kind] = chance.chance(likely) && !(made.calm_network && harms_network(what));
    }
    on[static_cast<std::size_t>(trouble::foreign)] &= made.shared_key;
    for (std::size_t kind = 0; kind < common_kinds; ++kind) {
        if (!on[kind]) continue;
        const auto what = static_cast<trouble>(kind);
        for (auto times = chance.between(1, 3); times > 0; --times) {
            disturbance one{between(chance, 10ms, made.horizon), what, length_of(what, chance),
                            chance.below(1000)};
            made.troubles.push_back(one);
        }
    }
    std::ranges::stable_sort(made.troubles, {}, &disturbance::at);
    const auto any = [&](auto test) {
        return std::ranges::any_of(made.troubles, test, &disturbance::what);
    };
    made.memory_runs_out = any([](trouble t) { return t == trouble::out_of_memory; });
    made.forgets_steps =
        any([](trouble t) { return t == trouble::clock_backward; }) || any(loses_counters);
    made.tokens_may_go_back =
        any([](trouble t) { return t == trouble::clock_backward; }) && any(loses_counters);
}

void plan_users(plan& made, prng& chance) {
    auto& users = made.users;
    const auto maybe = [&](double most) { return chance.chance(0.5) ? most : 0.0; };
    users.tries = maybe(0.4);
    users.limited = maybe(0.5);
    users.cancels = maybe(0.3);
    users.drops = maybe(0.4);
    users.clings = maybe(0.15);
    users.max_hold = maybe(0.2);
    users.unfenced = chance.chance(0.1) ? 0.3 : 0.0;
    users.idle_most = spread(chance, 1ms, 300ms);
    users.hold_most = spread(chance, 1ms, 500ms);
    users.ttl_least = spread(chance, 50ms, 1s);
    users.ttl_most = users.ttl_least + spread(chance, 50ms, 5s);
}

void plan_modes(plan& made, prng& chance) {
    auto& users = made.users;
    made.mixed = chance.chance(0.4);
    users.fair = chance.chance(0.3) ? 0.4 : 0.0;
    users.reads = std::array{0.3, 0.6, 0.9}[chance.below(3)];
    users.permits = std::array{0.6, 0.9, 1.0}[chance.below(3)];
    users.downgrades = chance.chance(0.5) ? 0.3 : 0.0;
}

// Last, so that the worlds without them stay as they were.
void plan_sets(plan& made, prng& chance) {
    if (!chance.chance(0.3)) return;
    auto& users = made.users;
    users.sets = std::array{0.4, 0.7, 1.0}[chance.below(3)];
    users.owners = chance.chance(0.4) ? 0.5 : 0.0;
    users.sets_read = chance.chance(0.3) ? 0.3 : 0.0;
    made.names = static_cast<std::size_t>(chance.between(2, 4));
    made.programs = std::max<std::size_t>(made.programs, 2);
}

// For up to several ttls: whoever waits outlives it, and nobody who holds a lock does.
void plan_refusals(plan& made, prng& chance) {
    if (made.calm_network || !chance.chance(0.25)) return;
    for (auto times = chance.between(1, 2); times > 0; --times) {
        const auto longest = std::clamp<instant>(4 * instant(made.users.ttl_most), 4s, 12s);
        const disturbance one{between(chance, 10ms, made.horizon), trouble::refuse,
                              between(chance, 5ms, longest), chance.below(1000)};
        made.troubles.push_back(one);
    }
    std::ranges::stable_sort(made.troubles, {}, &disturbance::at);
    for (const auto& one : made.troubles)
        if (one.what == trouble::refuse)
            made.horizon = std::max(made.horizon, one.at + one.lasts + 1s);
}

// So that each is met.
void plan_bounds(plan& made, prng& chance) {
    if (!chance.chance(0.3)) return;
    auto& bounds = made.bounds;
    if (chance.chance(0.5)) bounds.undos = static_cast<std::size_t>(chance.between(1, 3));
    if (chance.chance(0.5)) bounds.undos_at_once = static_cast<std::size_t>(chance.between(1, 2));
    if (chance.chance(0.5)) bounds.local_passes = static_cast<unsigned>(chance.between(0, 2));
    if (chance.chance(0.3)) bounds.claim_window = 150ms;
    if (chance.chance(0.5)) bounds.renewals = static_cast<std::size_t>(chance.between(1, 2));
    if (chance.chance(0.5)) bounds.messages = static_cast<std::size_t>(chance.between(1, 2));
}

// Programs beside each other with the same names: in each part of the server two at least.
void plan_spaces(plan& made, prng& chance) {
    if (!chance.chance(0.15)) return;
    made.databases = static_cast<std::size_t>(chance.between(1, 3));
    made.other_namespace = !made.shared_key && (made.databases == 1 || chance.chance(0.3));
    made.programs = std::max<std::size_t>(made.programs, 4);
    made.users_each = 1;
}

void plan_latches(plan& made, prng& chance) {
    made.steps = chance.chance(0.3);
    made.waits = made.steps && chance.chance(0.6);
    made.redisson = made.waits && chance.chance(0.4);
    if (made.waits) made.users_each = std::min<std::size_t>(made.users_each, 2);
}

// Connections that break, and requests that arrive late, at a server that forgets nothing: a step
// that is counted twice is seen.
void plan_late_steps(plan& made, prng& chance) {
    if (!made.steps || made.calm_network || !chance.chance(0.3)) return;
    std::erase_if(made.troubles, [](const disturbance& each) {
        return each.what == trouble::clock_backward || loses_counters(each.what);
    });
    made.forgets_steps = made.tokens_may_go_back = false;
    made.reply_timeout = 300ms;
    made.net.break_on_request = made.net.break_on_reply = 0.02;
    made.net.zombie = 0.5;
    made.net.zombie_for = 4s;
}

// Last, as above.
void plan_callbacks(plan& made, prng& chance) {
    auto& users = made.users;
    users.blocks = std::array{0.0, 0.3, 1.0}[chance.below(3)];
    users.blocks_most = spread(chance, 10ms, 10s);
    users.shortage = chance.chance(0.3) ? 0.05 : 0.0;
}

// Last, as above. In some worlds all of memory is missing for moments, in others some of it for
// long.
void plan_shortages(plan& made, prng& chance) {
    if (made.calm_network || !chance.chance(0.3)) return;
    for (auto times = chance.between(1, 4); times > 0; --times) {
        const auto of = static_cast<resource>(chance.below(resource_kinds));
        made.shortages.push_back({between(chance, 10ms, made.horizon), of,
                                  spread(chance, 1ms, of == resource::memory ? 300ms : 4s),
                                  chance.below(1000)});
    }
}

}  // namespace

std::string_view to_string(trouble what) noexcept { return names[static_cast<std::size_t>(what)]; }

plan make_plan(std::uint64_t seed, planted bug) {
    prng chance(seed ^ 0x5EED0F91A0000000u);
    plan made;
    made.seed = seed;
    made.programs = static_cast<std::size_t>(chance.between(1, 4));
    made.users_each = static_cast<std::size_t>(chance.between(1, 3));
    made.names = chance.chance(0.7) ? 1 : 2;
    made.horizon = between(chance, 1s, 6s);
    made.reply_timeout = std::array<duration, 3>{300ms, 1s, 5s}[chance.below(3)];
    made.shared_key = chance.chance(0.25);
    made.clocks_differ = chance.chance(0.5) ? 0.004 : 0.0;
    made.calm_network = chance.chance(0.3);
    plan_network(made, chance);
    made.net.bug = bug;
    plan_troubles(made, chance);
    plan_users(made, chance);
    plan_modes(made, chance);
    plan_sets(made, chance);
    plan_refusals(made, chance);
    plan_bounds(made, chance);
    plan_latches(made, chance);
    plan_late_steps(made, chance);
    plan_spaces(made, chance);
    plan_callbacks(made, chance);
    plan_shortages(made, chance);
    return made;
}

}  // namespace pawl::simulation
