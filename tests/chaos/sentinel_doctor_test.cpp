// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `pawl doctor` reports about Sentinels.
#include "sentinel_fixture.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace chaos;
using support::sentinel_group;
using testing::AllOf;
using testing::HasSubstr;

class SentinelDoctor : public sentinel_fixture {
protected:
    // A line for each finding: TOPIC @NODE: FACT | ADVICE
    [[nodiscard]] std::string rows_of(const std::string& url) {
        client locks = client_at(url);
        report = locks.examine();
        std::string rows;
        for (const auto& each : report.findings)
            rows += each.topic + " @" + each.node + ": " + each.fact + " | " + each.advice + "\n";
        return rows;
    }

    pawl::examination report;
};

TEST_F(SentinelDoctor, AdvisesOnAnUnknownMaster) {
    sentinel_group group({.sentinels = 1});
    EXPECT_THAT(rows_of(group.url().replace(group.url().rfind('/'), 7, "/order")),
                AllOf(HasSubstr("master @the master: the Sentinel " + at(group.sentinel(0)) +
                                " knows no master 'order' | give one of these: orders\n"),
                      HasSubstr("sentinel @" + at(group.sentinel(0)) +
                                ": knows no master 'order' | give one of these: orders\n")));
}

TEST_F(SentinelDoctor, AdvisesOnSentinelsThatAreAway) {
    sentinel_group group;
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        group.sentinel(i).kill9();
    EXPECT_THAT(
        rows_of(group.url("?connect_timeout=1000")),
        AllOf(HasSubstr("| check that the Sentinels run there and the URL is right\n"),
              HasSubstr("sentinels @: none of them names a master | "),
              HasSubstr("sentinel @" + at(group.sentinel(0)) +
                        ": cannot be reached: Connection refused | see that it runs, and that")));
}

// The list of Sentinels has the port of the server, too.
TEST_F(SentinelDoctor, ListsAServerAmongTheSentinelsOnce) {
    sentinel_group group;
    auto url = group.url();
    const auto rows = rows_of(url.insert(url.rfind('/'), "," + at(group.server(0))));
    EXPECT_THAT(
        rows,
        HasSubstr("sentinel @" + at(group.server(0)) +
                  ": answers as a server, not as a Sentinel | write redis://HOST:PORT, or give the "
                  "Sentinels' port, which is usually 26379\n"));
    EXPECT_EQ(std::ranges::count(report.nodes, at(group.server(0)), &pawl::examined_node::name), 1)
        << rows;
}

TEST_F(SentinelDoctor, WarnsOfAnEvenNumberAndOfNoPassword) {
    sentinel_group group({.sentinels = 4});
    client connects = client_at(group.url());
    (void)connects.acquire("it", {.ttl = 2s});
    EXPECT_THAT(rows_of(group.url()),
                AllOf(HasSubstr("4 Sentinels, 3 must agree | an even number tolerates no more"),
                      HasSubstr("password @" + at(group.sentinel(0)) +
                                ": not needed | any client that reaches a Sentinel can")));
}

TEST_F(SentinelDoctor, AsksTheSentinelsForAPassword) {
    sentinel_group group({.sentinels = 1, .sentinel_password = "quiet"});
    const support::temp_folder folder;
    std::ofstream(folder.file("password")) << "quiet\n";
    std::filesystem::permissions(folder.file("password"), std::filesystem::perms(0600));
    EXPECT_THAT(rows_of(group.url("?sentinel_password_file=" + folder.file("password"))),
                HasSubstr("password @" + at(group.sentinel(0)) + ": needed | \n"));
}

TEST_F(SentinelDoctor, NamesSentinelsThatTheUrlDoesNot) {
    sentinel_group group({.replicas = 1});
    EXPECT_TRUE(eventually([&] {
        return rows_of(group.server(0).url())
                   .find(
                       "3 Sentinels monitor this server | this URL does not follow their "
                       "failovers, and its tokens have no epoch") != std::string::npos;
    })) << rows_of(group.server(0).url());
    EXPECT_EQ(rows_of(group.url()).find("monitor this server"), std::string::npos);
}

}  // namespace
