// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Derives guarantees and findings from the facts about a server. `pawl doctor` and the tables in
// docs/guide/guarantees.md both use them.
#pragma once

#include "../transport/server_comparison.hpp"

#include <pawl/examination.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::redis {

enum class persistence : std::uint8_t {
    none,  // no append-only file
    everysec,
    fsync_by_kernel,  // appendfsync no: the kernel decides when to write to the disk
    always,
    unknown_fsync,  // an append-only file whose fsync setting the user may not read
};

// `monitored`: the master that Sentinels name. `cluster`: a node whose cluster the client does not
// follow; `followed_cluster`: one whose cluster it follows.
enum class deployment : std::uint8_t {
    alone,
    replicated,
    monitored,
    replica,
    cluster,
    followed_cluster,
    unknown
};

// The transport between this host and the server.
enum class transport : std::uint8_t { unix_socket, loopback, plain, tls, tls_unchecked };

[[nodiscard]] guarantee_row guarantees_of(persistence server_persistence,
                                          deployment server_deployment);
// The same over independent servers.
[[nodiscard]] guarantee_row guarantees_of_redlock(std::size_t nodes, bool fenced,
                                                  bool has_sentinels = false);

[[nodiscard]] finding persistence_finding(persistence server_persistence);
// `policy` is empty if it cannot be read. `limited`: maxmemory is not 0.
[[nodiscard]] finding eviction_finding(const std::string& policy, bool limited);
[[nodiscard]] finding deployment_finding(deployment server_deployment, std::int64_t replicas);
// Sentinels monitor the server, and the URL does not name them.
[[nodiscard]] finding unused_sentinels_finding(std::int64_t sentinels);
// The server is a member of a set of Redlock, and the URL names it alone.
[[nodiscard]] finding redlock_node_finding();
// For a master with Sentinels. `least`: its min-replicas-to-write; empty if it cannot be read.
[[nodiscard]] finding least_replicas_finding(const std::string& least, std::int64_t replicas);
// For a node of a cluster that the client follows. The argument is the value of the setting with
// the topic's name; empty if it cannot be read.
[[nodiscard]] finding node_timeout_finding(const std::string& milliseconds);
[[nodiscard]] finding coverage_finding(const std::string& value);
// For a host that the URL gives by name. `run_id`: of the server in use; empty if it cannot be
// read. `servers`: those at the addresses of the name.
[[nodiscard]] finding address_finding(const std::string& host, const std::string& run_id,
                                      const std::vector<probed_server>& servers);
// For a node of a cluster, in Redisson's layout; the native layout refuses such a node. `nodes`:
// the number of nodes with slots; 0 if it cannot be read.
[[nodiscard]] finding cluster_finding(std::int64_t nodes);

// A server that takes no lock has no guarantees.
void deny_guarantees(guarantee_row& row, std::string backend);

// With scripts=no: `understood`: the server has SET with IFEQ.
[[nodiscard]] finding conditional_set_finding(bool understood);
// With scripts=no, for a server with a memory limit.
[[nodiscard]] finding memory_limit_finding();
// For a server, or a user, without scripts. `is_native`: of the native layout.
[[nodiscard]] finding refused_scripts_finding(bool is_native);

[[nodiscard]] finding transport_finding(transport used_transport);
// `has_own_user`: the user is not `default`. The finding does not show the name, since some users
// write a password in its place.
[[nodiscard]] finding user_finding(bool has_own_user, bool with_password);
// `is_open`: the server serves clients without a password. Only if Pawl has one.
[[nodiscard]] finding default_user_finding(bool is_open);
[[nodiscard]] finding sentinel_password_finding(bool is_open);

}  // namespace pawl::redis
