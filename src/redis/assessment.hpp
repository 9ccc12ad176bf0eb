// What the facts about a server say of the locks on it. `pawl doctor` and the tables in
// docs/guarantees.md both come from here.
#pragma once

#include "server_comparison.hpp"

#include <pawl/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::redis {

enum class persistence : std::uint8_t {
    none,
    everysec,
    no,  // the kernel decides when
    always,
    unknown_fsync,  // an append-only file, and the user may not read the setting
};

enum class topology : std::uint8_t { alone, replicated, replica, cluster, unknown };

// What lies between this host and the server.
enum class transport : std::uint8_t { unix_socket, loopback, plain, tls, tls_unchecked };

[[nodiscard]] guarantee_row guarantees_of(persistence writes, topology stands);

[[nodiscard]] finding persistence_finding(persistence writes);
// `policy` is empty where it cannot be read; `limited`: maxmemory is not 0.
[[nodiscard]] finding eviction_finding(const std::string& policy, bool limited);
[[nodiscard]] finding topology_finding(topology stands, std::int64_t replicas);
// Of a host that the URL names.
[[nodiscard]] finding address_finding(const std::string& host, const std::string& run_id,
                                      const std::vector<met_server>& servers);
// Of a node of a cluster. `nodes`: those with slots, 0 where that cannot be read.
[[nodiscard]] finding cluster_finding(std::int64_t nodes, bool redisson);

[[nodiscard]] finding transport_finding(transport how);
// `own`: not the server's user `default`. Its name is not told: some write a password in its place.
[[nodiscard]] finding user_finding(bool own, bool with_password);

}  // namespace pawl::redis
