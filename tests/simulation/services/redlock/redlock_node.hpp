// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A node: the servers to which its name leads. Usually that is one. When a server is replaced while
// it runs, by Sentinels or behind a name, the program decides which of them a connection reaches.
#pragma once

#include "../../server/simulated_link.hpp"
#include "redlock_server.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pawl::simulation {

class redlock_node : redlock_part {
public:
    redlock_node(const redlock_part& part, std::size_t index);

    // The server that has the name in the end.
    [[nodiscard]] redlock_server& newest() noexcept { return *servers_.back(); }
    [[nodiscard]] const std::vector<std::unique_ptr<redlock_server>>& servers() const noexcept {
        return servers_;
    }
    [[nodiscard]] chosen_server server_of(const simulated_process& process) const;
    // The newest one, or an earlier one that still runs.
    [[nodiscard]] redlock_server& any_running();

    // A new server gets the name, and the present one goes on. Each of the programs reaches the new
    // one at once, later, or never.
    void replace(std::span<simulated_process* const> programs);
    [[nodiscard]] bool may_be_replaced() const noexcept { return servers_.size() < most_servers; }
    // Some programs reach another server of the name from their next connection on.
    void change_routes();
    // The name leads to the newest server only.
    void settle();
    void jump_clock(std::int64_t us);

private:
    static constexpr std::size_t most_servers = 3;
    [[nodiscard]] std::unique_ptr<redlock_server> make_server();
    void lead(simulated_process& process, std::size_t server);
    void stop_later(std::size_t server);

    const std::size_t index_;
    const std::string label_;
    std::int64_t clock_offset_us_ = 0;
    std::vector<std::unique_ptr<redlock_server>> servers_;    // the newest last
    std::map<const simulated_process*, std::size_t> routes_;  // of the others: the newest
    std::vector<simulated_process*> programs_;
};

}  // namespace pawl::simulation
