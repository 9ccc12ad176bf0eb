// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Where the servers and the client processes of an environment run.
#pragma once

#include "network.hpp"
#include "pace.hpp"

#include <real/record/server_history.hpp>

#include <support/moved_clock.hpp>
#include <support/redis_server.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace real {

// Each server and each client process has a network namespace of its own where that is possible,
// and each server has a clock of its own. Must outlive the processes.
class test_machines {
public:
    test_machines(std::size_t servers, std::size_t clients);

    // Server i runs on machine i, with clock i.
    [[nodiscard]] std::vector<support::machine> of_servers() const;
    [[nodiscard]] support::machine of_client(std::size_t index) const;
    [[nodiscard]] support::moved_clock& clock(std::size_t server) { return *clocks_.at(server); }

    // Why there are no namespaces, and so no partitions, as a sentence; empty: there are.
    [[nodiscard]] const std::string& obstacle() const noexcept { return no_network_; }
    // Cuts these servers and clients off from all others, until `heal`. `outward_only`: they still
    // hear the others. Only without an obstacle.
    void isolate(const std::vector<std::size_t>& servers, const std::vector<std::size_t>& clients,
                 bool outward_only);
    // The same for up to 4 s, with half of the clients on their side; one time in four outward
    // only.
    void isolate_for_a_time(pace& pace, const std::vector<std::size_t>& servers);
    // These clients do not reach these servers, until `heal`. Only without an obstacle.
    void separate(const std::vector<std::size_t>& servers, const std::vector<std::size_t>& clients);
    void heal();
    // `from` are clients. Only without an obstacle.
    void set_detours(std::vector<network::detour> detours);

private:
    const std::size_t servers_;
    const std::size_t clients_;
    std::string no_network_;
    std::unique_ptr<network> network_;  // the servers, then the clients
    std::vector<std::unique_ptr<support::moved_clock>> clocks_;
};

// Puts the clock ahead of the right time. A step forward ends leases early, so it is added to
// `losses`.
void set_clock(support::moved_clock& clock, std::chrono::microseconds ahead,
               const std::string& server, std::vector<memory_loss>& losses);

// The server's name in the history: "HOST:PORT".
[[nodiscard]] std::string name_of(const support::redis_server& server);
// The last lines of the server's log, below its name.
[[nodiscard]] std::string end_of_log(const std::string& server, const std::string& log);
[[nodiscard]] std::string end_of_log(const support::redis_server& server);

}  // namespace real
