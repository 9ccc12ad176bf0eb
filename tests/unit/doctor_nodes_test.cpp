// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The report about a service with several servers: which findings are about which server.
#include "core/util/spi.hpp"

#include <redis/doctor/doctor.hpp>

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;

// Answers INFO as a server with this eviction policy does, and everything else with nil.
class fixed_link final : public link {
public:
    fixed_link(std::string name, std::string policy)
        : name_(std::move(name)), policy_(std::move(policy)) {
        session_.server = "redis";
        session_.version = "7.0.15";
    }
    // A server that refuses the handshake.
    explicit fixed_link(std::string name) : name_(std::move(name)), refuses_(true) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> command, time_point,
                                prelude) override {
        if (refuses_) throw error(errc::unsupported, name_ + " is a Sentinel.");
        if (command[0] != "INFO") co_return reply{};
        const auto text = command[1] == "memory"        ? "maxmemory_policy:" + policy_ + "\r\n"
                          : command[1] == "replication" ? std::string("role:master\r\n")
                                                        : std::string();
        co_return reply{reply::kind::string, 0, text, {}};
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return !refuses_; }
    std::string server_name() const override { return name_; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    const std::string name_, policy_;
    const bool refuses_ = false;
    session session_;
};

class fixed_servers final : public topology {
public:
    fixed_servers(link& first, link& second) : links_{&first, &second} {}
    link& link_of(std::string_view) const noexcept override { return *links_.front(); }
    std::span<link* const> links() const noexcept override { return links_; }

private:
    const std::array<link*, 2> links_;
};

examination examine(link& first, link& second) {
    fixed_servers servers(first, second);
    runtime& time = real_runtime();
    const options server_options;
    asio::io_context loop;
    auto report =
        asio::co_spawn(loop, examine_servers(servers, time, server_options), asio::use_future);
    loop.run();
    return report.get();
}

std::vector<std::string> names_of(const examination& report) {
    std::vector<std::string> names;
    for (const auto& each : report.nodes)
        names.push_back(each.name);
    return names;
}

// The facts of a topic, with the node of each.
std::vector<std::string> facts_of(const examination& report, std::string_view topic) {
    std::vector<std::string> facts;
    for (const auto& each : report.findings)
        if (each.topic == topic) facts.push_back(each.node + ": " + each.fact);
    return facts;
}

TEST(DoctorNodes, EachServerHasItsOwnFindings) {
    fixed_link first("db1:6379", "noeviction"), second("db2:6380", "allkeys-lru");
    const auto report = examine(first, second);
    EXPECT_THAT(names_of(report), ::testing::ElementsAre("db1:6379", "db2:6380"));
    EXPECT_THAT(facts_of(report, "server"),
                ::testing::ElementsAre("db1:6379: redis 7.0.15", "db2:6380: redis 7.0.15"));
    EXPECT_THAT(facts_of(report, "eviction policy"),
                ::testing::ElementsAre("db1:6379: noeviction",
                                       ::testing::HasSubstr("db2:6380: allkeys-lru")));
    EXPECT_THAT(facts_of(report, "transport"), ::testing::ElementsAre(": no TLS beyond this host"));
}

TEST(DoctorNodes, ARefusalIsAboutItsServer) {
    fixed_link good("db1:6379", "noeviction"), refusing("db2:26379");
    const auto report = examine(good, refusing);
    EXPECT_THAT(names_of(report), ::testing::ElementsAre("db1:6379", "db2:26379"));
    EXPECT_THAT(
        facts_of(report, "server"),
        ::testing::ElementsAre("db1:6379: redis 7.0.15", "db2:26379: db2:26379 is a Sentinel."));
}

}  // namespace
}  // namespace pawl::redis
