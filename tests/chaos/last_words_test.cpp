// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Servers that refuse a client say why and close the connection. These words are the reason in the
// message, whatever is between the client and the server.
#include "cluster_fixture.hpp"

#include <support/redlock_group.hpp>
#include <support/scripted_server.hpp>
#include <support/sentinel_group.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;
using support::redis_server;
using support::scripted_connection;
using support::scripted_server;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A node of a cluster continues in another way.
const std::string full = "ERR max number of clients";

class LastWords : public cluster_fixture {
protected:
    std::string sentence_at(const std::string& url, errc reason) {
        const auto failed = failure_at(url, pawl::duration::zero());
        if (!failed) {
            ADD_FAILURE() << "granted";
            return {};
        }
        EXPECT_EQ(failed->reason, reason) << failed;
        return failed->sentence;
    }
    // The test's own connection stays.
    static void admit_nobody(redis_server& server) {
        ASSERT_EQ(server.execute({"CONFIG", "SET", "maxclients", "1"}).text, "OK");
    }
    static std::string name_of(const redis_server& server) {
        return "127.0.0.1:" + std::to_string(server.port());
    }
};

//   S closes at once, so the client's handshake may meet a reset before the client has read
TEST_F(LastWords, OfAFullServerAreTheReason) {
    redis_server server;
    admit_nobody(server);
    for (int i = 0; i < 5; ++i)
        EXPECT_THAT(sentence_at(server.url("?connect_timeout=1200"), errc::unreachable),
                    AllOf(HasSubstr(full), HasSubstr("raise maxclients"),
                          Not(HasSubstr("is it Redis?")), Not(HasSubstr("the URL is right"))));
    client examined(pawl::from_url(server.url("?connect_timeout=1200")));
    try {
        (void)examined.examine();
        ADD_FAILURE() << "examined";
    } catch (const pawl::error& e) {
        EXPECT_THAT(e.what(), HasSubstr(full));
    }
}

TEST_F(LastWords, OfAFullServerDoNotEndAWait) {
    redis_server server;
    admit_nobody(server);
    client locks = client_at(server.url());
    held_lock lock;
    background_task waiter(
        [&] { lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually([&] { return client_log.text().find(full) != std::string::npos; }));
    ASSERT_EQ(server.execute({"CONFIG", "SET", "maxclients", "100"}).text, "OK");
    waiter.join();
    EXPECT_TRUE(lock.owns_lock());
}

TEST_F(LastWords, OfFullNodesOfRedlockAreTheReason) {
    support::redlock_group group(3);
    for (std::size_t i = 0; i < 3; ++i)
        admit_nobody(group.node(i));
    client locks = client_at(group.url("?connect_timeout=1200"));
    try {
        (void)locks.try_acquire("it", {.ttl = 2s});
        ADD_FAILURE() << "granted";
    } catch (const pawl::error& e) {
        EXPECT_THAT(e.what(), HasSubstr(full));
    }
}

TEST_F(LastWords, OfFullNodesOfAClusterAreTheReason) {
    cluster_group group({.masters = 1});
    admit_nobody(group.node(0));
    EXPECT_THAT(sentence_at(group.url("?connect_timeout=1200"), errc::unreachable),
                HasSubstr(full));
}

TEST_F(LastWords, OfAFullMasterNameTheMaster) {
    support::sentinel_group group;
    admit_nobody(group.server(0));
    EXPECT_THAT(sentence_at(group.url("?connect_timeout=1200"), errc::unreachable),
                AllOf(HasSubstr(full), HasSubstr("the master " + name_of(group.server(0)))));
}

TEST_F(LastWords, OfAServerInProtectedModeAreTheReason) {
    const std::string denied =
        "-DENIED Redis is running in protected mode because protected mode is enabled and no "
        "password is set for the default user. In this mode connections are only accepted from "
        "the loopback interface. If you want to connect from external computers to Redis you may "
        "adopt one of the following solutions: 1) Just disable protected mode sending the command "
        "'CONFIG SET protected-mode no' from the loopback interface.\r\n";
    const scripted_server server([&](scripted_connection& connection) { connection.send(denied); });
    for (int i = 0; i < 20; ++i)
        EXPECT_THAT(sentence_at(server.url(), errc::refused),
                    AllOf(HasSubstr("DENIED Redis is running in protected mode"),
                          HasSubstr("loopback interface.\""), HasSubstr("set a password there")));
}

TEST_F(LastWords, OfAMasterThatRefusesThePasswordNameTheMaster) {
    support::sentinel_group group({.password = "secret"});
    EXPECT_THAT(sentence_at("redis+sentinel://:wrong@" + group.url().substr(17), errc::refused),
                AllOf(HasSubstr("the master " + name_of(group.server(0))), HasSubstr("WRONGPASS")));
}

//   two of three Sentinels refuse the client, the third is dead | no majority can name a master
//   until the password is another one, so a wait without an end must end
TEST_F(LastWords, OfAMajorityOfSentinelsEndAWait) {
    support::sentinel_group group({.sentinel_password = "secret"});
    group.sentinel(2).kill9();
    const auto failed = failure_at(group.url(), pawl::forever);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_THAT(failed->sentence, AllOf(HasSubstr("the Sentinel 127.0.0.1:"), HasSubstr("NOAUTH"),
                                        HasSubstr("sentinel_password_file")));
}

TEST_F(LastWords, MissingAtAnOpenPortAreSaidToBe) {
    const scripted_server server([](scripted_connection& connection) {
        while (connection.receive()) {}
    });
    EXPECT_THAT(
        sentence_at(server.url("?connect_timeout=700&reply_timeout=700"), errc::unreachable),
        AllOf(HasSubstr("it accepted the connection and "), HasSubstr("hangs"),
              Not(HasSubstr("reached"))));
    client locks = client_at(server.url("?connect_timeout=3000&reply_timeout=3000"));
    try {
        (void)locks.acquire("it", {.ttl = 2s, .wait = 300ms});
        ADD_FAILURE() << "granted";
    } catch (const pawl::error& e) {
        EXPECT_THAT(e.what(), HasSubstr("it accepted the connection and has said nothing so far"));
    }
}

}  // namespace
