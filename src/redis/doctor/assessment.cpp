// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "assessment.hpp"

#include "../transport/numbers.hpp"

#include <pawl/options.hpp>

#include <algorithm>

namespace pawl::redis {

using grade = finding::grade;

namespace {

std::string backend_of(persistence server_persistence) {
    switch (server_persistence) {
    case persistence::none: return "Redis, no persistence";
    case persistence::everysec: return "Redis, AOF everysec";
    case persistence::fsync_by_kernel: return "Redis, AOF without fsync";
    case persistence::always: return "Redis, AOF always";
    case persistence::unknown_fsync: break;
    }
    return "Redis, AOF, fsync unknown";
}

std::string server_crash_of(persistence server_persistence) {
    switch (server_persistence) {
    case persistence::none: return "can break: the lock is forgotten";
    case persistence::fsync_by_kernel:
        return "can break on power loss: tens of seconds are forgotten";
    case persistence::always: return "holds";
    case persistence::everysec:
    case persistence::unknown_fsync: break;
    }
    return "can break on power loss";
}

std::string failover_of(deployment server_deployment) {
    switch (server_deployment) {
    case deployment::alone: return "does not apply";
    case deployment::replicated:
    case deployment::followed_cluster:
    case deployment::monitored: return "can break: a replica may not know the lock";
    case deployment::replica: return "can break: this server is the replica";
    case deployment::cluster: return "can break: a slot and its locks move to another node";
    case deployment::unknown: break;
    }
    return "not known: the user may not read INFO";
}

finding no_replica_finding() {
    return {grade::warning, "replicas", "none",
            "nothing replaces this node if it fails; give it a replica, and see that it is "
            "connected"};
}

}  // namespace

guarantee_row guarantees_of(persistence server_persistence, deployment server_deployment) {
    guarantee_row row;
    row.backend = backend_of(server_persistence);
    if (server_deployment == deployment::monitored) row.backend += ", with Sentinels";
    if (server_deployment == deployment::followed_cluster) row.backend += ", in a cluster";
    const bool has_epochs = server_deployment == deployment::monitored ||
                            server_deployment == deployment::followed_cluster;
    row.holder_crash = "holds, after the ttl";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = server_crash_of(server_persistence);
    row.failover = failover_of(server_deployment);
    row.partition = has_epochs ? "can break: both sides may grant the lock"
                               : "holds for holders that stop when told";
    row.clock_jump = "can break";
    // A promoted replica may have lost the counter. The epoch makes up for it.
    const bool keeps_counter = server_persistence == persistence::always &&
                               (server_deployment == deployment::alone || has_epochs);
    row.token =
        keeps_counter ? "never goes back" : "never goes back while the server's clock is right";
    return row;
}

guarantee_row guarantees_of_redlock(std::size_t nodes, bool fenced, bool has_sentinels) {
    return {.backend = std::string("Redlock, ") + (fenced ? "fenced" : "classic") + ", over " +
                       std::to_string(nodes) + " servers",
            .holder_crash = "holds, after the ttl",
            .holder_pause = "holds for holders that stop when told",
            .server_crash = fenced ? "holds for holders that stop when told"
                                   : "can break, a node that restarts without its data votes twice",
            .failover = has_sentinels ? "as a crash of that node" : "does not apply",
            .partition = "holds for holders that stop when told",
            .clock_jump = "can break, by one clock while only a majority has the lock",
            .token = fenced ? "never goes back" : "none"};
}

finding persistence_finding(persistence server_persistence) {
    switch (server_persistence) {
    case persistence::none:
        return {grade::warning, "persistence", "no append-only file",
                "after a crash, the server has forgotten all locks; set appendonly yes, or let the "
                "resource check the token"};
    case persistence::everysec:
        return {grade::note, "persistence", "append-only file, fsync everysec",
                "a power loss may forget the last second; with appendfsync always it forgets "
                "nothing"};
    case persistence::fsync_by_kernel:
        return {grade::warning, "persistence", "append-only file, fsync no",
                "a power loss may forget the last tens of seconds, as the kernel decides; "
                "appendfsync everysec forgets one second at most; with appendfsync always nothing "
                "is forgotten"};
    case persistence::always:
        return {grade::good, "persistence", "append-only file, fsync always", ""};
    case persistence::unknown_fsync: break;
    }
    return {grade::note, "persistence", "append-only file, fsync not readable",
            "allow the user CONFIG GET, so that doctor can see how much a power loss may forget"};
}

finding eviction_finding(const std::string& policy, bool limited) {
    if (policy.empty())
        return {grade::note, "eviction policy", "not readable", "allow the user INFO"};
    if (policy == "noeviction") return {grade::good, "eviction policy", policy, ""};
    if (limited)
        return {grade::bad, "eviction policy", policy,
                "the server may evict a lock that is held; set maxmemory-policy noeviction"};
    return {grade::warning, "eviction policy", policy + ", maxmemory 0",
            "without a memory limit nothing is evicted; once a limit is set, the server may evict "
            "a lock that is held; set maxmemory-policy noeviction"};
}

finding deployment_finding(deployment server_deployment, std::int64_t replicas) {
    switch (server_deployment) {
    case deployment::alone: return {grade::good, "replicas", "none", ""};
    case deployment::replica: return {grade::bad, "role", "replica", "connect to the master"};
    case deployment::monitored:
        if (replicas == 0) return no_replica_finding();
        return {grade::note, "replicas", std::to_string(replicas),
                "a failover can lose a lock that is held; let the resource check the token, which "
                "is larger after each failover"};
    case deployment::followed_cluster:
        if (replicas == 0) return no_replica_finding();
        return {grade::good, "replicas", std::to_string(replicas), ""};
    case deployment::replicated:
    case deployment::cluster:
        return {grade::warning, "replicas", std::to_string(replicas),
                "a failover can lose a lock that is held, and this URL follows it only if its host "
                "name then leads to the new master; let the resource check the token"};
    case deployment::unknown: break;
    }
    return {grade::note, "replicas", "not readable", "allow the user INFO"};
}

finding unused_sentinels_finding(std::int64_t sentinels) {
    return {grade::warning, "sentinels",
            sentinels == 1 ? "1 Sentinel monitors this server"
                           : std::to_string(sentinels) + " Sentinels monitor this server",
            "this URL does not follow their failovers, and its tokens have no epoch; write "
            "redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME in every program that uses these "
            "locks"};
}

finding redlock_node_finding() {
    return {grade::bad, "redlock", "the server is a node of a Redlock set",
            "the set knows nothing of locks that this URL takes; name the whole set, as in "
            "redlock://HOST1,HOST2,HOST3"};
}

finding least_replicas_finding(const std::string& least, std::int64_t replicas) {
    if (least.empty())
        return {grade::note, "min-replicas-to-write", "not readable", "allow the user CONFIG GET"};
    if (parse_number<std::int64_t>(least) > replicas)
        return {grade::bad, "min-replicas-to-write", least + ", with fewer replicas",
                "the master refuses every lock until so many replicas are connected; connect them, "
                "or set a smaller number"};
    if (least != "0") return {grade::good, "min-replicas-to-write", least, ""};
    return {grade::warning, "min-replicas-to-write", "0",
            "a master that is cut off from its replicas goes on granting locks; set "
            "min-replicas-to-write 1, and min-replicas-max-lag to a few seconds"};
}

// The nodes agree after up to 2 timeouts that a master has failed, and about a second later a
// replica is promoted. The last renewal before the crash may be a third of the ttl old. So a hold
// outlives the failover if 2/3 of its ttl are longer than 2 timeouts and a second.
finding node_timeout_finding(const std::string& milliseconds) {
    constexpr std::int64_t longest = 24LL * 3600 * 1000;
    const auto timeout = std::min(parse_number<std::int64_t>(milliseconds), longest);
    if (timeout <= 0)
        return {grade::note, "cluster-node-timeout", "not readable", "allow the user CONFIG GET"};
    constexpr std::int64_t promotion_ms = 1000;
    const auto least_ttl = ((2 * timeout + promotion_ms) * 3 / 2 + 999) / 1000;
    const bool is_short = least_ttl <= lock_options{}.ttl / std::chrono::seconds(1);
    return {is_short ? grade::note : grade::warning, "cluster-node-timeout",
            std::to_string(timeout) + " ms",
            "a failover after a crash ends every hold whose ttl is below about " +
                std::to_string(least_ttl) + " s; use a longer ttl, or a shorter timeout"};
}

finding coverage_finding(const std::string& value) {
    if (value.empty())
        return {grade::note, "cluster-require-full-coverage", "not readable",
                "allow the user CONFIG GET"};
    if (value == "no") return {grade::good, "cluster-require-full-coverage", value, ""};
    return {grade::warning, "cluster-require-full-coverage", value,
            "while one slot has no node, all nodes refuse all locks; with no, the other slots "
            "go on"};
}

finding address_finding(const std::string& host, const std::string& run_id,
                        const std::vector<probed_server>& servers) {
    std::string same_server;
    std::string unreachable;
    std::string other_servers;
    for (const auto& each : servers) {
        auto& group = !each.was_reached                          ? unreachable
                      : !run_id.empty() && each.run_id == run_id ? same_server
                                                                 : other_servers;
        group.append(group.empty() ? "" : " and ").append(net::host_text(each.server_address));
    }
    if (servers.size() == 1)
        return {grade::good, "address", host + " is " + net::host_text(servers[0].server_address),
                ""};
    if (!other_servers.empty())
        return {grade::bad, "address",
                host + " is several servers, or may be: beside " +
                    (same_server.empty() ? "the one in use" : same_server) + " there is " +
                    other_servers,
                "each of them would grant the same lock; name one address in the URL"};
    if (unreachable.empty())
        return {grade::good, "address", host + " is " + same_server + ", one server", ""};
    return {grade::note, "address",
            host + " is " + same_server + "; no server answers at " + unreachable,
            "a server that starts there would grant the same locks; name one address in the URL"};
}

finding cluster_finding(std::int64_t nodes) {
    const std::string fact = nodes == 0 ? "a node of a Redis Cluster"
                             : nodes == 1
                                 ? "the only node with slots of a Redis Cluster"
                                 : "one of " + std::to_string(nodes) + " nodes of a Redis Cluster";
    if (nodes == 0)
        return {grade::warning, "cluster", fact,
                "in Redisson's layout names in the slots of other nodes are refused; allow the "
                "user CLUSTER INFO, so that doctor can see whether other nodes have slots"};
    if (nodes == 1)
        return {grade::warning, "cluster", fact,
                "in Redisson's layout a slot that moves to another node takes its locks away from "
                "this URL"};
    return {grade::bad, "cluster", fact,
            "in Redisson's layout names in the slots of other nodes are refused; name a server "
            "outside a cluster"};
}

finding refused_scripts_finding(bool is_native) {
    const std::string advice = "allow EVALSHA and EVAL (`pawl acl` prints the rule)";
    return {grade::bad, "scripts", "refused",
            is_native ? advice +
                            ", or with Valkey 8.1, Redis 8.4 or later add scripts=no to the "
                            "URL, for exclusive locks without a queue"
                      : advice};
}

void deny_guarantees(guarantee_row& row, std::string backend) {
    row.backend = std::move(backend);
    row.holder_crash = row.holder_pause = row.server_crash = row.failover = row.partition =
        row.clock_jump = row.token = "does not apply: no lock is taken there";
}

finding conditional_set_finding(bool understood) {
    if (understood) return {grade::good, "SET with IFEQ", "understood by the server", ""};
    return {grade::bad, "SET with IFEQ", "not understood",
            "use Valkey 8.1, Redis 8.4 or later, or leave scripts=no out of the URL"};
}

finding memory_limit_finding() {
    return {grade::note, "maxmemory", "set, and scripts=no",
            "while its memory is full, the server refuses renewals and releases, and holds are "
            "lost; leave room, or leave scripts=no out of the URL"};
}

finding transport_finding(transport used_transport) {
    switch (used_transport) {
    case transport::unix_socket: return {grade::good, "transport", "a unix socket", ""};
    case transport::loopback: return {grade::good, "transport", "this host alone", ""};
    case transport::tls: return {grade::good, "transport", "TLS, certificate checked", ""};
    case transport::tls_unchecked:
        return {grade::bad, "transport", "TLS, certificate not checked",
                "an attacker on the network can read the password and release every lock; leave "
                "out verify=no, and name the CA with ca=FILE"};
    case transport::plain: break;
    }
    return {grade::warning, "transport", "no TLS beyond this host",
            "an observer of the network can read the password and take locks; use rediss://, or a "
            "tunnel"};
}

finding user_finding(bool has_own_user, bool with_password) {
    if (has_own_user && with_password) return {grade::good, "user", "one of its own", ""};
    if (with_password) return {grade::good, "user", "default, with a password", ""};
    return {grade::warning, "user", "default, without a password",
            "any client that reaches the server can acquire every lock, and release any lock by "
            "force; give Pawl a user of its own by ACL, or set requirepass"};
}

finding default_user_finding(bool is_open) {
    if (!is_open) return {grade::good, "default user", "off, or has a password", ""};
    return {grade::warning, "default user", "works without a password",
            "any client that reaches the server can acquire every lock, and release any lock by "
            "force; switch it off (ACL SETUSER default off), or set requirepass"};
}

finding sentinel_password_finding(bool is_open) {
    if (!is_open) return {grade::good, "password", "needed", ""};
    return {grade::warning, "password", "not needed",
            "any client that reaches a Sentinel can begin a failover, or name another master; set "
            "requirepass in the Sentinels, and sentinel_password_file in the URL"};
}

}  // namespace pawl::redis
