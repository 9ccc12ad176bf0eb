// Nodes of clusters, Sentinels, and servers that cannot serve for now: what is said, and what is
// still carried out when they can again.
#include "scene.hpp"

#include <redis/connection.hpp>
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

class Node : public testing::Test, protected scene {
protected:
    void expect_failure(const std::string& url, errc reason, const std::string& says,
                        pawl::duration wait = pawl::forever) {
        client locks = at(url);
        const auto waiting =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = wait}); });
        ASSERT_TRUE(waiting.has_value());
        EXPECT_EQ(waiting->reason, reason) << waiting;
        EXPECT_NE(waiting->sentence.find(says), std::string::npos) << waiting;
        const auto once = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(once.has_value());
        EXPECT_EQ(once->reason, reason) << once;
        EXPECT_NE(once->sentence.find(says), std::string::npos) << once;
    }
};

// Its other nodes have most of the slots: what is renewed together would be lost together.
TEST_F(Node, OfAClusterIsRefusedInTheNativeLayout) {
    support::redis_server other({.config = {"cluster-enabled yes"}});
    (void)other.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    expect_failure(other.url(), errc::unsupported, "is a node of a cluster");
    expect_failure(other.url("?key=lock:%7Bname%7D"), errc::unsupported, "is a node of a cluster");
    // So also where INFO may not be read.
    (void)other.ask({"ACL", "SETUSER", "few", "on", ">few", "~*", "&*", "+@all", "-info"});
    expect_failure("redis://few:few@127.0.0.1:" + std::to_string(other.port()), errc::unsupported,
                   "is a node of a cluster");
}

TEST_F(Node, OfSentinelIsNamed) {
    support::redis_server other({.sentinel = true});
    expect_failure(other.url(), errc::unsupported, "is a Sentinel");
}

