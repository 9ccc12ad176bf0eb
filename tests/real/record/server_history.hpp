// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the servers of a run were and when, as they said it themselves: the evidence for all that
// the checker excuses.
#pragma once

#include "journal.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace real {

// When something changed between two looks.
struct change_time {
    instant earliest = 0;  // the request of the last look before the change
    instant latest = 0;    // the reply to the first look after it
};
constexpr instant not_yet = std::numeric_limits<instant>::max();

// What a server says of itself.
struct server_state {
    std::string run_id;               // a restart changes it
    std::string replication_id;       // a promotion changes it
    bool is_master = false;           // or a server without replicas
    bool is_serving = false;          // a master that executes writes
    std::uint64_t epoch = 0;          // of a master; 0 if the environment has no epochs
    std::set<std::size_t> keys = {};  // those that it has as a master

    [[nodiscard]] bool operator==(const server_state&) const = default;
};

// As long as the server's state did not change. Between two periods the server was away.
struct server_period {
    std::string server;  // its address
    server_state state;
    change_time from;
    change_time until{.earliest = not_yet, .latest = not_yet};
};

// Why a server forgets holds that last, and does not notice.
enum class loss_cause { clock_set_forward, older_data };

struct memory_loss {
    std::string server;
    change_time at;
    loss_cause cause = loss_cause::clock_set_forward;
};

// A replica became the master of some keys.
struct failover {
    std::string to;    // the server that was promoted
    std::string from;  // the master with the largest earlier epoch; empty: none was seen
    std::uint64_t epoch = 0;
    std::uint64_t epoch_before = 0;
    change_time promoted;
    // When `from` ceased to serve with the old epoch, at last.
    change_time retired;
    std::set<std::size_t> keys;
};

// In the order of the promotions.
[[nodiscard]] std::vector<failover> failovers_in(const std::vector<server_period>& history);

// Whether a server served the key with this epoch at `when` or later.
[[nodiscard]] bool is_served(const std::vector<server_period>& history, std::size_t key,
                             std::uint64_t epoch, instant when);

}  // namespace real
