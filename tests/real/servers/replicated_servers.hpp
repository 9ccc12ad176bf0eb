// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Masters with replicas, and the faults that Sentinels and clusters have in common.
#pragma once

#include "environment.hpp"
#include "test_machines.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace real {

// In a cluster only.
inline constexpr const char* slot_fault = "slot";

// Of the reply to INFO server replication: all but the epoch and the keys.
[[nodiscard]] server_state read_info(const std::string& info);

class replicated_servers : public environment {
public:
    // The machines of other servers follow those of the replicated ones.
    replicated_servers(std::size_t servers, const environment_options& options,
                       std::size_t other_servers = 0);

    // Of the faults that all replicated servers have.
    [[nodiscard]] static std::vector<std::string> fault_names();
    [[nodiscard]] std::vector<fault> faults() override;
    [[nodiscard]] support::machine client_machine(std::size_t index) const final {
        return machines_.of_client(index);
    }

protected:
    // Of the servers.
    [[nodiscard]] std::vector<support::machine> machines() const { return machines_.of_servers(); }
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
    // Whether no replica can be promoted until this master is back.
    [[nodiscard]] virtual bool is_indispensable(std::size_t master) = 0;
    // Makes a replaced master a replica, where nothing else does so soon.
    virtual void demote(std::size_t replaced) = 0;
    // All servers run, agree, and replicate.
    [[nodiscard]] virtual bool is_whole() = 0;

private:
    // Returns also if the master is indispensable, when its keys have expired.
    void wait_for_replacement(std::size_t master, pace& pace);
    // Kills the master, and starts it again, empty, when a replica has its place.
    void replace_by_crash(
        std::size_t master, pace& pace, const std::function<void()>& after_kill = [] {});
    // The replaced master runs and may go on as a master for a while.
    void retire(std::size_t replaced, pace& pace);

    static const std::vector<fault_definition<replicated_servers>>& definitions();
    void plan_failover(pace& pace);
    void crash_master(pace& pace);
    void crash_without_replication(pace& pace);
    void pause_master(pace& pace);
    void promote_skewed_clock(pace& pace);
    void isolate_master(pace& pace);

    const std::size_t servers_;
    test_machines machines_;
    const environment_options options_;
};

}  // namespace real
