// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "failover_faults.hpp"

#include <chrono>

namespace proofs {

using namespace std::chrono_literals;

replicated_servers::replicated_servers(std::size_t servers, std::size_t clients)
    : servers_(servers),
      network_(network::create(servers + clients, no_network_)),
      clients_(clients) {
    for (std::size_t i = 0; i < servers; ++i)
        clocks_.push_back(std::make_unique<support::moved_clock>());
}

std::vector<support::machine> replicated_servers::machines() const {
    std::vector<support::machine> all;
    for (std::size_t i = 0; i < servers_; ++i) {
        all.push_back(network_ ? network_->machine(i) : support::machine());
        all.back().environment = clocks_[i]->environment();
    }
    return all;
}

support::machine replicated_servers::client_machine(std::size_t index) const {
    return network_ ? network_->machine(servers_ + index % clients_) : support::machine();
}

std::vector<fault> replicated_servers::faults() {
    const consequences forgets{.forgets_holds = true};
    const consequences both{.forgets_holds = true, .two_servers_grant = true};
    std::vector<fault> all;
    const auto add = [&](const char* name, consequences can,
                         void (replicated_servers::*run)(pace&)) {
        all.push_back(
            {.name = name, .can = can, .run = [this, run](pace& pace) { (this->*run)(pace); }});
    };
    add("planned", both, &replicated_servers::plan_failover);
    add("crash", forgets, &replicated_servers::crash_master);
    add("lost-writes", forgets, &replicated_servers::crash_without_replication);
    add("pause", both, &replicated_servers::pause_master);
    add("skew", forgets, &replicated_servers::promote_skewed_clock);
    add("partition", both, &replicated_servers::isolate_master);
    all.back().obstacle = no_network_;
    return all;
}

void replicated_servers::wait_for_replacement(std::size_t master, pace& pace) {
    pace.until([&] { return is_replaced(master); }, "no replica is promoted");
}

support::resp_value replicated_servers::ask(std::size_t index,
                                            const support::command_words& words) {
    for (int attempt = 0;; ++attempt) {
        try {
            return server(index).connect()->execute(words);
        } catch (const std::runtime_error&) {
            if (attempt == 2) throw;
        }
    }
}

void replicated_servers::recover(pace& pace) {
    pace.until([this] { return is_whole(); }, "not all of them replicate and agree");
    // As if each machine asked a time server. A clock that is set under a master is another fault.
    for (std::size_t i = 0; i < servers_; ++i)
        if (ask(i, {"ROLE"}).items.at(0).text == "slave")
            clocks_[i]->step(-clocks_[i]->wall_offset());
}

void replicated_servers::end_reign(std::size_t replaced, pace& pace) {
    pace.pause(300ms, 3s);
    demote(replaced);
    recover(pace);
}

void replicated_servers::plan_failover(pace& pace) {
    const auto master = pick_master(pace);
    begin_failover(master);
    wait_for_replacement(master, pace);
    end_reign(master, pace);
}

void replicated_servers::crash_master(pace& pace) {
    const auto master = pick_master(pace);
    server(master).kill9();
    wait_for_replacement(master, pace);
    server(master).start(true);
    demote(master);
    recover(pace);
}

// The replicas stop, so the last grants and counters are the master's alone when it dies.
void replicated_servers::crash_without_replication(pace& pace) {
    const auto master = pick_master(pace);
    const auto replicas = replicas_of(master);
    for (const auto each : replicas)
        server(each).freeze();
    // Otherwise they would find the new data in their sockets.
    (void)ask(master, {"CLIENT", "KILL", "TYPE", "replica"});
    pace.pause(300ms, 800ms);
    server(master).kill9();
    for (const auto each : replicas)
        server(each).thaw();
    wait_for_replacement(master, pace);
    server(master).start(true);
    demote(master);
    recover(pace);
}

// When it continues, it executes what is in its sockets, and believes to be the master.
void replicated_servers::pause_master(pace& pace) {
    const auto master = pick_master(pace);
    server(master).freeze();
    wait_for_replacement(master, pace);
    pace.pause(0ms, 1s);
    server(master).thaw();
    end_reign(master, pace);
}

// The replicas' clocks are wrong when one of them is promoted: leases end early, or late.
void replicated_servers::promote_skewed_clock(pace& pace) {
    const auto master = pick_master(pace);
    for (const auto each : replicas_of(master))
        clocks_[each]->step(pace.pick(2) == 0 ? pace.between(1s, 8s) : -pace.between(1s, 4s));
    server(master).kill9();
    wait_for_replacement(master, pace);
    server(master).start(true);
    demote(master);
    recover(pace);
}

// The master is cut off from the other servers, alone or together with some of the clients, or
// hears them without being heard.
void replicated_servers::isolate_master(pace& pace) {
    const auto master = pick_master(pace);
    std::vector<std::size_t> inside{master};
    for (std::size_t i = 0; i < clients_; ++i)
        if (pace.pick(2) == 0) inside.push_back(servers_ + i);
    network_->isolate(inside, pace.pick(4) == 0);
    wait_for_replacement(master, pace);
    pace.pause(500ms, 4s);
    network_->heal();
    end_reign(master, pace);
}

}  // namespace proofs
