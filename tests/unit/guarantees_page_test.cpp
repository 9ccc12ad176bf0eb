// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// docs/guide/guarantees.md and `pawl doctor` agree: each row and each verdict of the command is on
// the page, word for word.
#include "lock_file_fixture.hpp"
#include "redis/doctor/assessment.hpp"

#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>

#if PAWL_WITH_POSTGRES
#include "postgres/doctor.hpp"
#endif
#if PAWL_WITH_MYSQL
#include "mysql/doctor.hpp"
#endif
#if PAWL_WITH_CONSUL
#include "consul/doctor.hpp"
#endif
#if PAWL_WITH_ETCD
#include "etcd/doctor.hpp"
#endif
#if PAWL_WITH_ZOOKEEPER
#include "zookeeper/server_state.hpp"
#endif

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace {

using namespace pawl::redis;
using pawl::finding;
using pawl::guarantee_row;

const std::string& page() {
    static const std::string text = [] {
        std::ifstream file(std::string(PAWL_SOURCE_DIR) + "/docs/guide/guarantees.md");
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return text;
}

// The page has symbols where the command has words.
std::string table_cell(const std::string& text) {
    if (text == "holds for holders that stop when told") return "⌛";
    const std::pair<const char*, const char*> signs[] = {
        {"holds", "✔"}, {"can break", "✘"}, {"never goes back", "✔"}};
    for (const auto& [begin, sign] : signs) {
        if (!text.starts_with(begin)) continue;
        auto rest = text.substr(std::string(begin).size());
        if (rest.find_first_of(",:;") == 0) rest.erase(0, 1);
        return sign + rest;
    }
    return text;
}

std::string line(const guarantee_row& row, const std::string& failover) {
    return "| " + row.backend + " | " + table_cell(row.holder_crash) + " | " +
           table_cell(row.holder_pause) + " | " + table_cell(row.server_crash) + " | " + failover +
           " | " + table_cell(row.partition) + " | " + table_cell(row.clock_jump) + " | " +
           table_cell(row.token) + " |\n";
}

std::string name_of(finding::grade grade) {
    switch (grade) {
    case finding::grade::good: return "good";
    case finding::grade::note: return "note";
    case finding::grade::warning: return "warning";
    case finding::grade::bad: break;
    }
    return "bad";
}

std::string line(const finding& verdict) {
    return "| " + verdict.topic + ": " + verdict.fact + " | " + name_of(verdict.level) + " | " +
           verdict.advice + (verdict.advice.empty() ? "|\n" : " |\n");
}

void expect_on_page(const std::string& text) {
    EXPECT_NE(page().find("\n" + text), std::string::npos)
        << "docs/guide/guarantees.md lacks this line, or has another one:\n"
        << text;
}

constexpr persistence all_persistences[] = {persistence::none, persistence::everysec,
                                            persistence::fsync_by_kernel, persistence::always,
                                            persistence::unknown_fsync};
constexpr deployment all_deployments[] = {
    deployment::alone,   deployment::replicated,       deployment::monitored, deployment::replica,
    deployment::cluster, deployment::followed_cluster, deployment::unknown};

TEST(GuaranteesPage, HasTheRowsOfRedis) {
    for (const auto writes : all_persistences) {
        auto alone = guarantees_of(writes, deployment::alone);
        const auto replicated = guarantees_of(writes, deployment::replicated);
        if (alone.token != replicated.token)
            alone.token += " (with replicas:" + replicated.token.substr(alone.token.size()) + ")";
        expect_on_page(line(alone, table_cell(alone.failover) + "; with replicas " +
                                       table_cell(replicated.failover)));
        for (const auto stands : {deployment::monitored, deployment::followed_cluster}) {
            const auto row = guarantees_of(writes, stands);
            expect_on_page(line(row, table_cell(row.failover)));
        }
    }
}

TEST(GuaranteesPage, HasTheRowsOfRedlock) {
    for (const bool fenced : {true, false}) {
        const auto row = guarantees_of_redlock(3, fenced);
        const auto with_sentinels = guarantees_of_redlock(3, fenced, true);
        expect_on_page(line(row, row.failover + "; with Sentinels " + with_sentinels.failover));
    }
}

#if PAWL_WITH_POSTGRES

TEST(GuaranteesPage, HasTheRowsOfPostgres) {
    pawl::postgres::options going;
    going.after_failover = pawl::postgres::after_failover::go;
    pawl::postgres::server_state state;
    state.version = "15.4";
    state.synchronous_commit = "on";
    for (const bool has_fsync : {true, false}) {
        state.has_fsync = has_fsync;
        const auto row = assess(state, {}, "").guarantees;
        const auto without_pause = assess(state, going, "").guarantees;
        expect_on_page(line(row, table_cell(row.failover) + "; with `after_failover=go` " +
                                     table_cell(without_pause.failover)));
    }
    state.has_fsync = true;
    state.synchronous_standbys = "*";
    const auto row = assess(state, {}, "").guarantees;
    expect_on_page(line(row, table_cell(row.failover)));
    pawl::postgres::options shared;
    shared.shedlock.emplace();
    state.synchronous_standbys.clear();
    const auto shared_row = assess(state, shared, "").guarantees;
    expect_on_page(line(shared_row, table_cell(shared_row.failover)));
    const auto of_sessions = assess_sessions(state, "").guarantees;
    expect_on_page(line(of_sessions, table_cell(of_sessions.failover)));
}

#endif

#if PAWL_WITH_CONSUL

TEST(GuaranteesPage, HasTheRowOfConsul) {
    const auto row = pawl::consul::guarantees();
    expect_on_page(line(row, table_cell(row.failover)));
}

#endif

#if PAWL_WITH_MYSQL

TEST(GuaranteesPage, HasTheRowsOfMySql) {
    pawl::mysql::options going;
    going.after_failover = pawl::mysql::after_failover::go;
    pawl::mysql::server_state state, node;
    node.cluster = pawl::mysql::server_state::cluster_kind::galera;
    for (const char* flush : {"1", "2"}) {
        state.flush = node.flush = flush;
        const auto row = assess(state, {}, "").guarantees;
        const auto without_pause = assess(state, going, "").guarantees;
        expect_on_page(line(row, table_cell(row.failover) + "; with `after_failover=go` " +
                                     table_cell(without_pause.failover)));
        const auto cluster_row = assess(node, {}, "").guarantees;
        expect_on_page(line(cluster_row, table_cell(cluster_row.failover)));
    }
    pawl::mysql::options shared;
    shared.shedlock.emplace();
    state.flush = "1";
    const auto shared_row = assess(state, shared, "").guarantees;
    expect_on_page(line(shared_row, table_cell(shared_row.failover)));
    for (const auto kind : {pawl::mysql::lock_kind::session, pawl::mysql::lock_kind::row}) {
        pawl::mysql::options settings;
        settings.kind = kind;
        const auto row = assess_sessions(state, settings, "").guarantees;
        expect_on_page(line(row, table_cell(row.failover)));
    }
}

#endif

#if PAWL_WITH_ETCD

TEST(GuaranteesPage, HasTheRowOfEtcd) {
    const auto row = pawl::etcd::guarantees();
    expect_on_page(line(row, table_cell(row.failover)));
}

#endif

#if PAWL_WITH_ZOOKEEPER

TEST(GuaranteesPage, HasTheRowOfZooKeeper) {
    const pawl::zookeeper::client_settings settings{pawl::zookeeper::options()};
    const auto row = pawl::zookeeper::examination_of({}, settings).guarantees;
    expect_on_page(line(row, table_cell(row.failover)));
}

#endif

TEST(GuaranteesPage, HasTheRowOfMemory) {
    const auto row = pawl::blocking::client(pawl::memory::at()).examine().guarantees;
    expect_on_page(line(row, table_cell(row.failover)));
}

// `pawl doctor` knows the file system of the file. The page has one row for all file systems.
TEST(GuaranteesPage, HasTheRowOfSqlite) {
    const std::string on_disk = "never goes back";
    const std::string in_memory = " while the host's clock is right";
    const backend_tests::lock_file_fixture files;
    auto row = pawl::blocking::client(files.service()).examine().guarantees;
    EXPECT_TRUE(row.token == on_disk || row.token == on_disk + in_memory) << row.token;
    row.token = on_disk + " (on tmpfs or ramfs:" + in_memory + ")";
    expect_on_page(line(row, table_cell(row.failover)));
}

TEST(GuaranteesPage, HasWhatAFailoverMeansWhereverTheServerStands) {
    for (const auto stands : all_deployments)
        expect_on_page("| " + guarantees_of(persistence::none, stands).failover + " |");
}

TEST(GuaranteesPage, HasTheVerdictsOfDoctor) {
    for (const auto writes : all_persistences)
        expect_on_page(line(persistence_finding(writes)));
    for (const auto transport_kind : {transport::unix_socket, transport::loopback, transport::plain,
                                      transport::tls, transport::tls_unchecked})
        expect_on_page(line(transport_finding(transport_kind)));
    expect_on_page(line(user_finding(true, true)));
    expect_on_page(line(user_finding(false, true)));
    expect_on_page(line(user_finding(false, false)));
    for (const bool answer : {false, true}) {
        expect_on_page(line(default_user_finding(answer)));
        expect_on_page(line(conditional_set_finding(answer)));
    }
    expect_on_page(line(memory_limit_finding()));
    expect_on_page(line(redlock_node_finding()));
    expect_on_page(line(eviction_finding("noeviction", true)));
    expect_on_page(line(eviction_finding("allkeys-lru", true)));
    expect_on_page(line(eviction_finding("allkeys-lru", false)));
    expect_on_page(line(eviction_finding("", false)));
    for (const auto stands :
         {deployment::alone, deployment::replicated, deployment::monitored, deployment::replica,
          deployment::followed_cluster, deployment::unknown})
        expect_on_page(line(deployment_finding(stands, 2)));
    for (const std::string least : {"", "0", "1", "3"})
        expect_on_page(line(least_replicas_finding(least, 2)));
    for (const auto stands : {deployment::monitored, deployment::followed_cluster})
        expect_on_page(line(deployment_finding(stands, 0)));
    for (const std::string timeout : {"", "5000", "15000"})
        expect_on_page(line(node_timeout_finding(timeout)));
    for (const std::string coverage : {"", "no", "yes"})
        expect_on_page(line(coverage_finding(coverage)));
    for (const auto nodes : {0, 1, 3})
        expect_on_page(line(cluster_finding(nodes)));
}

// A server without a limit evicts nothing, whatever its policy; the limit may come tomorrow.
TEST(GuaranteesPage, AnEvictingPolicyIsNeverCalledGood) {
    for (const char* policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
                               "volatile-lfu", "volatile-random", "volatile-ttl"}) {
        EXPECT_EQ(eviction_finding(policy, true).level, finding::grade::bad) << policy;
        EXPECT_EQ(eviction_finding(policy, false).level, finding::grade::warning) << policy;
    }
}

// Only a single server has no failover.
TEST(GuaranteesPage, AFailoverDoesNotApplyToAServerAloneAndToNoOther) {
    for (const auto writes : all_persistences) {
        for (const auto stands : all_deployments)
            EXPECT_EQ(guarantees_of(writes, stands).failover == "does not apply",
                      stands == deployment::alone);
    }
}

}  // namespace
