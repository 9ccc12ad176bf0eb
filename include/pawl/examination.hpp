// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reports about a service: `client::examine` and `pawl doctor`. Standard headers only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pawl {

// One finding of `examine` and of `pawl doctor`.
struct finding {
    // good: nothing to do. note: worth knowing. warning: a risk. bad: to be repaired.
    enum class grade : std::uint8_t { good, note, warning, bad };
    grade level = grade::good;
    std::string topic;   // for example "eviction policy"
    std::string fact;    // for example "volatile-lru"
    std::string advice;  // what to change; empty if nothing
    std::string node{};  // examined_node::name; empty: the finding is about the whole service
};

// A server of the service.
struct examined_node {
    std::string name;  // its address, such as "db1:6379"
    std::string role;  // such as "primary" or "replica"; empty: unknown
};

// One row of the table in docs/guide/guarantees.md: what each event does to locks and tokens.
struct guarantee_row {
    // The cells, named as the columns.
    std::string backend, holder_crash, holder_pause, server_crash, failover, partition, clock_jump,
        token;
};

// The result of `examine`.
struct examination {
    std::vector<finding> findings;     // one for each examined topic, and node
    std::vector<examined_node> nodes;  // empty: the service has no servers of its own
    guarantee_row guarantees;          // what holds with this configuration
};

}  // namespace pawl