// A script that does not end keeps it busy.
TEST_F(Node, IsBusyAtTheGreeting) {
    (void)server.ask({"CONFIG", "SET", "lua-time-limit", "1"});
    const auto slow = server.connect();
    slow->send({"EVAL", "while true do end", "0"});
    ASSERT_TRUE(eventually([&] { return server.ask({"TIME"}).is_error(); }));
    expect_failure(server.url(), errc::unavailable, "BUSY", 300ms);
    client locks = direct();
    held_lock got;
    beside waiter([&] { got = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually(
        [&] { return notes.text().find("Waiting for the service: ") != std::string::npos; }));
    (void)server.ask({"SCRIPT", "KILL"});
    waiter.join();
    EXPECT_TRUE(got.owns_lock());
}

// A snapshot that failed: the server refuses to write, and to answer PING.
TEST_F(Node, CannotSaveItsDataAtTheGreeting) {
    // In the place of the snapshot, where it cannot be written.
    std::filesystem::create_directory(server.folder().file("dump.rdb"));
    (void)server.ask({"CONFIG", "SET", "save", "3600 1000"});
    (void)server.ask({"BGSAVE"});
    ASSERT_TRUE(eventually([&] { return server.ask({"PING"}).text.starts_with("MISCONF"); }));
    expect_failure(server.url(), errc::unavailable, "MISCONF", 300ms);
}

TEST_F(Node, HasTooFewReplicas) {
    (void)server.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
    expect_failure(server.url(), errc::unavailable, "NOREPLICAS", 300ms);
}

// A master that is made a replica, and a master again with its data: the release that was asked for
// meanwhile is carried out, long before the lease would end.
TEST_F(Node, WasAReplicaForAWhile) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    (void)server.ask({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_EQ(lock.release(), release_result::unknown);
    (void)server.ask({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(eventually([&] { return !held("it"); }));
    EXPECT_TRUE(clean());
}

//   C: release, or leave after an acquire whose answer is lost | the server: not here, not now |
//   C: again | released
TEST_F(Node, CouldNotForAWhile) {
    for (const std::string& words :
         {std::string("-READONLY You can't write against a read only replica."),
          std::string("-MOVED 866 127.0.0.1:7001"), std::string("-NOPERM no right to"),
          std::string("-LOADING Redis is loading the dataset in memory")}) {
        client locks = proxied();
        auto lock = locks.acquire("it", {.ttl = long_ttl});
        auto struck = proxy.struck();
        proxy.inject({.which = script(scripts::release),
                      .what = fate::answer,
                      .text = words + "\r\n",
                      .times = 3});
        EXPECT_EQ(lock.release(), release_result::unknown) << words;
        EXPECT_TRUE(clean()) << words;
        EXPECT_EQ(proxy.struck(), struck + 3) << words;

        // A script may meet that one after it has written: nothing is repeated.
        if (words.starts_with("-NOPERM")) continue;
        struck = proxy.struck();
        proxy.inject({.which = script(scripts::leave),
                      .what = fate::answer,
                      .text = words + "\r\n",
                      .times = 2});
        proxy.inject({.which = script(scripts::acquire), .what = fate::lose_reply});
        EXPECT_TRUE(
            failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); }).has_value());
        EXPECT_TRUE(clean()) << words;
        EXPECT_EQ(proxy.struck(), struck + 3) << words;
    }
}

// What was asked for over one connection, and how it was answered.
struct asked_twice {
    redis::pending subscription, question;
    std::vector<std::string> pushed;
};

asio::awaitable<void> talk(std::shared_ptr<redis::connection> on, asked_twice& all) {
    std::string question;
    redis::append_command(question, std::array<std::string_view, 2>{"GET", "x"});
    std::string subscription;
    redis::append_command(subscription, std::array<std::string_view, 2>{"SUNSUBSCRIBE", "b"});
    on->send_subscription(all.subscription, subscription);
    on->send(all.question, question);
    co_await all.subscription.async_answer();
    co_await all.question.async_answer();
    on->close();
}

asio::awaitable<void> converse(const redis::options& where, asio::io_context& loop,
                               asked_twice& all) {
    auto on = std::make_shared<redis::connection>(where, loop.get_executor());
    const asio::ip::tcp::endpoint server(asio::ip::make_address(where.host), where.port);
    const auto ec = co_await on->open(server);
    EXPECT_FALSE(ec) << ec.message();
    asio::co_spawn(loop, talk(on, all), asio::detached);
    std::function<void(const redis::reply&)> pushed = [&all](const redis::reply& push) {
        all.pushed.push_back(push.items.at(0).text + " " + push.items.at(1).text);
    };
    (void)co_await on->read(std::move(pushed));
}

//   the slot of `b` moves away: the server says sunsubscribe | C, before it has heard that:
//   SUNSUBSCRIBE b, GET x | the server: MOVED, and the value | C: the value is GET's
TEST(Subscriptions, ThatEndUnaskedAnswerNothing) {
    const support::scripted_server server([](support::conversation& with) {
        (void)with.receive();
        with.send(">3\r\n$12\r\nsunsubscribe\r\n$1\r\nb\r\n:0\r\n-MOVED 3300 127.0.0.1:7001\r\n");
        while (const auto words = with.receive())
            with.send(words->front() == "PING" ? "+PONG\r\n" : "$5\r\nvalue\r\n");
    });
    redis::options where;
    where.host = "127.0.0.1";
    const auto url = server.url();
    where.port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    asio::io_context loop;
    asked_twice all;
    asio::co_spawn(loop, converse(where, loop, all), asio::detached);
    loop.run();
    EXPECT_EQ(all.pushed, std::vector<std::string>{"sunsubscribe b"});
    ASSERT_EQ(all.subscription.earlier.size(), 1U);
    EXPECT_EQ(all.subscription.earlier[0].text, "MOVED 3300 127.0.0.1:7001");
    EXPECT_EQ(all.question.answer.text, "value");
}

}  // namespace
