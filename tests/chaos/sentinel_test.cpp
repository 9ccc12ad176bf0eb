// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A master that Sentinels monitor: failovers, Sentinels that disagree or do not answer, and URLs
// that are wrong.
#include "sentinel_fixture.hpp"

#include <pawl/redis_rights.hpp>

#include <support/temp_folder.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace chaos;
using support::sentinel_group;

class Sentinel : public sentinel_fixture {};

//   C: holds a | the Sentinels promote B; A still answers for some 10 s | C: is at B, which renews
//   a | C: acquires b there, with a larger token
TEST_F(Sentinel, IsFollowedWhileTheOldMasterStillAnswers) {
    sentinel_group group({.replicas = 1});
    client locks = client_at(group.url());
    const auto before = locks.acquire("a", {.ttl = long_ttl});
    EXPECT_EQ(epoch_of(before), 0U);
    ASSERT_TRUE(group.is_replicated());
    group.begin_failover();
    ASSERT_TRUE(group.eventually_moved_from(group.server(0).port()));
    EXPECT_TRUE(eventually([&] {
        return client_log.text().find("connected to 127.0.0.1:" +
                                      std::to_string(group.server(1).port())) != std::string::npos;
    }));
    EXPECT_EQ(group.server(0).execute({"SET", "x", "y"}).text, "OK") << "it is a replica already";
    const auto after = locks.acquire("b", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(before.state(), lock_state::held);
    EXPECT_EQ(epoch_of(after), group.epoch());
    EXPECT_GT(after.token(), before.token());
    EXPECT_EQ(group.server(0).execute({"EXISTS", "pawl:{b}"}).number(), 0);
}

//   both replicas stop | C: holds it, which no replica has | the master dies, the replicas go on,
//   one is promoted | C: it is lost | D: acquires it, with a larger token, although the counter is
//   lost
TEST_F(Sentinel, AHoldThatNoReplicaHasIsLostAndItsTokenIsNotRepeated) {
    sentinel_group group({.replicas = 2});
    client holds = client_at(group.url()), acquires = client_at(group.url());
    (void)holds.acquire("other", {.ttl = 2s}).release();
    ASSERT_TRUE(group.is_replicated());
    group.server(1).freeze();
    group.server(2).freeze();
    // Otherwise they would find the new data in their sockets.
    (void)group.server(0).execute({"CLIENT", "KILL", "TYPE", "replica"});
    const auto lock = holds.acquire("it", {.ttl = long_ttl});
    const loss_recorder loss(lock);
    group.server(0).kill9();
    group.server(1).thaw();
    group.server(2).thaw();
    const auto next = acquires.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(loss.is_told_within(10s)) << client_log.text();
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::failed_over);
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(epoch_of(next), group.epoch());
    EXPECT_GE(epoch_of(next), 1U);
}

// The master freezes, another one is promoted, and the first one goes on as if nothing had
// happened. It has a client that it serves; nobody follows it.
TEST_F(Sentinel, AnOldMasterThatComesBackIsNotFollowed) {
    sentinel_group group({.replicas = 1});
    client locks = client_at(group.url());
    (void)locks.acquire("it", {.ttl = 2s}).release();
    ASSERT_TRUE(group.is_replicated());
    const auto old_port = group.server(0).port();
    group.server(0).freeze();
    const auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GE(epoch_of(lock), 1U);
    group.server(0).thaw();
    client fresh = client_at(group.url());
    EXPECT_FALSE(fresh.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_NE(group.master_port(), old_port);
    EXPECT_EQ(lock.state(), lock_state::held);
}

// Waiters are granted the lock by a message, also where tokens have an epoch.
TEST_F(Sentinel, AHandOffIsOneMessageInEveryEpoch) {
    sentinel_group group({.replicas = 1});
    ASSERT_TRUE(group.is_replicated());
    group.begin_failover();
    ASSERT_TRUE(group.eventually_moved_from(group.server(0).port()));
    client holds = client_at(group.url()), waits = client_at(group.url());
    auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock next;
    background_task waiter(
        [&] { next = waits.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return holds.inspect("it").waiters == 1; }));
    const auto pushes = waits.statistics().pushes;
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(next.token(), lock.token());
    EXPECT_GT(waits.statistics().pushes, pushes);
    EXPECT_EQ(epoch_of(next), group.epoch());
}

