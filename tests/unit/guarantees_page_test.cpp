// docs/guarantees.md and `pawl doctor` say the same: each row and each verdict of the command
// stands on the page, word for word.
#include "redis/assessment.hpp"
#include "sqlite_world.hpp"

#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace {

using namespace pawl::redis;
using pawl::finding;
using pawl::guarantee_row;

const std::string& page() {
    static const std::string text = [] {
        std::ifstream file(std::string(PAWL_SOURCE_DIR) + "/docs/guarantees.md");
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return text;
}

// The page has signs where the command has words.
std::string cell(const std::string& words) {
    if (words == "holds for holders that stop when told") return "⌛";
    const std::pair<const char*, const char*> signs[] = {
        {"holds", "✔"}, {"can break", "✘"}, {"never goes back", "✔"}};
    for (const auto& [begin, sign] : signs) {
        if (!words.starts_with(begin)) continue;
        auto rest = words.substr(std::string(begin).size());
        if (rest.find_first_of(",:;") == 0) rest.erase(0, 1);
        return sign + rest;
    }
    return words;
}

std::string line(const guarantee_row& row, const std::string& failover) {
    return "| " + row.backend + " | " + cell(row.holder_crash) + " | " + cell(row.holder_pause) +
           " | " + cell(row.server_crash) + " | " + failover + " | " + cell(row.partition) + " | " +
           cell(row.clock_jump) + " | " + cell(row.token) + " |\n";
}

std::string name_of(finding::grade how) {
    switch (how) {
    case finding::grade::good: return "good";
    case finding::grade::note: return "note";
    case finding::grade::warning: return "warning";
    case finding::grade::bad: break;
    }
    return "bad";
}

std::string line(const finding& verdict) {
    return "| " + verdict.topic + ": " + verdict.fact + " | " + name_of(verdict.how) + " | " +
           verdict.advice + (verdict.advice.empty() ? "|\n" : " |\n");
}

void expect_on_page(const std::string& text) {
    EXPECT_NE(page().find("\n" + text), std::string::npos)
        << "docs/guarantees.md lacks this line, or says something else:\n"
        << text;
}

constexpr persistence all_persistences[] = {persistence::none, persistence::everysec,
                                            persistence::no, persistence::always,
                                            persistence::unknown_fsync};
constexpr topology all_topologies[] = {topology::alone, topology::replicated, topology::replica,
                                       topology::cluster, topology::unknown};

TEST(guarantees_page, has_the_rows_of_redis) {
    for (const auto writes : all_persistences) {
        const auto alone = guarantees_of(writes, topology::alone);
        const auto replicated = guarantees_of(writes, topology::replicated);
        expect_on_page(
            line(alone, cell(alone.failover) + "; with replicas " + cell(replicated.failover)));
    }
}

TEST(guarantees_page, has_the_rows_of_the_other_backends) {
    const backend_tests::sqlite_world files;
    for (const auto& where : {pawl::memory::make(), files.service()}) {
        const auto row = pawl::blocking::client(where).examine().guarantees;
        expect_on_page(line(row, cell(row.failover)));
    }
}

TEST(guarantees_page, has_what_a_failover_means_wherever_the_server_stands) {
    for (const auto stands : all_topologies)
        expect_on_page("| " + guarantees_of(persistence::none, stands).failover + " |");
}

TEST(guarantees_page, has_the_verdicts_of_doctor) {
    for (const auto writes : all_persistences)
        expect_on_page(line(persistence_finding(writes)));
    for (const auto how : {transport::unix_socket, transport::loopback, transport::plain,
                           transport::tls, transport::tls_unchecked})
        expect_on_page(line(transport_finding(how)));
    expect_on_page(line(user_finding(true, true)));
    expect_on_page(line(user_finding(false, true)));
    expect_on_page(line(user_finding(false, false)));
    expect_on_page(line(eviction_finding("noeviction", true)));
    expect_on_page(line(eviction_finding("allkeys-lru", true)));
    expect_on_page(line(eviction_finding("allkeys-lru", false)));
    expect_on_page(line(eviction_finding("", false)));
    for (const auto stands :
         {topology::alone, topology::replicated, topology::replica, topology::unknown})
        expect_on_page(line(topology_finding(stands, 2)));
    expect_on_page(line(cluster_finding(3, false)));
    for (const auto nodes : {0, 1, 3})
        expect_on_page(line(cluster_finding(nodes, true)));
}

// A server without a limit evicts nothing, whatever the policy; the limit may come tomorrow.
TEST(guarantees_page, an_evicting_policy_is_never_called_good) {
    for (const char* policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
                               "volatile-lfu", "volatile-random", "volatile-ttl"}) {
        EXPECT_EQ(eviction_finding(policy, true).how, finding::grade::bad) << policy;
        EXPECT_EQ(eviction_finding(policy, false).how, finding::grade::warning) << policy;
    }
}

// Only a server that stands alone has no failover.
TEST(guarantees_page, a_failover_does_not_apply_to_a_server_alone_and_to_no_other) {
    for (const auto writes : all_persistences) {
        for (const auto stands : all_topologies)
            EXPECT_EQ(guarantees_of(writes, stands).failover == "does not apply",
                      stands == topology::alone);
    }
}

}  // namespace
