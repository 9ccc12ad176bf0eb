// The man in the middle does what he is told, and nothing else.
#include <support/eventually.hpp>
#include <support/fault_proxy.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using support::fate;
using support::named;
using support::resp_client;

class Proxy : public testing::Test {
protected:
    std::unique_ptr<resp_client> dial() {
        return std::make_unique<resp_client>(support::endpoint{.port = proxy.port()}, 3s);
    }
    std::string value() { return server.ask({"GET", "n"}).text; }

    support::redis_server server;
    support::fault_proxy proxy{{.port = server.port()}};
};

TEST_F(Proxy, PassesEverythingAndCountsIt) {
    const auto client = dial();
    EXPECT_EQ(client->ask({"HELLO", "3"}).kind, '%');
    EXPECT_EQ(client->ask({"SET", "n", std::string(300'000, 'x')}).text, "OK");
    EXPECT_EQ(client->ask({"GET", "n"}).text.size(), 300'000U);
    client->send({"SUBSCRIBE", "news"});
    EXPECT_EQ(client->receive(3s)->kind, '>');
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    (void)server.ask({"PUBLISH", "news", "hello"});
    EXPECT_EQ(client->receive(3s)->items.at(2).text, "hello");
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    EXPECT_EQ(proxy.count(named("ping")), 2U);
    EXPECT_EQ(proxy.count(support::any_command()), 6U);
    EXPECT_EQ(proxy.struck(), 0U);
}

TEST_F(Proxy, PipelinedCommandsKeepTheirAnswers) {
    const auto client = dial();
    for (int i = 0; i < 500; ++i)
        client->send({"INCR", "n"});
    for (int i = 1; i <= 500; ++i)
        EXPECT_EQ(client->receive(3s)->number(), i);
}

TEST_F(Proxy, LosesAReplyAfterTheCommandWasCarriedOut) {
    const auto client = dial();
    proxy.inject({.which = named("INCR"), .what = fate::lose_reply, .nth = 2});
    EXPECT_EQ(client->ask({"INCR", "n"}).number(), 1);
    EXPECT_THROW((void)client->ask({"INCR", "n"}), std::runtime_error);
    EXPECT_EQ(value(), "2");
    EXPECT_EQ(proxy.struck(), 1U);
    EXPECT_EQ(dial()->ask({"INCR", "n"}).number(), 3);
}

TEST_F(Proxy, LosesARequestBeforeItArrives) {
    const auto client = dial();
    proxy.inject({.which = named("INCR"), .what = fate::lose_request});
    EXPECT_THROW((void)client->ask({"INCR", "n"}), std::runtime_error);
    EXPECT_EQ(server.ask({"EXISTS", "n"}).number(), 0);
}

TEST_F(Proxy, CutsAReplyInTheMiddle) {
    (void)server.ask({"SET", "n", "0123456789"});
    const auto client = dial();
    proxy.inject({.which = named("GET"), .what = fate::cut_reply});
    EXPECT_THROW((void)client->ask({"GET", "n"}), std::runtime_error);
}

TEST_F(Proxy, RepeatsARequest) {
    const auto client = dial();
    proxy.inject({.which = named("INCR"), .what = fate::repeat_request});
    EXPECT_EQ(client->ask({"INCR", "n"}).number(), 1);
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    EXPECT_EQ(value(), "2");
}

TEST_F(Proxy, DelaysARequestOrAReply) {
    const auto client = dial();
    for (const fate which : {fate::delay_request, fate::delay_reply}) {
        proxy.inject({.which = named("INCR"), .what = which, .by = 200ms});
        const auto begun = std::chrono::steady_clock::now();
        (void)client->ask({"INCR", "n"});
        EXPECT_GE(std::chrono::steady_clock::now() - begun, 200ms);
    }
    EXPECT_EQ(value(), "2");
}

TEST_F(Proxy, AnswersInTheServersPlace) {
    const auto client = dial();
    proxy.inject({.which = named("INCR"), .what = fate::answer, .text = "-OOM no\r\n", .times = 2});
    client->send({"PING"});
    client->send({"INCR", "n"});
    client->send({"PING"});
    EXPECT_EQ(client->receive(3s)->text, "PONG");
    EXPECT_EQ(client->receive(3s)->text, "OOM no");
    EXPECT_EQ(client->receive(3s)->text, "PONG");
    EXPECT_EQ(client->ask({"INCR", "n"}).text, "OOM no");
    EXPECT_EQ(client->ask({"INCR", "n"}).number(), 1);
}

TEST_F(Proxy, SwallowsSilently) {
    const auto client = dial();
    proxy.inject({.which = named("INCR"), .what = fate::swallow});
    client->send({"INCR", "n"});
    EXPECT_FALSE(client->receive(200ms).has_value());
    client->send({"PING"});
    EXPECT_FALSE(client->receive(200ms).has_value());
    EXPECT_EQ(dial()->ask({"INCR", "n"}).number(), 1);
}

TEST_F(Proxy, FreezesAndThaws) {
    const auto client = dial();
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    proxy.freeze(true);
    client->send({"INCR", "n"});
    EXPECT_FALSE(client->receive(200ms).has_value());
    proxy.freeze(false);
    EXPECT_EQ(client->receive(3s)->number(), 1);
}

TEST_F(Proxy, RefusesAndKills) {
    const auto client = dial();
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    proxy.refuse(true);
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    EXPECT_THROW((void)dial(), std::runtime_error);
    proxy.kill_connections();
    EXPECT_THROW((void)client->ask({"PING"}), std::runtime_error);
    proxy.refuse(false);
    EXPECT_EQ(dial()->ask({"PING"}).text, "PONG");
    EXPECT_EQ(proxy.connections_ever(), 2U);
}

TEST_F(Proxy, DropsPushesOnly) {
    const auto client = dial();
    (void)client->ask({"HELLO", "3"});
    client->send({"SUBSCRIBE", "news"});
    EXPECT_TRUE(client->receive(3s).has_value());
    proxy.drop_pushes(true);
    EXPECT_EQ(server.ask({"PUBLISH", "news", "lost"}).number(), 1);
    EXPECT_EQ(client->ask({"PING"}).text, "PONG");
    proxy.drop_pushes(false);
    EXPECT_EQ(server.ask({"PUBLISH", "news", "found"}).number(), 1);
    EXPECT_EQ(client->receive(3s)->items.at(2).text, "found");
}

// A TLS server of the support library speaks TLS only, with certificates that its own authority
// signed.
TEST(RedisServer, StartsStopsAndKeepsWhatItIsTold) {
    support::redis_server keeping({.config = {"appendonly yes", "appendfsync always"}});
    (void)keeping.ask({"SET", "n", "1"});
    keeping.kill9();
    keeping.start();
    EXPECT_EQ(keeping.ask({"GET", "n"}).text, "1");
    keeping.terminate();
    keeping.start(false);
    EXPECT_TRUE(keeping.ask({"GET", "n"}).null);

    support::redis_server guarded({.config = {"requirepass sesame"}, .password = "sesame"});
    EXPECT_EQ(guarded.ask({"PING"}).text, "PONG");

    support::redis_server secure({.tls = true});
    EXPECT_EQ(secure.ask({"PING"}).text, "PONG");
    EXPECT_TRUE(std::filesystem::exists(secure.folder().file("ca.crt")));
}

}  // namespace
