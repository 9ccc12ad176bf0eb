// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_node.hpp"

#include <array>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

redlock_node::redlock_node(const redlock_part& part, std::size_t index)
    : redlock_part(part), index_(index), label_("node" + std::to_string(index + 1)) {
    servers_.push_back(make_server());
    jump_clock(random_.between(-plan_.clock_difference / 1us, plan_.clock_difference / 1us));
}

std::unique_ptr<redlock_server> redlock_node::make_server() {
    static constexpr std::array suffixes{"", "b", "c"};
    auto made = std::make_unique<redlock_server>(fork(), plan_.network_of(index_),
                                                 label_ + suffixes.at(servers_.size()),
                                                 plan_.has_sentinels ? servers_.size() + 1 : 0);
    made->network().run_clock_at(plan_.clock_rates[index_]);
    made->network().jump_clock(clock_offset_us_);
    return made;
}

void redlock_node::jump_clock(std::int64_t us) {
    clock_offset_us_ += us;
    for (const auto& each : servers_) {
        each->compare();  // what has expired until now
        each->network().jump_clock(us);
    }
}

chosen_server redlock_node::server_of(const simulated_process& process) const {
    const auto route = routes_.find(&process);
    auto& present = *servers_[route == routes_.end() ? servers_.size() - 1 : route->second];
    return {&present.network(), present.epoch(), plan_.shows_clocks};
}

redlock_server& redlock_node::any_running() {
    auto& present = *servers_[random_.below(servers_.size())];
    return present.network().is_up() ? present : newest();
}

// A promoted replica has the data of a while ago; a server behind a name usually has none.
void redlock_node::replace(std::span<simulated_process* const> programs) {
    programs_.assign(programs.begin(), programs.end());
    const auto present = servers_.size() - 1;
    const bool has_data = random_.happens(plan_.has_sentinels ? 0.9 : 0.3);
    auto data =
        random_.happens(0.5) ? newest().backup() : newest().network().server().take_snapshot();
    trace_.write(
        label_ +
        (has_data ? " is replaced by a server with its data" : " is replaced by a new server") +
        ", and lives on");
    for (auto* const each : programs_)
        routes_.try_emplace(each, present);
    servers_.push_back(make_server());
    if (has_data)
        newest().network().change_data(
            [&](simulated_redis& redis) { redis.roll_back(std::move(data)); });
    for (auto* const each : programs_) {
        if (random_.happens(0.4)) continue;
        if (random_.happens(0.5)) {
            lead(*each, servers_.size() - 1);
            continue;
        }
        loop_.schedule_after(random_.between(10ms, 4s),
                             [this, each, to = servers_.size() - 1] { lead(*each, to); });
    }
    if (random_.happens(0.4)) stop_later(present);
}

// Sentinels tell a client, which leaves at once. A name that leads elsewhere tells nobody: the
// connection to the earlier server ends later, or never.
void redlock_node::lead(simulated_process& process, std::size_t server) {
    const auto route = routes_.find(&process);
    if (route == routes_.end() || route->second == server) return;
    if (!servers_[server]->network().is_up()) return;
    auto& left = servers_[route->second]->network();
    route->second = server;
    if (!plan_.has_sentinels && random_.happens(0.3)) return;
    const auto after = plan_.has_sentinels ? random_.between(1ms, 100ms) : random_.between(1ms, 3s);
    loop_.schedule_after(after, [&left, &process] { left.break_all(process); });
}

void redlock_node::change_routes() {
    for (auto* const each : programs_) {
        if (!random_.happens(0.3)) continue;
        const auto to = random_.below(servers_.size());
        // A client of Sentinels never returns to an earlier epoch.
        const auto route = routes_.find(each);
        if (route == routes_.end()) return;
        if (!plan_.has_sentinels || to > route->second) lead(*each, to);
    }
}

void redlock_node::stop_later(std::size_t server) {
    loop_.schedule_after(random_.between(1s, 6s), [this, server] {
        if (!servers_[server]->network().is_up()) return;
        trace_.write("an earlier server of " + label_ + " ends");
        servers_[server]->network().stop_server();
        for (auto& [process, route] : routes_)
            if (route == server) route = servers_.size() - 1;
    });
}

void redlock_node::settle() {
    routes_.clear();
    for (std::size_t i = 0; i + 1 < servers_.size(); ++i)
        if (servers_[i]->network().is_up()) servers_[i]->network().stop_server();
}

}  // namespace pawl::simulation
