// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "replicated_servers.hpp"

#include <chrono>

namespace real {

using namespace std::chrono_literals;

replicated_servers::replicated_servers(std::size_t servers, const environment_options& options,
                                       std::size_t other_servers)
    : servers_(servers), machines_(servers + other_servers, options.clients), options_(options) {}

const std::vector<fault_definition<replicated_servers>>& replicated_servers::definitions() {
    using self = replicated_servers;
    static const std::vector<fault_definition<self>> all{
        {"planned", &self::plan_failover},
        {"crash", &self::crash_master},
        {"lost-writes", &self::crash_without_replication},
        {"pause", &self::pause_master},
        {"skew", &self::promote_skewed_clock},
        {"partition", &self::isolate_master, true}};
    return all;
}

std::vector<std::string> replicated_servers::fault_names() { return names_of(definitions()); }

std::vector<fault> replicated_servers::faults() {
    return faults_of(*this, definitions(), machines_.obstacle());
}

server_state read_info(const std::string& info) {
    const auto field = [&](const std::string& name) {
        const auto begin = info.find("\n" + name + ":");
        if (begin == std::string::npos) return std::string();
        const auto value = begin + name.size() + 2;
        return info.substr(value, info.find('\r', value) - value);
    };
    return {.run_id = field("run_id"),
            .replication_id = field("master_replid"),
            .is_master = field("role") == "master"};
}

void replicated_servers::wait_for_replacement(std::size_t master, pace& pace) {
    bool must_return = false;
    pace.until([&] { return is_replaced(master) || (must_return = is_indispensable(master)); },
               "no replica is promoted");
    // A master that forgets keys before they expire, with nobody in its place, is another fault.
    if (must_return) pace.pause(options_.longest_ttl, options_.longest_ttl);
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
            machines_.clock(i).step(-machines_.clock(i).wall_offset());
}

void replicated_servers::replace_by_crash(std::size_t master, pace& pace,
                                          const std::function<void()>& after_kill) {
    server(master).kill9();
    after_kill();
    wait_for_replacement(master, pace);
    server(master).start(true);
    demote(master);
    recover(pace);
}

void replicated_servers::retire(std::size_t replaced, pace& pace) {
    pace.pause(300ms, 3s);
    demote(replaced);
    recover(pace);
}

void replicated_servers::plan_failover(pace& pace) {
    const auto master = pick_master(pace);
    begin_failover(master);
    wait_for_replacement(master, pace);
    retire(master, pace);
}

void replicated_servers::crash_master(pace& pace) { replace_by_crash(pick_master(pace), pace); }

// The replicas stop, so the last writes are the master's alone when it dies.
void replicated_servers::crash_without_replication(pace& pace) {
    const auto master = pick_master(pace);
    const auto replicas = replicas_of(master);
    for (const auto each : replicas)
        server(each).freeze();
    // Otherwise they would find the new data in their sockets.
    (void)ask(master, {"CLIENT", "KILL", "TYPE", "replica"});
    pace.pause(300ms, 800ms);
    replace_by_crash(master, pace, [&] {
        for (const auto each : replicas)
            server(each).thaw();
    });
}

// When it continues, it executes what is in its sockets, and believes to be the master.
void replicated_servers::pause_master(pace& pace) {
    const auto master = pick_master(pace);
    server(master).freeze();
    wait_for_replacement(master, pace);
    pace.pause(0ms, 1s);
    server(master).thaw();
    retire(master, pace);
}

// The replicas' clocks are wrong when one of them is promoted: keys expire early, or late.
void replicated_servers::promote_skewed_clock(pace& pace) {
    const auto master = pick_master(pace);
    for (const auto each : replicas_of(master))
        machines_.clock(each).step(pace.pick(2) == 0 ? pace.between(1s, 8s)
                                                     : -pace.between(1s, 4s));
    replace_by_crash(master, pace);
}

// The master is cut off from the other servers, alone or together with some of the clients, or
// hears them without being heard.
void replicated_servers::isolate_master(pace& pace) {
    const auto master = pick_master(pace);
    std::vector<std::size_t> clients;
    for (std::size_t i = 0; i < options_.clients; ++i)
        if (pace.pick(2) == 0) clients.push_back(i);
    machines_.isolate({master}, clients, pace.pick(4) == 0);
    wait_for_replacement(master, pace);
    pace.pause(500ms, 4s);
    machines_.heal();
    retire(master, pace);
}

}  // namespace real
