// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The faults of masters with replicas, the same for Sentinels and clusters.
#pragma once

#include "fault.hpp"
#include "network.hpp"

#include <support/moved_clock.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace proofs {

// Server i runs on machine i of the network, if there is one, with clock i. The client processes
// run on the machines behind those of the servers.
class replicated_servers : public environment {
public:
    replicated_servers(std::size_t servers, std::size_t clients);

    [[nodiscard]] std::uint64_t epoch_of(std::uint64_t token) const final { return token >> 47U; }
    // At least those of failovers.
    [[nodiscard]] std::vector<fault> faults() override;
    [[nodiscard]] support::machine client_machine(std::size_t index) const final;

protected:
    // Server i's; empty if all run here.
    [[nodiscard]] std::vector<support::machine> machines() const;
    // Over a connection of its own: Sentinels end those of a server that they reconfigure.
    [[nodiscard]] support::resp_value ask(std::size_t index, const support::command_words& words);
    // Fails if the servers are not as at the start within two minutes.
    void recover(pace& pace);

    [[nodiscard]] virtual support::redis_server& server(std::size_t index) = 0;
    [[nodiscard]] virtual std::size_t pick_master(pace& pace) = 0;
    [[nodiscard]] virtual std::vector<std::size_t> replicas_of(std::size_t master) = 0;
    // Of a replica of this master, while all servers run.
    virtual void begin_failover(std::size_t master) = 0;
    // In the view of a majority.
    [[nodiscard]] virtual bool is_replaced(std::size_t master) = 0;
    // Makes a replaced master a replica, where nothing else does so soon.
    virtual void demote(std::size_t replaced) = 0;
    // All servers run, agree, and replicate.
    [[nodiscard]] virtual bool is_whole() = 0;

private:
    void wait_for_replacement(std::size_t master, pace& pace);
    // The replaced master is back, or not dead at all; it goes on for a while.
    void end_reign(std::size_t replaced, pace& pace);

    void plan_failover(pace& pace);
    void crash_master(pace& pace);
    void crash_without_replication(pace& pace);
    void pause_master(pace& pace);
    void promote_skewed_clock(pace& pace);
    void isolate_master(pace& pace);

    const std::size_t servers_;
    std::string no_network_;
    std::unique_ptr<network> network_;
    const std::size_t clients_;
    std::vector<std::unique_ptr<support::moved_clock>> clocks_;
};

}  // namespace proofs
