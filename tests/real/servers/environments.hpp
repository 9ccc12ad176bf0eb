// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers and stores that a proof or a soak can run on.
#pragma once

#include "environment.hpp"

#include <real/record/checker.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace real {

// A run without one of Pawl's safeguards, which must show damage.
struct naive_variant {
    const char* heading;  // of its column
    std::size_t (*damage)(const verdict& outcome);
};
// Tokens from a plain INCR.
extern const naive_variant naive_tokens;
// Locks in a database that does not flush each commit, without a pause after a failover.
extern const naive_variant lazy_commits;

struct environment_entry {
    std::string name;  // for --on
    std::string description;
    std::vector<std::string> faults;        // their names
    std::chrono::milliseconds longest_ttl;  // of the leases
    bool have_epochs;                       // Pawl's tokens have: see epoch_of
    std::unique_ptr<environment> (*start)(const environment_options& options);
    // All locks are in the memory of one process, so there is one client process, which is never
    // killed.
    bool is_one_process = false;
    const naive_variant* naive = &naive_tokens;
    // Why it cannot be started here, as the end of a sentence; empty: it can. Null: it always can.
    std::string (*obstacle)() = nullptr;
};

[[nodiscard]] inline std::string obstacle_of(const environment_entry& entry) {
    return entry.obstacle == nullptr ? std::string() : entry.obstacle();
}

// Those of the proof: they also show the damage without fencing.
[[nodiscard]] const std::vector<environment_entry>& environments();
// All, in the order of a soak.
[[nodiscard]] const std::vector<environment_entry>& soak_environments();

// A master, two replicas, three Sentinels.
[[nodiscard]] std::unique_ptr<environment> start_sentinel(const environment_options& options);
// Five independent servers.
[[nodiscard]] std::vector<std::string> redlock_faults();
[[nodiscard]] std::unique_ptr<environment> start_redlock(const environment_options& options);
// Four of them, and a master with two replicas and three Sentinels.
[[nodiscard]] std::unique_ptr<environment> start_redlock_sentinel(
    const environment_options& options);
// Three masters with a replica each.
[[nodiscard]] std::unique_ptr<environment> start_cluster(const environment_options& options);
// One server that keeps its data: Redis, Valkey, and Redis with Redisson's layout.
[[nodiscard]] std::vector<std::string> single_server_faults();
[[nodiscard]] std::unique_ptr<environment> start_redis(const environment_options& options);
[[nodiscard]] std::unique_ptr<environment> start_valkey(const environment_options& options);
[[nodiscard]] std::string obstacle_of_valkey();
[[nodiscard]] std::unique_ptr<environment> start_redisson(const environment_options& options);
// A server with a standby, and a single server. Without the backend they are not in the lists.
[[nodiscard]] std::vector<std::string> postgres_faults();
[[nodiscard]] std::unique_ptr<environment> start_postgres(const environment_options& options);
[[nodiscard]] std::string obstacle_of_postgres();
[[nodiscard]] std::vector<std::string> mariadb_faults();
[[nodiscard]] std::unique_ptr<environment> start_mariadb(const environment_options& options);
[[nodiscard]] std::string obstacle_of_mariadb();
// Three members of etcd. Without the backend they are not in the lists.
[[nodiscard]] std::vector<std::string> etcd_faults();
[[nodiscard]] std::unique_ptr<environment> start_etcd(const environment_options& options);
[[nodiscard]] std::string obstacle_of_etcd();
// A file. Without the SQLite backend it is not in the lists.
[[nodiscard]] std::vector<std::string> sqlite_faults();
[[nodiscard]] std::unique_ptr<environment> start_sqlite(const environment_options& options);
// The memory of the client process.
[[nodiscard]] std::unique_ptr<environment> start_memory(const environment_options& options);

}  // namespace real
