// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The proxy injects the requested faults, and nothing else.
#include <support/eventually.hpp>
#include <support/fault_proxy.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using support::fault_kind;
using support::named;
using support::resp_client;

class Proxy : public testing::Test {
protected:
    std::unique_ptr<resp_client> connect() {
        return std::make_unique<resp_client>(support::endpoint{.port = proxy.port()}, 3s);
    }
    std::string value() { return server.execute({"GET", "n"}).text; }

    support::redis_server server;
    support::fault_proxy proxy{{.port = server.port()}};
};

TEST_F(Proxy, PassesEverythingAndCountsIt) {
    const auto client = connect();
    EXPECT_EQ(client->execute({"HELLO", "3"}).kind, '%');
    EXPECT_EQ(client->execute({"SET", "n", std::string(300'000, 'x')}).text, "OK");
    EXPECT_EQ(client->execute({"GET", "n"}).text.size(), 300'000U);
    client->send({"SUBSCRIBE", "news"});
    EXPECT_EQ(client->receive(3s)->kind, '>');
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    (void)server.execute({"PUBLISH", "news", "hello"});
    EXPECT_EQ(client->receive(3s)->items.at(2).text, "hello");
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    EXPECT_EQ(proxy.count(named("ping")), 2U);
    EXPECT_EQ(proxy.count(support::any_command()), 6U);
    EXPECT_EQ(proxy.strike_count(), 0U);
}

TEST_F(Proxy, PipelinedCommandsKeepTheirAnswers) {
    const auto client = connect();
    for (int i = 0; i < 500; ++i)
        client->send({"INCR", "n"});
    for (int i = 1; i <= 500; ++i)
        EXPECT_EQ(client->receive(3s)->number(), i);
}

TEST_F(Proxy, LosesAReplyAfterTheCommandWasCarriedOut) {
    const auto client = connect();
    proxy.inject({.matches = named("INCR"), .kind = fault_kind::lose_reply, .first_match = 2});
    EXPECT_EQ(client->execute({"INCR", "n"}).number(), 1);
    EXPECT_THROW((void)client->execute({"INCR", "n"}), std::runtime_error);
    EXPECT_EQ(value(), "2");
    EXPECT_EQ(proxy.strike_count(), 1U);
    EXPECT_EQ(connect()->execute({"INCR", "n"}).number(), 3);
}

TEST_F(Proxy, LosesARequestBeforeItArrives) {
    const auto client = connect();
    proxy.inject({.matches = named("INCR"), .kind = fault_kind::lose_request});
    EXPECT_THROW((void)client->execute({"INCR", "n"}), std::runtime_error);
    EXPECT_EQ(server.execute({"EXISTS", "n"}).number(), 0);
}

TEST_F(Proxy, CutsAReplyInTheMiddle) {
    (void)server.execute({"SET", "n", "0123456789"});
    const auto client = connect();
    proxy.inject({.matches = named("GET"), .kind = fault_kind::cut_reply});
    EXPECT_THROW((void)client->execute({"GET", "n"}), std::runtime_error);
}

TEST_F(Proxy, RepeatsARequest) {
    const auto client = connect();
    proxy.inject({.matches = named("INCR"), .kind = fault_kind::repeat_request});
    EXPECT_EQ(client->execute({"INCR", "n"}).number(), 1);
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    EXPECT_EQ(value(), "2");
}

TEST_F(Proxy, DelaysARequestOrAReply) {
    const auto client = connect();
    for (const fault_kind which : {fault_kind::delay_request, fault_kind::delay_reply}) {
        proxy.inject({.matches = named("INCR"), .kind = which, .delay = 200ms});
        const auto began = std::chrono::steady_clock::now();
        (void)client->execute({"INCR", "n"});
        EXPECT_GE(std::chrono::steady_clock::now() - began, 200ms);
    }
    EXPECT_EQ(value(), "2");
}

TEST_F(Proxy, AnswersInTheServersPlace) {
    const auto client = connect();
    proxy.inject(
        {.matches = named("INCR"), .kind = fault_kind::reply, .reply = "-OOM no\r\n", .times = 2});
    client->send({"PING"});
    client->send({"INCR", "n"});
    client->send({"PING"});
    EXPECT_EQ(client->receive(3s)->text, "PONG");
    EXPECT_EQ(client->receive(3s)->text, "OOM no");
    EXPECT_EQ(client->receive(3s)->text, "PONG");
    EXPECT_EQ(client->execute({"INCR", "n"}).text, "OOM no");
    EXPECT_EQ(client->execute({"INCR", "n"}).number(), 1);
}

TEST_F(Proxy, SwallowsSilently) {
    const auto client = connect();
    proxy.inject({.matches = named("INCR"), .kind = fault_kind::swallow});
    client->send({"INCR", "n"});
    EXPECT_FALSE(client->receive(200ms).has_value());
    client->send({"PING"});
    EXPECT_FALSE(client->receive(200ms).has_value());
    EXPECT_EQ(connect()->execute({"INCR", "n"}).number(), 1);
}

TEST_F(Proxy, FreezesAndThaws) {
    const auto client = connect();
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    proxy.freeze(true);
    client->send({"INCR", "n"});
    EXPECT_FALSE(client->receive(200ms).has_value());
    proxy.freeze(false);
    EXPECT_EQ(client->receive(3s)->number(), 1);
}

TEST_F(Proxy, RefusesAndKills) {
    const auto client = connect();
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    proxy.refuse(true);
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    EXPECT_THROW((void)connect(), std::runtime_error);
    proxy.kill_connections();
    EXPECT_THROW((void)client->execute({"PING"}), std::runtime_error);
    proxy.refuse(false);
    EXPECT_EQ(connect()->execute({"PING"}).text, "PONG");
    EXPECT_EQ(proxy.connections_ever(), 2U);
}

TEST_F(Proxy, DropsPushesOnly) {
    const auto client = connect();
    (void)client->execute({"HELLO", "3"});
    client->send({"SUBSCRIBE", "news"});
    EXPECT_TRUE(client->receive(3s).has_value());
    proxy.drop_pushes(true);
    EXPECT_EQ(server.execute({"PUBLISH", "news", "lost"}).number(), 1);
    EXPECT_EQ(client->execute({"PING"}).text, "PONG");
    proxy.drop_pushes(false);
    EXPECT_EQ(server.execute({"PUBLISH", "news", "found"}).number(), 1);
    EXPECT_EQ(client->receive(3s)->items.at(2).text, "found");
}

// The servers of the support library keep or lose their data as they are told, need their password,
// and speak TLS with certificates of their own authority.
TEST(RedisServer, StartsStopsAndKeepsWhatItIsTold) {
    support::redis_server keeping({.config = {"appendonly yes", "appendfsync always"}});
    (void)keeping.execute({"SET", "n", "1"});
    keeping.kill9();
    keeping.start();
    EXPECT_EQ(keeping.execute({"GET", "n"}).text, "1");
    keeping.terminate();
    keeping.start(false);
    EXPECT_TRUE(keeping.execute({"GET", "n"}).is_null);

    support::redis_server guarded({.config = {"requirepass sesame"}, .password = "sesame"});
    EXPECT_EQ(guarded.execute({"PING"}).text, "PONG");

    support::redis_server secure({.tls = true});
    EXPECT_EQ(secure.execute({"PING"}).text, "PONG");
    EXPECT_TRUE(std::filesystem::exists(secure.folder().file("ca.crt")));
}

}  // namespace
