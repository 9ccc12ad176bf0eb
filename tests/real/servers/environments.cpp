// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"

#include "replicated_servers.hpp"

namespace real {

namespace {

using namespace std::chrono_literals;

// Locks between the threads of one client process. It is paused; its end would be the end of the
// locks, so it is never killed.
class memory_environment : public environment {
public:
    [[nodiscard]] client_access access(safeguards) override { return {.url = "memory:"}; }
    [[nodiscard]] support::machine client_machine(std::size_t) const override { return {}; }
    [[nodiscard]] std::vector<fault> faults() override { return {}; }
    [[nodiscard]] std::vector<server_period> history() override { return {}; }
    [[nodiscard]] std::string logs() override { return {}; }
};

std::vector<std::string> faults_of_cluster() {
    auto names = replicated_servers::fault_names();
    names.emplace_back(slot_fault);
    return names;
}

std::vector<environment_entry> single_servers() {
    return {{.name = "redis",
             .description = "one Redis server that keeps its data (appendfsync always)",
             .faults = single_server_faults(),
             .longest_ttl = 6s,
             .have_epochs = false,
             .start = &start_redis},
            {.name = "valkey",
             .description = "the same with Valkey",
             .faults = single_server_faults(),
             .longest_ttl = 6s,
             .have_epochs = false,
             .start = &start_valkey,
             .obstacle = &obstacle_of_valkey},
            {.name = "redisson",
             .description = "one Redis server, with Redisson's layout",
             .faults = single_server_faults(),
             .longest_ttl = 6s,
             .have_epochs = false,
             .start = &start_redisson}};
}

std::vector<environment_entry> redis_environments() {
    return {{.name = "sentinel",
             .description = "a master with two replicas and three Sentinels",
             .faults = replicated_servers::fault_names(),
             .longest_ttl = 6s,
             .have_epochs = true,
             .start = &start_sentinel},
            {.name = "cluster",
             .description = "a Redis Cluster of three masters with a replica each",
             .faults = faults_of_cluster(),
             .longest_ttl = 6s,
             .have_epochs = true,
             .start = &start_cluster},
            // After most faults nodes are in quarantine, which lasts a little longer than this.
            {.name = "redlock",
             .description = "Redlock over five independent servers",
             .faults = redlock_faults(),
             .longest_ttl = 2s,
             .have_epochs = false,
             .start = &start_redlock},
            {.name = "redlock-sentinel",
             .description = "Redlock over four servers and a master with Sentinels",
             .faults = replicated_servers::fault_names(),
             .longest_ttl = 2s,
             .have_epochs = false,
             .start = &start_redlock_sentinel}};
}

// Tokens are the store's own revisions, so no part of them is an epoch.
std::vector<environment_entry> consensus_stores() {
    std::vector<environment_entry> all;
#if PAWL_WITH_ETCD
    all.push_back({.name = "etcd",
                   .description = "three members of etcd",
                   .faults = etcd_faults(),
                   .longest_ttl = 6s,
                   .have_epochs = false,
                   .start = &start_etcd,
                   .obstacle = &obstacle_of_etcd});
#endif
    return all;
}

// The longest ttl is also the pause after a failover.
std::vector<environment_entry> databases() {
    std::vector<environment_entry> all;
#if PAWL_WITH_POSTGRES
    all.push_back({.name = "postgres",
                   .description = "a PostgreSQL server and its standby",
                   .faults = postgres_faults(),
                   .longest_ttl = 4s,
                   .have_epochs = true,
                   .start = &start_postgres,
                   .naive = &lazy_commits,
                   .obstacle = &obstacle_of_postgres});
#endif
#if PAWL_WITH_MYSQL
    all.push_back({.name = "mariadb",
                   .description = "a MariaDB server",
                   .faults = mariadb_faults(),
                   .longest_ttl = 6s,
                   .have_epochs = false,
                   .start = &start_mariadb,
                   .naive = &lazy_commits,
                   .obstacle = &obstacle_of_mariadb});
#endif
    return all;
}

std::vector<environment_entry> local_stores() {
    return {
#if PAWL_WITH_SQLITE
        {.name = "sqlite",
         .description = "a SQLite file",
         .faults = sqlite_faults(),
         .longest_ttl = 6s,
         .have_epochs = false,
         .start = &start_sqlite},
#endif
        {
            .name = "memory", .description = "the memory of one process, with all threads in it",
            .faults = {}, .longest_ttl = 6s, .have_epochs = false, .start = &start_memory,
            .is_one_process = true
        }
    };
}

}  // namespace

const naive_variant naive_tokens{"naive INCR", [](const verdict& outcome) {
                                     return outcome.equal_tokens + outcome.tokens_back;
                                 }};
const naive_variant lazy_commits{"lazy commits",
                                 [](const verdict& outcome) { return outcome.overlaps; }};

const std::vector<environment_entry>& environments() {
    static const std::vector<environment_entry> all = [] {
        auto entries = redis_environments();
        const auto more = databases();
        entries.insert(entries.end(), more.begin(), more.end());
        return entries;
    }();
    return all;
}

const std::vector<environment_entry>& soak_environments() {
    static const std::vector<environment_entry> all = [] {
        auto entries = single_servers();
        for (const auto& more : {environments(), consensus_stores(), local_stores()})
            entries.insert(entries.end(), more.begin(), more.end());
        return entries;
    }();
    return all;
}

std::unique_ptr<environment> start_memory(const environment_options&) {
    return std::make_unique<memory_environment>();
}

}  // namespace real
