// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of a scenario, and their faults.
#pragma once

#include "../../kernel/trace.hpp"
#include "redlock_checker.hpp"
#include "redlock_node.hpp"
#include "redlock_plan.hpp"
#include "redlock_service.hpp"

#include <pawl/redlock.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pawl::simulation {

class redlock_nodes : redlock_part {
public:
    explicit redlock_nodes(const redlock_part& part);

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] node_choices choices() const;
    // The same for a client that knows nothing of Sentinels.
    [[nodiscard]] node_choices choices_without_epochs() const;
    [[nodiscard]] const redlock::options& options() const noexcept { return options_; }

    [[nodiscard]] bool is_locked_anywhere(const std::string& name) const;
    // The nodes that have the lock of this program at any of their servers.
    [[nodiscard]] std::size_t count_nodes_with(const std::string& name,
                                               const std::string& label) const;
    // The newest server of the node runs, remembers that it is a member, and has not been replaced
    // in the memory of the others.
    [[nodiscard]] bool is_member(std::size_t index) const;
    [[nodiscard]] std::size_t count_members() const;
    // A line or a lock that is left at any node, for a message; empty: none.
    [[nodiscard]] std::string leftovers() const;

    // Faults.
    void note_backup();
    void forget_some();
    // A majority forgets, each node after the one before has joined again; then the others are
    // frozen, so that a quorum has only nodes that have forgotten.
    void forget_in_turn();
    void freeze_some();
    void evict_a_key();
    void jump_a_clock();
    void replace_a_server(std::span<simulated_process* const> programs);
    void change_routes();
    // The data of a moment ago come back under a running server.
    void roll_back_later();
    void cut_off(simulated_process& process);
    void cut_off_from_minority(simulated_process& process);
    void reconnect(simulated_process& process);
    void ban(simulated_process& process);
    void stop_faults();
    // By how much the clocks were set back, all together.
    [[nodiscard]] instant longest_clock_delay() const noexcept { return backward_; }

private:
    template <class Change>
    void change_networks(Change change);
    [[nodiscard]] simulated_network& network(std::size_t index) const {
        return nodes_[index]->newest().network();
    }
    [[nodiscard]] bool may_lose(std::size_t index) const;

    redlock::options options_;
    std::vector<std::unique_ptr<redlock_node>> nodes_;
    instant backward_{};
};

}  // namespace pawl::simulation
