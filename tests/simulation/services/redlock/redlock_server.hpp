// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One server of a node, with a network and a clock of its own. After each command it is compared
// with what it had before: a lock disappears only by a request of its owner, by force, or with its
// lease.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../server/simulated_network.hpp"
#include "redlock_checker.hpp"
#include "redlock_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

// What the nodes, a node and a server have in common, with random choices of their own.
struct redlock_part {
    [[nodiscard]] redlock_part fork() { return {loop_, plan_, random_.fork(), trace_, holds_}; }

    scheduler& loop_;
    const redlock_plan& plan_;
    prng random_;
    trace& trace_;
    redlock_checker& holds_;
};

class redlock_server final : redlock_part, private simulated_network::observer {
public:
    // With Sentinels, `epoch` is the number of the promotion that made it the master; otherwise 0.
    redlock_server(const redlock_part& part, const network_faults& network,
                   const std::string& label, std::uint64_t epoch);

    // Of the locks.
    [[nodiscard]] static const std::vector<std::string>& names();

    [[nodiscard]] simulated_network& network() noexcept { return network_; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    // The value of the lock; nothing if it is free.
    [[nodiscard]] std::optional<std::string> value_of(const std::string& name);
    [[nodiscard]] bool has_lock_of(const std::string& name, const std::string& label);
    // The server runs, and remembers that it is a member.
    [[nodiscard]] bool is_member();
    // A field of its membership; empty: none.
    [[nodiscard]] std::string membership(std::string_view field);
    // A line or a lock that is left, for a message; empty: none.
    [[nodiscard]] std::string leftover();
    // Notes what has expired until now.
    void compare() { compare(nullptr); }

    // Faults.
    void note_backup() { backup_ = network_.server().take_snapshot(); }
    [[nodiscard]] const simulated_redis::snapshot& backup() const noexcept { return backup_; }
    void forget(instant down);
    void restart(simulated_redis::snapshot with, instant down);
    void evict_a_key();
    // The data of the backup come back under the running server: all of them, or some of the keys.
    void roll_back();

private:
    // The hold of a writer, or of one of the readers.
    struct watched_hold {
        std::string value;
        std::int64_t expires_ms = 0;  // by the server's clock
        instant lasts_until{};        // at least, if the clock were right
    };
    void on_executed(simulated_network& server, simulated_process& process, const words& command,
                     const redis::reply& reply) override;
    void on_sent(simulated_process&, const words& command) override {
        if (command.front().starts_with("EVAL")) sent_at_[&command] = loop_.now();
    }
    void on_data_changed(simulated_network& server) override;
    void compare(const words* command);
    void compare_lock(const std::string& name, const words* command);
    void watch(const std::string& name, const std::string& value, std::int64_t expires_ms,
               const words* command);
    // Only `value` and `expires_ms` are set.
    [[nodiscard]] std::vector<watched_hold> holds_of(const std::string& name);
    void judge_end(const std::string& name, const watched_hold& ended, const words* command);
    void judge_renewal(const std::string& name, const words& command);
    [[nodiscard]] bool remembers();
    [[nodiscard]] std::string run();

    const std::string label_;
    const std::uint64_t epoch_;
    simulated_network network_;
    simulated_redis::snapshot backup_{};
    // By the lock's name, then by the value without its counter.
    std::map<std::string, std::map<std::string, watched_hold, std::less<>>> known_{};
    std::map<const words*, instant> sent_at_;  // of the requests that were not executed yet
    bool was_quarantined_ = false;
    instant must_not_vote_until_{};
};

}  // namespace pawl::simulation