TEST_F(Sentinel, OneIsEnoughToFindTheOthers) {
    sentinel_group group({.replicas = 1});
    client locks = client_at(
        "redis+sentinel://127.0.0.1:" + std::to_string(group.sentinel(0).port()) + "/orders");
    (void)locks.acquire("it", {.ttl = 2s}).release();
    ASSERT_TRUE(group.is_replicated());
    group.sentinel(0).kill9();
    (void)group.sentinel(1).execute({"SENTINEL", "FAILOVER", "orders"});
    EXPECT_TRUE(eventually([&] {
        return client_log.text().find("connected to 127.0.0.1:" +
                                      std::to_string(group.server(1).port())) != std::string::npos;
    })) << client_log.text();
    EXPECT_GE(epoch_of(locks.acquire("it", {.ttl = 2s, .wait = patience})), 1U);
}

// Another Sentinel has the same name for a server of its own, and nobody knows it.
TEST_F(Sentinel, AnIsolatedOneDoesNotDecide) {
    sentinel_group group;
    sentinel_group isolated({.sentinels = 1});
    client locks =
        client_at("redis+sentinel://127.0.0.1:" + std::to_string(isolated.sentinel(0).port()) +
                  group.url().substr(group.url().find(',')));
    const auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(group.server(0).execute({"EXISTS", "pawl:{it}"}).number(), 1);
    group.sentinel(1).kill9();
    group.sentinel(2).kill9();
    const auto failed =
        failure_at("redis+sentinel://127.0.0.1:" + std::to_string(isolated.sentinel(0).port()) +
                       group.url().substr(group.url().find(',')),
                   2s);
    ASSERT_TRUE(failed.has_value()) << client_log.text();
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_THAT(failed->sentence, testing::AllOf(testing::HasSubstr("must agree"),
                                                 testing::HasSubstr("names 127.0.0.1:")));
}

// A master goes on serving its clients while the Sentinels are away.
TEST_F(Sentinel, AreNotNeededForAConnectedClient) {
    sentinel_group group;
    client locks = client_at(group.url());
    const auto lock = locks.acquire("it", {.ttl = 2s});
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        group.sentinel(i).freeze();
    EXPECT_TRUE(locks.acquire("other", {.ttl = 2s}).owns_lock());
    // Longer than the ttl: the lock is renewed meanwhile.
    std::this_thread::sleep_for(2500ms);
    EXPECT_EQ(lock.state(), lock_state::held);
}

TEST_F(Sentinel, ThatKnowNoSuchMasterSayWhichTheyKnow) {
    sentinel_group group;
    const auto failed = failure_at(group.url().replace(group.url().rfind('/'), 7, "/order"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::bad_option) << failed;
    EXPECT_THAT(failed->sentence,
                testing::HasSubstr("knows no master 'order'; give one of these: orders."));
}

TEST_F(Sentinel, ThatAreServersAreNamed) {
    support::redis_server server;
    const auto failed =
        failure_at("redis+sentinel://127.0.0.1:" + std::to_string(server.port()) + "/orders");
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported) << failed;
    EXPECT_THAT(failed->sentence, testing::HasSubstr("answers as a server, not as a Sentinel"));
}

TEST_F(Sentinel, WithAPasswordOfTheirOwn) {
    sentinel_group group({.sentinel_password = "quiet"});
    const auto failed = failure_at(group.url());
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_THAT(failed->sentence, testing::AllOf(testing::HasSubstr("the Sentinel 127.0.0.1:"),
                                                 testing::HasSubstr("sentinel_password_file")));
    const support::temp_folder folder;
    std::ofstream(folder.file("password")) << "quiet\n";
    std::filesystem::permissions(folder.file("password"), std::filesystem::perms(0600));
    client locks = client_at(group.url("?sentinel_password_file=" + folder.file("password")));
    EXPECT_TRUE(locks.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock());
}

