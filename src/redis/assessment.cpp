#include "assessment.hpp"

namespace pawl::redis {

using grade = finding::grade;

namespace {

std::string backend_of(persistence writes) {
    switch (writes) {
    case persistence::none: return "Redis, no persistence";
    case persistence::everysec: return "Redis, AOF everysec";
    case persistence::no: return "Redis, AOF without fsync";
    case persistence::always: return "Redis, AOF always";
    case persistence::unknown_fsync: break;
    }
    return "Redis, AOF, fsync unknown";
}

std::string server_crash_of(persistence writes) {
    switch (writes) {
    case persistence::none: return "can break: the lock is forgotten";
    case persistence::no: return "can break on power loss: tens of seconds are forgotten";
    case persistence::always: return "holds";
    case persistence::everysec:
    case persistence::unknown_fsync: break;
    }
    return "can break on power loss";
}

std::string failover_of(topology stands) {
    switch (stands) {
    case topology::alone: return "does not apply";
    case topology::replicated: return "can break: a replica may not know the lock";
    case topology::replica: return "can break: this server is the replica";
    case topology::cluster: return "can break: a slot and its locks move to another node";
    case topology::unknown: break;
    }
    return "not known: the user may not read INFO";
}

}  // namespace

guarantee_row guarantees_of(persistence writes, topology stands) {
    guarantee_row row;
    row.backend = backend_of(writes);
    row.holder_crash = "holds, after the ttl";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = server_crash_of(writes);
    row.failover = failover_of(stands);
    row.partition = "holds for holders that stop when told";
    row.clock_jump = "can break";
    row.token = writes == persistence::always ? "never goes back"
                                              : "never goes back while the server's clock is right";
    return row;
}

finding persistence_finding(persistence writes) {
    switch (writes) {
    case persistence::none:
        return {grade::warning, "persistence", "no append-only file",
                "a crash of the server forgets who holds what; set appendonly yes, or let the "
                "resource check the token"};
    case persistence::everysec:
        return {grade::note, "persistence", "append-only file, fsync everysec",
                "a power loss may forget the last second; appendfsync always does not"};
    case persistence::no:
        return {grade::warning, "persistence", "append-only file, fsync no",
                "a power loss may forget the last tens of seconds, as the kernel decides; "
                "appendfsync everysec forgets one second at most, always nothing"};
    case persistence::always:
        return {grade::good, "persistence", "append-only file, fsync always", ""};
    case persistence::unknown_fsync: break;
    }
    return {grade::note, "persistence", "append-only file, fsync not readable",
            "allow the user CONFIG GET, to see how much a power loss may forget"};
}

finding eviction_finding(const std::string& policy, bool limited) {
    if (policy.empty())
        return {grade::note, "eviction policy", "not readable", "allow the user INFO"};
    if (policy == "noeviction") return {grade::good, "eviction policy", policy, ""};
    if (limited)
        return {grade::bad, "eviction policy", policy,
                "the server may evict a lock that is held; set maxmemory-policy noeviction"};
    return {grade::warning, "eviction policy", policy + ", maxmemory 0",
            "nothing is evicted without a limit, and a lock that is held may be as soon as "
            "somebody sets one; set maxmemory-policy noeviction"};
}

finding topology_finding(topology stands, std::int64_t replicas) {
    switch (stands) {
    case topology::alone: return {grade::good, "replicas", "none", ""};
    case topology::replica: return {grade::bad, "role", "replica", "connect to the master"};
    case topology::replicated:
    case topology::cluster:
        return {grade::warning, "replicas", std::to_string(replicas),
                "a failover can lose a lock that is held, and this URL does not follow it; let "
                "the resource check the token"};
    case topology::unknown: break;
    }
    return {grade::note, "replicas", "not readable", "allow the user INFO"};
}

finding address_finding(const std::string& host, const std::string& run_id,
                        const std::vector<met_server>& servers) {
    std::string same;
    std::string silent;
    std::string others;
    for (const auto& each : servers) {
        auto& group = !each.reached                              ? silent
                      : !run_id.empty() && each.run_id == run_id ? same
                                                                 : others;
        group.append(group.empty() ? "" : " and ").append(host_of(each.at));
    }
    if (servers.size() == 1)
        return {grade::good, "address", host + " is " + host_of(servers[0].at), ""};
    if (!others.empty())
        return {grade::bad, "address",
                host + " is several servers, or may be: beside " +
                    (same.empty() ? "the one in use" : same) + " there is " + others,
                "each would give the same lock; name one address in the URL"};
    if (silent.empty()) return {grade::good, "address", host + " is " + same + ", one server", ""};
    return {grade::note, "address", host + " is " + same + "; nobody answers at " + silent,
            "a server that starts there would give the same locks; name one address in the URL"};
}

finding cluster_finding(std::int64_t nodes, bool redisson) {
    const std::string fact = nodes == 0 ? "a node of a Redis Cluster"
                             : nodes == 1
                                 ? "the only node with slots of a Redis Cluster"
                                 : "one of " + std::to_string(nodes) + " nodes of a Redis Cluster";
    if (!redisson)
        return {grade::bad, "cluster", fact,
                "the native layout needs a server that has all keys; name a server outside a "
                "cluster"};
    if (nodes == 0)
        return {grade::warning, "cluster", fact,
                "in Redisson's layout names in the slots of other nodes are refused; allow the "
                "user CLUSTER INFO, to see whether there are any"};
    if (nodes == 1)
        return {grade::warning, "cluster", fact,
                "in Redisson's layout a slot that moves to another node takes its locks away from "
                "this URL"};
    return {grade::bad, "cluster", fact,
            "in Redisson's layout names in the slots of other nodes are refused; name a server "
            "outside a cluster"};
}

finding transport_finding(transport how) {
    switch (how) {
    case transport::unix_socket: return {grade::good, "transport", "a unix socket", ""};
    case transport::loopback: return {grade::good, "transport", "this host alone", ""};
    case transport::tls: return {grade::good, "transport", "TLS, certificate checked", ""};
    case transport::tls_unchecked:
        return {grade::bad, "transport", "TLS, certificate not checked",
                "whoever stands between can read the password and give every lock away; leave out "
                "verify=no, and name the CA with ca=FILE"};
    case transport::plain: break;
    }
    return {grade::warning, "transport", "no TLS beyond this host",
            "whoever sees the network can read the password and take locks; use rediss://, or a "
            "tunnel"};
}

finding user_finding(bool own, bool with_password) {
    if (own && with_password) return {grade::good, "user", "one of its own", ""};
    if (with_password) return {grade::good, "user", "default, with a password", ""};
    return {grade::warning, "user", "default, without a password",
            "whoever reaches the server can take and force every lock; give Pawl a user of its own "
            "by ACL, or set requirepass"};
}

}  // namespace pawl::redis
