// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_machines.hpp"

namespace real {

test_machines::test_machines(std::size_t servers, std::size_t clients)
    : servers_(servers),
      clients_(clients),
      network_(network::create(servers + clients, no_network_)) {
    for (std::size_t i = 0; i < servers; ++i)
        clocks_.push_back(std::make_unique<support::moved_clock>());
}

std::vector<support::machine> test_machines::of_servers() const {
    std::vector<support::machine> all;
    for (std::size_t i = 0; i < servers_; ++i) {
        all.push_back(network_ ? network_->machine(i) : support::machine());
        all.back().environment = clocks_[i]->environment();
    }
    return all;
}

support::machine test_machines::of_client(std::size_t index) const {
    return network_ ? network_->machine(servers_ + index % clients_) : support::machine();
}

void test_machines::isolate(const std::vector<std::size_t>& servers,
                            const std::vector<std::size_t>& clients, bool outward_only) {
    auto inside = servers;
    for (const auto each : clients)
        inside.push_back(servers_ + each);
    network_->isolate(inside, outward_only);
}

void test_machines::isolate_for_a_time(pace& pace, const std::vector<std::size_t>& servers) {
    using namespace std::chrono_literals;
    std::vector<std::size_t> clients;
    for (std::size_t i = 0; i < clients_; ++i)
        if (pace.pick(2) == 0) clients.push_back(i);
    isolate(servers, clients, pace.pick(4) == 0);
    pace.pause(300ms, 4s);
    heal();
}

void test_machines::separate(const std::vector<std::size_t>& servers,
                             const std::vector<std::size_t>& clients) {
    auto apart = clients;
    for (auto& each : apart)
        each += servers_;
    network_->separate(servers, apart);
}

void test_machines::set_detours(std::vector<network::detour> detours) {
    for (auto& each : detours)
        for (auto& client : each.from)
            client += servers_;
    network_->set_detours(detours);
}

void test_machines::heal() { network_->heal(); }

void set_clock(support::moved_clock& clock, std::chrono::microseconds ahead,
               const std::string& server, std::vector<memory_loss>& losses) {
    const auto amount = ahead - clock.wall_offset();
    const auto before = now();
    clock.step(amount);
    if (amount.count() > 0)
        losses.push_back({.server = server,
                          .at = {.earliest = before, .latest = now()},
                          .cause = loss_cause::clock_set_forward});
}

std::string name_of(const support::redis_server& server) {
    return server.host() + ":" + std::to_string(server.port());
}

std::string end_of_log(const support::redis_server& server) {
    return end_of_log(name_of(server), server.log());
}

std::string end_of_log(const std::string& server, const std::string& log) {
    constexpr int lines = 20;
    auto begin = log.size();
    for (int i = 0; i <= lines && begin != 0 && begin != std::string::npos; ++i)
        begin = log.rfind('\n', begin - 1);
    return server + "\n" + log.substr(begin == std::string::npos ? 0 : begin + 1) + "\n";
}

}  // namespace real