TEST_F(Sentinel, MayHaveTlsWhereTheServersHaveNone) {
    sentinel_group group({.sentinels = 1, .sentinel_tls = true});
    const auto ca = group.sentinel(0).folder().file("ca.crt");
    client locks = client_at(group.url("?sentinel_tls=yes&sentinel_ca=" + ca));
    EXPECT_TRUE(locks.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock());
    const auto wrong = group.url("?sentinel_tls=yes&sentinel_tls_name=other&sentinel_ca=" + ca);
    const auto failed = failure_at(wrong);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_THAT(failed->sentence, testing::HasSubstr("certificate is not for 'other'"));
}

// The rule of `pawl acl` is enough, and each part of it is needed.
TEST_F(Sentinel, NeedOnlyTheRightsOfTheRule) {
    const auto rules = pawl::redis::least_rights("redis+sentinel://h/orders", {});
    ASSERT_EQ(rules.size(), 2U);
    std::istringstream rule(rules[1].line("few", "few"));
    support::command_words rights;
    for (std::string word; rule >> word;)
        rights.push_back(word);
    rights[0] = "SETUSER";
    rights.insert(rights.begin(), "ACL");
    sentinel_group group({.replicas = 1, .sentinels = 1});
    const auto allow = [&](const support::command_words& words) {
        ASSERT_EQ(group.sentinel(0).execute(words).text, "OK");
    };
    const support::temp_folder folder;
    std::ofstream(folder.file("password")) << "few\n";
    std::filesystem::permissions(folder.file("password"), std::filesystem::perms(0600));
    const auto url =
        group.url("?sentinel_user=few&sentinel_password_file=" + folder.file("password"));
    allow(rights);
    {
        client locks = client_at(url);
        EXPECT_TRUE(locks.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock());
    }
    const auto wrong_name = "/orders";
    EXPECT_EQ(failure_at(std::string(url).replace(url.rfind(wrong_name), 7, "/order"))->reason,
              errc::bad_option);
    for (const auto& log : group.sentinel(0).execute({"ACL", "LOG"}).items)
        ADD_FAILURE() << "refused: " << log.items.at(7).text;
    // INFO and MASTERS are for sentences only.
    for (const std::string needed :
         {"+ping", "+subscribe", "+sentinel|myid", "+sentinel|master",
          "+sentinel|get-master-addr-by-name", "+sentinel|sentinels", "&+switch-master"}) {
        auto fewer = rights;
        std::erase(fewer, needed);
        ASSERT_EQ(fewer.size() + 1, rights.size()) << needed;
        allow(fewer);
        EXPECT_TRUE(failure_at(url, 2s).has_value()) << "without " << needed;
    }
}

TEST_F(Sentinel, AndServersMayHaveDifferentPasswords) {
    sentinel_group group({.password = "loud"});
    const auto failed = failure_at(group.url());
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    auto url = group.url();
    client locks = client_at(url.insert(url.find("//") + 2, ":loud@"));
    EXPECT_TRUE(locks.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock());
}

TEST_F(Sentinel, AreExaminedOneByOne) {
    sentinel_group group({.replicas = 1});
    client locks = client_at(group.url());
    (void)locks.acquire("it", {.ttl = 2s});
    group.sentinel(2).kill9();
    std::string rows;
    ASSERT_TRUE(eventually(
        [&] {
            const auto report = locks.examine();
            rows.clear();
            for (const auto& each : report.findings)
                rows += each.topic + " @" + each.node + ": " + each.fact + "\n";
            return rows.find("sentinel @127.0.0.1:" + std::to_string(group.sentinel(2).port()) +
                             ": redis") == std::string::npos &&
                   rows.find("cannot be reached") != std::string::npos;
        },
        30s))
        << rows;  // a Sentinel that answered is asked again after 10 s
    EXPECT_THAT(
        rows, testing::HasSubstr("sentinel @127.0.0.1:" + std::to_string(group.sentinel(0).port()) +
                                 ": names 127.0.0.1:" + std::to_string(group.server(0).port())));
    EXPECT_THAT(rows, testing::HasSubstr("3 Sentinels, 2 must agree"));
    EXPECT_THAT(rows, testing::HasSubstr("min-replicas-to-write"));
}

}  // namespace
