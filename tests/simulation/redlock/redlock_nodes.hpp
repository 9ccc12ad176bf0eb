// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of a scenario: independent servers, each with a network and a clock of its own. After
// each command they are compared with what they had before: a lock disappears only by a request of
// its owner, by force, or with its lease.
#pragma once

#include "../kernel/trace.hpp"
#include "../server/simulated_network.hpp"
#include "redlock_checker.hpp"
#include "redlock_plan.hpp"
#include "redlock_service.hpp"

#include <pawl/redlock.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

class redlock_nodes final : private simulated_network::observer {
public:
    redlock_nodes(scheduler& loop, const redlock_plan& scenario_plan, prng random, trace& log,
                  redlock_checker& holds);

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] simulated_network& network(std::size_t index) noexcept {
        return *nodes_[index].network;
    }
    [[nodiscard]] node_networks networks();
    [[nodiscard]] const redlock::options& options() const noexcept { return options_; }
    [[nodiscard]] static const std::vector<std::string>& names();

    // The node's value of the lock; nothing if it is free there.
    [[nodiscard]] std::optional<std::string> value_at(std::size_t index, const std::string& name);
    // The nodes that have the lock of this program.
    [[nodiscard]] std::size_t count_nodes_with(const std::string& name, const std::string& label);
    // The node runs, and remembers that it is a member.
    [[nodiscard]] bool is_member(std::size_t index);
    [[nodiscard]] std::size_t count_members();
    [[nodiscard]] bool is_up_and_quick() const;
    // A line or a lock that is left at any node, for a message; empty: none.
    [[nodiscard]] std::string leftovers();

    // Faults.
    void note_backup();
    void forget_some();
    // A majority forgets, each node after the one before has joined again; then the others are
    // frozen, so that a quorum has only nodes that have forgotten.
    void forget_in_turn();
    void freeze_some();
    void evict_a_key();
    void jump_a_clock();
    void cut_off(simulated_process& process);
    void reconnect(simulated_process& process);
    void stop_faults();
    // By how much the clocks were set back, all together.
    [[nodiscard]] instant longest_clock_delay() const noexcept { return backward_; }

private:
    // The hold of a writer, or of one of the readers.
    struct watched_hold {
        std::string value;
        std::int64_t expires_ms = 0;  // by the node's clock
        instant lasts_until{};        // at least, if the clock were right
    };
    struct node {
        std::unique_ptr<simulated_network> network;
        simulated_redis::snapshot backup{};
        // By the lock's name, then by the value without its counter.
        std::map<std::string, std::map<std::string, watched_hold, std::less<>>> holds{};
        bool was_quarantined = false;
        instant must_not_vote_until{};
    };
    void on_executed(simulated_network& server, simulated_process& process, const words& command,
                     const redis::reply& reply) override;
    void on_data_changed(simulated_network& server) override;
    [[nodiscard]] node& node_of(const simulated_network& server);
    void compare(node& changed, const words* command);
    void compare_lock(node& changed, const std::string& name, const words* command);
    void watch(node& changed, const std::string& name, const std::string& value,
               std::int64_t expires_ms, const words* command);
    // Only `value` and `expires_ms` are set.
    [[nodiscard]] std::vector<watched_hold> holds_at(node& asked, const std::string& name);
    void judge_end(node& changed, const std::string& name, const watched_hold& ended,
                   const words* command);
    [[nodiscard]] bool remembers(node& asked);
    void forget(std::size_t index);
    void restart(std::size_t index, simulated_redis::snapshot with, instant after);
    [[nodiscard]] instant random_time(instant low, instant high) {
        return instant(random_.between(low.count(), high.count()));
    }

    scheduler& loop_;
    const redlock_plan& plan_;
    prng random_;
    trace& trace_;
    redlock_checker& holds_;
    redlock::options options_;
    std::string member_key_, quarantine_key_;
    std::vector<node> nodes_;
    instant backward_{};
};

}  // namespace pawl::simulation
