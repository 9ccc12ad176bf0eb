// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The name server does not answer: only the client that resolves a name waits.
#include "host_names.hpp"
#include "redis_fixture.hpp"

#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <net/name_look_up.hpp>

namespace {

using namespace chaos;
namespace asio = boost::asio;

class DeadNameServer : public testing::Test, protected redis_fixture {
protected:
    [[nodiscard]] std::string url(const std::string& host) const {
        return "redis://" + host + ":" + std::to_string(server.port()) + "?connect_timeout=500";
    }
    void cut_connections() {
        (void)server.execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        (void)server.execute({"CLIENT", "KILL", "TYPE", "pubsub"});
    }

    host_names host_table;
};

TEST_F(DeadNameServer, KeepsNoClientFromItsEnd) {
    host_table.start_hanging("dead.test");
    {
        client locks = client_at(url("dead.test"));
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    }
    EXPECT_EQ(host_table.hanging_lookups(), 1U);  // it continues in the background
}

// Attempts go on while the first look-up hangs: they share that look-up.
TEST_F(DeadNameServer, IsAskedOnceForOneName) {
    host_table.start_hanging("dead.test");
    client first = client_at(url("dead.test"));
    client second = client_at(url("dead.test"));
    for (int i = 0; i < 3; ++i) {
        for (auto* each : {&first, &second})
            EXPECT_TRUE(failure_of([&] { (void)each->try_acquire("it", {.ttl = 2s}); }));
    }
    EXPECT_EQ(host_table.lookup_count("dead.test"), 1U);
    host_table.resolve_to("dead.test", {"127.0.0.1"});
    EXPECT_TRUE(can_acquire(first)) << client_log.text();
    EXPECT_TRUE(can_acquire(second)) << client_log.text();
}

// A and B are on one event loop | B's look-up hangs | A connects by a name, and again by the
// address that it knows after its own name stops resolving
TEST_F(DeadNameServer, LeavesOtherClientsOfTheEventLoopAlone) {
    host_table.start_hanging("dead.test");
    host_table.resolve_to("alive.test", {"127.0.0.1"});
    asio::io_context io;
    {
        const auto work = asio::make_work_guard(io);
        const std::jthread runs([&] { io.run(); });
        const std::shared_ptr<void> stops(nullptr, [&](void*) { io.stop(); });
        pawl::client b(io.get_executor(), pawl::redis::at(url("dead.test")));
        auto pending = b.async_acquire("it", {.ttl = 2s, .wait = patience}, asio::use_future);
        ASSERT_TRUE(eventually([&] { return host_table.hanging_lookups() == 1; }));
        pawl::client a(io.get_executor(), pawl::redis::at(url("alive.test")));
        const auto first =
            a.async_acquire("first", {.ttl = 2s, .wait = patience}, asio::use_future).get();
        host_table.start_hanging("alive.test");
        cut_connections();
        const auto second =
            a.async_acquire("second", {.ttl = 2s, .wait = patience}, asio::use_future).get();
        EXPECT_TRUE(eventually([&] { return host_table.hanging_lookups() == 2; }))
            << host_table.hanging_lookups();
    }
}

// More names than may be resolved at once: the next attempt gets an error, and succeeds afterwards.
TEST_F(DeadNameServer, IsAskedForSoManyNamesAtOnce) {
    std::vector<std::unique_ptr<client>> clients;
    for (std::size_t i = 0; i < pawl::net::max_look_ups; ++i) {
        const auto name = "dead" + std::to_string(i) + ".test";
        host_table.start_hanging(name);
        clients.push_back(std::make_unique<client>(client_at(url(name))));
        EXPECT_TRUE(failure_of([&] { (void)clients.back()->try_acquire("it", {.ttl = 2s}); }));
    }
    EXPECT_EQ(host_table.hanging_lookups(), pawl::net::max_look_ups);
    host_table.resolve_to("alive.test", {"127.0.0.1"});
    client next = client_at(url("alive.test"));
    const auto failed = failure_of([&] { (void)next.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::exhausted) << failed;
    client numeric = client_at(url("127.0.0.1"));
    EXPECT_TRUE(can_acquire(numeric)) << client_log.text();
    EXPECT_EQ(host_table.lookup_count("127.0.0.1"), 0U);
    host_table.release_hanging();
    EXPECT_TRUE(can_acquire(next)) << client_log.text();
}

}  // namespace
