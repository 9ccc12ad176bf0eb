// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A master, two replicas, three Sentinels.
#pragma once

#include "replicated_servers.hpp"
#include "state_watch.hpp"

#include <support/sentinel_group.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace real {

// What a Sentinel says of the master.
struct sentinel_view {
    std::uint64_t epoch = 0;
    std::uint16_t port = 0;

    [[nodiscard]] bool operator==(const sentinel_view&) const = default;
};

class sentinel_environment : public replicated_servers {
public:
    static constexpr std::size_t server_count = 3;

    explicit sentinel_environment(const environment_options& options,
                                  std::size_t other_servers = 0);

    [[nodiscard]] client_access access(safeguards wanted) override;
    // A server knows that it is the master, and the Sentinels know with which epoch.
    [[nodiscard]] std::vector<server_period> history() override;
    [[nodiscard]] std::vector<pid_t> server_processes() override;
    [[nodiscard]] std::string logs() override;

protected:
    [[nodiscard]] support::redis_server& master() { return server(master_index()); }
    // NAME=SENTINEL+SENTINEL+…, as a node of Redlock.
    [[nodiscard]] std::string node_name();

private:
    void add_mastership(server_period& period, std::uint16_t port);
    [[nodiscard]] std::uint16_t named_port();
    [[nodiscard]] std::size_t master_index();
    [[nodiscard]] bool has_two_usable_replicas();

    [[nodiscard]] support::redis_server& server(std::size_t index) override {
        return group_.server(index);
    }
    [[nodiscard]] std::size_t pick_master(pace&) override { return master_index(); }
    [[nodiscard]] std::vector<std::size_t> replicas_of(std::size_t master) override;
    void begin_failover(std::size_t) override { group_.begin_failover(); }
    [[nodiscard]] bool is_replaced(std::size_t master) override;
    // Sentinels try again with another election.
    [[nodiscard]] bool is_indispensable(std::size_t) override { return false; }
    void demote(std::size_t replaced) override;
    [[nodiscard]] bool is_whole() override;

    const std::size_t key_count_;
    support::sentinel_group group_;
    state_watch<server_state> server_watch_;
    state_watch<sentinel_view> view_watch_;
};

}  // namespace real
