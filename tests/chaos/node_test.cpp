// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Nodes of clusters, Sentinels, and servers that cannot serve for now: the errors, and the
// operations that are still executed when the server can serve again.
#include "redis_fixture.hpp"

#include <redis/transport/connection.hpp>
#include <support/scripted_server.hpp>

#include <redis_scripts.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <filesystem>

namespace {

using namespace chaos;
namespace asio = boost::asio;
namespace redis = pawl::redis;
namespace scripts = pawl::redis::scripts;

class Node : public testing::Test, protected redis_fixture {
protected:
    void expect_failure(const std::string& url, errc reason, const std::string& part,
                        pawl::duration wait = pawl::forever) {
        client locks = client_at(url);
        const auto waiting =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = wait}); });
        ASSERT_TRUE(waiting.has_value());
        EXPECT_EQ(waiting->reason, reason) << waiting;
        EXPECT_NE(waiting->sentence.find(part), std::string::npos) << waiting;
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, reason) << failed;
        EXPECT_NE(failed->sentence.find(part), std::string::npos) << failed;
    }
};

// The URL of one server does not follow a cluster.
// So a node is refused, even if it has all slots, as here.
TEST_F(Node, OfAClusterIsRefusedInTheNativeLayout) {
    support::redis_server other({.config = {"cluster-enabled yes"}});
    (void)other.execute({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    expect_failure(other.url(), errc::unsupported, "is a node of a cluster");
    expect_failure(other.url("?key=lock:%7Bname%7D"), errc::unsupported, "is a node of a cluster");
    // The same if INFO is not permitted.
    (void)other.execute({"ACL", "SETUSER", "few", "on", ">few", "~*", "&*", "+@all", "-info"});
    expect_failure("redis://few:few@127.0.0.1:" + std::to_string(other.port()), errc::unsupported,
                   "is a node of a cluster");
}

TEST_F(Node, OfSentinelIsNamed) {
    support::redis_server other({.sentinel = true});
    expect_failure(other.url(), errc::unsupported, "is a Sentinel");
}

// An endless script keeps the server busy.
TEST_F(Node, IsBusyAtTheGreeting) {
    (void)server.execute({"CONFIG", "SET", "lua-time-limit", "1"});
    const auto slow = server.connect();
    slow->send({"EVAL", "while true do end", "0"});
    ASSERT_TRUE(eventually([&] { return server.execute({"TIME"}).is_error(); }));
    expect_failure(server.url(), errc::unavailable, "BUSY", 300ms);
    client locks = direct_client();
    held_lock acquired;
    background_task waiter([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually(
        [&] { return client_log.text().find("Waiting for the service: ") != std::string::npos; }));
    (void)server.execute({"SCRIPT", "KILL"});
    waiter.join();
    EXPECT_TRUE(acquired.owns_lock());
}

// A failed snapshot: the server refuses writes, and PING.
TEST_F(Node, CannotSaveItsDataAtTheGreeting) {
    // A folder in the place of the snapshot, so that the snapshot cannot be written.
    std::filesystem::create_directory(server.folder().file("dump.rdb"));
    (void)server.execute({"CONFIG", "SET", "save", "3600 1000"});
    (void)server.execute({"BGSAVE"});
    ASSERT_TRUE(eventually([&] { return server.execute({"PING"}).text.starts_with("MISCONF"); }));
    expect_failure(server.url(), errc::unavailable, "MISCONF", 300ms);
}

TEST_F(Node, HasTooFewReplicas) {
    (void)server.execute({"CONFIG", "SET", "min-replicas-to-write", "1"});
    expect_failure(server.url(), errc::unavailable, "NOREPLICAS", 300ms);
}

// A master becomes a replica, and a master again with its data: a release requested meanwhile is
// executed, long before the lease would end.
TEST_F(Node, WasAReplicaForAWhile) {
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    (void)server.execute({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_EQ(lock.release(), release_result::unknown);
    (void)server.execute({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(eventually([&] { return !is_held("it"); }));
    EXPECT_TRUE(becomes_clean());
}

//   C: release, or leave after an acquire whose reply is lost | the server: not here, not now | C:
//   repeats | released
TEST_F(Node, CouldNotForAWhile) {
    for (const std::string& words :
         {std::string("-READONLY You can't write against a read only replica."),
          std::string("-MOVED 866 127.0.0.1:7001"), std::string("-NOPERM no right to"),
          std::string("-LOADING Redis is loading the dataset in memory")}) {
        client locks = proxied_client();
        auto lock = locks.acquire("it", {.ttl = long_ttl});
        auto struck = proxy.strike_count();
        proxy.inject({.matches = script(scripts::release),
                      .kind = fault_kind::reply,
                      .reply = words + "\r\n",
                      .times = 3});
        EXPECT_EQ(lock.release(), release_result::unknown) << words;
        EXPECT_TRUE(becomes_clean()) << words;
        EXPECT_EQ(proxy.strike_count(), struck + 3) << words;

        struck = proxy.strike_count();
        proxy.inject({.matches = script(scripts::leave),
                      .kind = fault_kind::reply,
                      .reply = words + "\r\n",
                      .times = 2});
        proxy.inject({.matches = script(scripts::acquire), .kind = fault_kind::lose_reply});
        EXPECT_TRUE(
            failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); }).has_value());
        EXPECT_TRUE(becomes_clean()) << words;
        EXPECT_EQ(proxy.strike_count(), struck + 3) << words;
    }
}

// The requests and replies of one connection.
struct exchange_record {
    redis::pending_request subscription, request;
    std::vector<std::string> pushed;
};

asio::awaitable<void> send_requests(std::shared_ptr<redis::connection> on, exchange_record& all) {
    std::string request;
    redis::append_command(request, std::array<std::string_view, 2>{"GET", "x"});
    std::string subscription;
    redis::append_command(subscription, std::array<std::string_view, 2>{"SUNSUBSCRIBE", "b"});
    on->send_subscription(&all.subscription, subscription);
    on->send(&all.request, request);
    co_await all.subscription.async_wait();
    co_await all.request.async_wait();
    on->close();
}

asio::awaitable<void> run_exchange(std::uint16_t port, asio::io_context& loop,
                                   exchange_record& all) {
    const redis::connection_settings settings;
    auto on = std::make_shared<redis::connection>(settings, "", loop.get_executor());
    const asio::ip::tcp::endpoint server(asio::ip::make_address("127.0.0.1"), port);
    const auto ec = co_await on->open(server);
    EXPECT_FALSE(ec) << ec.message();
    asio::co_spawn(loop, send_requests(on, all), asio::detached);
    std::function<void(const redis::reply&)> pushed = [&all](const redis::reply& push) {
        all.pushed.push_back(push.items.at(0).text + " " + push.items.at(1).text);
    };
    (void)co_await on->read(std::move(pushed));
}

//   the slot of `b` moves away: the server sends sunsubscribe | C, before it has received that:
//   SUNSUBSCRIBE b, GET x | the server: MOVED, and the value | C: the value is GET's
TEST(Subscriptions, ThatEndUnaskedAnswerNothing) {
    const support::scripted_server server([](support::scripted_connection& connection) {
        (void)connection.receive();
        connection.send(
            ">3\r\n$12\r\nsunsubscribe\r\n$1\r\nb\r\n:0\r\n-MOVED 3300 127.0.0.1:7001\r\n");
        while (const auto words = connection.receive())
            connection.send(words->front() == "PING" ? "+PONG\r\n" : "$5\r\nvalue\r\n");
    });
    const auto url = server.url();
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    asio::io_context loop;
    exchange_record all;
    asio::co_spawn(loop, run_exchange(port, loop, all), asio::detached);
    loop.run();
    EXPECT_EQ(all.pushed, std::vector<std::string>{"sunsubscribe b"});
    ASSERT_EQ(all.subscription.earlier_replies.size(), 1U);
    EXPECT_EQ(all.subscription.earlier_replies[0].text, "MOVED 3300 127.0.0.1:7001");
    EXPECT_EQ(all.request.last_reply.text, "value");
}

}  // namespace
