// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durable acquires: real replicas that are away, slow, or promoted.
#include "redis_fixture.hpp"

#include <support/cluster_group.hpp>
#include <support/sentinel_group.hpp>

#include <gmock/gmock.h>

#include <array>
#include <charconv>

namespace {

using namespace chaos;
using pawl::durability;
using testing::HasSubstr;

bool is_replica_online(const std::string& info, std::size_t index) {
    const auto begin = info.find("slave" + std::to_string(index) + ":");
    return begin != std::string::npos &&
           info.substr(begin, info.find('\n', begin) - begin).find("state=online") !=
               std::string::npos;
}

class Durability : public testing::Test, public redis_fixture {
protected:
    // Else the server waits for 5 s before its first copy to a replica.
    Durability() : redis_fixture({.config = {"repl-diskless-sync-delay 0"}}) {
        EXPECT_TRUE(eventually([&] {
            const auto info = server.execute({"INFO", "replication"}).text;
            return is_replica_online(info, 0) && is_replica_online(info, 1);
        }));
    }

    static std::vector<std::string> config_of_replica(const support::redis_server& master) {
        return {"replicaof 127.0.0.1 " + std::to_string(master.port())};
    }
    void freeze_replicas() {
        for (auto& each : replicas)
            each.freeze();
    }
    void thaw_replicas() {
        for (auto& each : replicas)
            each.thaw();
    }
    static bool has_lock(support::redis_server& where, const std::string& name) {
        return where.execute({"EXISTS", "pawl:{" + name + "}"}).number() == 1;
    }
    // A durable hold of another lock, which makes the connection that later ones use.
    static void connect_for_durability(client& locks) {
        (void)locks.acquire("other", {.ttl = 2s, .durable = durability::replicas(2)}).release();
    }
    // "redis" and 7.0 as 700; "valkey" counts as new enough.
    [[nodiscard]] bool knows_waitaof() {
        const auto info = server.execute({"INFO", "server"}).text;
        if (info.find("valkey_version:") != std::string::npos) return true;
        const auto begin = info.find("redis_version:") + 14;
        int major = 0, minor = 0;
        const auto* const end = info.data() + info.size();
        const auto parsed = std::from_chars(info.data() + begin, end, major);
        std::from_chars(parsed.ptr + 1, end, minor);
        return major > 7 || (major == 7 && minor >= 2);
    }

    std::array<support::redis_server, 2> replicas{
        support::redis_server({.config = config_of_replica(server)}),
        support::redis_server({.config = config_of_replica(server)})};
};

// Both replicas stop at the moment at which the acquire returns: what they have then, they have.
TEST_F(Durability, TheReplicasHaveTheLockWhenItIsGranted) {
    client locks = direct_client();
    const auto lock = locks.acquire("it", {.ttl = long_ttl, .durable = durability::replicas(2)});
    server.kill9();
    for (auto& each : replicas)
        EXPECT_TRUE(has_lock(each, "it"));
}

//   a replica stops | C: acquires, one replica is enough | C: two replicas are not reached, the
//   lock is released | the replica goes on and learns of the grant and its undo
TEST_F(Durability, AGrantThatTooFewReplicasHaveIsUndone) {
    client locks = direct_client();
    replicas[1].freeze();
    (void)locks.acquire("a", {.ttl = 2s, .durable = durability::replicas(1)}).release();
    const auto failed = failure_of([&] {
        (void)locks.acquire("it",
                            {.ttl = 2s, .wait = patience, .durable = durability::replicas(2)});
    });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::not_durable);
    EXPECT_THAT(failed->sentence, HasSubstr("The lock 'it' was granted, but only 1 of 2 replicas "
                                            "acknowledged it in time, so it was released"));
    EXPECT_TRUE(becomes_clean());
    replicas[1].thaw();
    // The replica executes the server's writes in their order.
    const auto lock = locks.acquire("last", {.ttl = long_ttl, .durable = durability::replicas(2)});
    EXPECT_TRUE(has_lock(replicas[1], "last"));
    EXPECT_FALSE(has_lock(replicas[1], "it"));
}

TEST_F(Durability, APairHasFourRequests) {
    client locks = direct_client();
    connect_for_durability(locks);
    const auto before = locks.statistics().requests;
    const auto result =
        locks.acquire("it", {.ttl = long_ttl, .durable = durability::replicas(2)}).release();
    EXPECT_EQ(result, release_result::released);
    // The acquire, the renewal, WAIT, and the release.
    EXPECT_EQ(locks.statistics().requests - before, 4U);
}

// WAIT counts what was written for its own connection. The interleaving that must not pass:
//   B: has a connection that acknowledged an earlier write | A: holds it; B waits | the replicas
//   stop | A: releases; the server grants it to B, for A's connection | B: WAIT at once answers 2,
//   because B's own last write is acknowledged
TEST_F(Durability, AHandOffIsAcknowledgedToo) {
    client a = direct_client(), b = direct_client();
    connect_for_durability(b);
    auto held = a.acquire("it", {.ttl = long_ttl});
    std::optional<failure> failed;
    background_task waiting([&] {
        failed = failure_of([&] {
            (void)b.acquire("it",
                            {.ttl = 2s, .wait = patience, .durable = durability::replicas(2)});
        });
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    freeze_replicas();
    const auto hand_offs = a.statistics().hand_offs + b.statistics().hand_offs;
    (void)held.release();
    waiting.join();
    EXPECT_GT(a.statistics().hand_offs + b.statistics().hand_offs, hand_offs);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::not_durable) << failed->sentence;
    EXPECT_TRUE(becomes_clean());
}

//   A: holds it; B waits, durably | A: releases, and B is granted the lock by a message
TEST_F(Durability, AHandOffIsDurable) {
    client a = direct_client(), b = direct_client();
    auto held = a.acquire("it", {.ttl = long_ttl});
    held_lock next;
    background_task waiting([&] {
        next = b.acquire("it",
                         {.ttl = long_ttl, .wait = patience, .durable = durability::replicas(2)});
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)held.release();
    waiting.join();
    EXPECT_EQ(next.state(), lock_state::held);
    for (auto& each : replicas)
        EXPECT_TRUE(has_lock(each, "it"));
}

// A release that gives the lock to a waiter of the same client sends one request. Its successor
// writes again all the same.
TEST_F(Durability, ALocalHandOffIsAcknowledgedToo) {
    client locks = direct_client();
    connect_for_durability(locks);
    auto held = locks.acquire("it", {.ttl = long_ttl});
    std::optional<failure> failed;
    background_task waiting([&] {
        failed = failure_of([&] {
            (void)locks.acquire("it",
                                {.ttl = 2s, .wait = patience, .durable = durability::replicas(2)});
        });
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    freeze_replicas();
    (void)held.release();
    waiting.join();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::not_durable) << failed->sentence;
}

//   a replica stops | C: a durable acquire waits for it, for seconds | C: its other locks are
//   acquired and renewed meanwhile, and other durable acquires get the replica that answers
TEST_F(Durability, AWaitForAReplicaDelaysNoOtherLock) {
    client locks = direct_client();
    connect_for_durability(locks);
    replicas[1].freeze();
    std::atomic<bool> has_ended = false;
    background_task waiting([&] {
        (void)failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .durable = durability::replicas(2)});
        });
        has_ended = true;
    });
    ASSERT_TRUE(eventually([&] { return is_held("it"); }));
    auto plain = locks.acquire("plain", {.ttl = long_ttl});
    plain.renew();
    const auto durable =
        locks.acquire("durable", {.ttl = long_ttl, .durable = durability::replicas(1)});
    EXPECT_TRUE(has_lock(replicas[0], "durable"));
    EXPECT_FALSE(has_ended) << "the other locks waited for the slow replica";
}

// The caller gives up during the wait for a replica: nothing stays behind.
TEST_F(Durability, ACancelledWaitForAReplicaReleasesTheLock) {
    client locks = direct_client();
    freeze_replicas();
    std::stop_source stop;
    std::optional<failure> failed;
    background_task waiting([&] {
        failed = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .durable = durability::replicas(1)},
                                stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return is_held("it"); }));
    stop.request_stop();
    waiting.join();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::cancelled) << failed->sentence;
    EXPECT_TRUE(becomes_clean());
}

// The server lets WAIT go when it becomes a replica, with an error that says nothing about copies.
TEST_F(Durability, AMasterThatIsDemotedMeanwhileProvesNothing) {
    client locks = direct_client();
    freeze_replicas();
    std::optional<failure> failed;
    background_task waiting([&] {
        failed = failure_of(
            [&] { (void)locks.acquire("it", {.ttl = 2s, .durable = durability::replicas(1)}); });
    });
    ASSERT_TRUE(eventually([&] { return is_held("it"); }));
    (void)server.execute({"REPLICAOF", "127.0.0.1", std::to_string(replicas[0].port())});
    waiting.join();
    ASSERT_TRUE(failed);
    EXPECT_TRUE(failed->reason == errc::not_durable || failed->reason == errc::lost)
        << failed->sentence;
}

// Every kind of acquire, in both layouts: with the replicas it is granted, and without them it
// fails and leaves nothing.
TEST_F(Durability, EveryKindOfLockIsConfirmed) {
    client locks = direct_client();
    client java_locks = direct_client("?layout=redisson");
    client java_readers = direct_client("?layout=redisson&object=readwrite");
    client java_semaphores = direct_client("?layout=redisson&object=semaphore");
    const auto permits = pawl::lock_mode::permits;
    const pawl::lock_options plain{.ttl = 2s, .wait = 1s, .durable = durability::replicas(2)};
    auto fair = plain, shared = plain, permit = plain;
    fair.fair = true;
    shared.mode = pawl::lock_mode::shared;
    permit.mode = permits;
    permit.total_permits = 3;
    const pawl::try_options attempt{.ttl = 2s, .durable = durability::replicas(2)};
    const std::vector<std::pair<std::string, std::function<void()>>> kinds{
        {"exclusive", [&] { (void)locks.acquire("a", plain); }},
        {"a try", [&] { ASSERT_TRUE(locks.try_acquire("try", attempt)); }},
        {"fair", [&] { (void)locks.acquire("a", fair); }},
        {"shared", [&] { (void)locks.acquire("b", shared); }},
        {"permits", [&] { (void)locks.acquire("c", permit); }},
        {"several",
         [&] {
             (void)locks.acquire_all({"d", "e"}, plain);
         }},
        {"several shared",
         [&] {
             (void)locks.acquire_all({"f", "g"}, shared);
         }},
        {"a chosen value", [&] { (void)locks.acquire_as("h", "value", plain); }},
        {"Redisson's lock", [&] { (void)java_locks.acquire("i", plain); }},
        {"Redisson's fair lock", [&] { (void)java_locks.acquire("i", fair); }},
        {"Redisson's permits", [&] { (void)java_locks.acquire("j", permit); }},
        {"Redisson's reader", [&] { (void)java_readers.acquire("k", shared); }},
        {"Redisson's writer", [&] { (void)java_readers.acquire("k", plain); }},
        {"Redisson's semaphore", [&] { (void)java_semaphores.acquire("l", permit); }}};
    for (const auto& [kind, acquire] : kinds)
        EXPECT_FALSE(failure_of(acquire)) << kind;
    freeze_replicas();
    for (const auto& [kind, acquire] : kinds) {
        const auto failed = failure_of(acquire);
        ASSERT_TRUE(failed) << kind;
        EXPECT_EQ(failed->reason, errc::not_durable) << kind << ": " << failed->sentence;
    }
    EXPECT_TRUE(eventually([&] {
        return locks.list().empty() && java_locks.list().empty() && java_readers.list().empty();
    }));
    EXPECT_TRUE(eventually([&] { return java_semaphores.inspect("l").free_permits == 3U; }));
}

// A second entry of an owner can require more than the first. The hold stays if it fails.
TEST_F(Durability, AnEntryOfAnOwnerIsConfirmedAndItsFailureKeepsTheHold) {
    client locks = direct_client();
    pawl::blocking::lock_owner owner(locks);
    const auto first = owner.acquire("it", {.ttl = 2s});
    const pawl::lock_options durable{.ttl = 2s, .durable = durability::replicas(2)};
    const auto second = owner.acquire("it", durable);
    freeze_replicas();
    const auto failed = failure_of([&] { (void)owner.acquire("it", durable); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::not_durable) << failed->sentence;
    EXPECT_EQ(first.state(), lock_state::held);
    EXPECT_EQ(second.state(), lock_state::held);
    EXPECT_TRUE(is_held("it"));
}

TEST_F(Durability, AnAdoptedHoldIsConfirmed) {
    client first = direct_client(), second = direct_client();
    const auto held = first.acquire_as("it", "value", {.ttl = long_ttl});
    freeze_replicas();
    const auto failed = failure_of([&] {
        (void)second.adopt("it", "value", {.ttl = 1s, .durable = durability::replicas(1)});
    });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::not_durable) << failed->sentence;
    EXPECT_TRUE(becomes_clean()) << "the adopted hold is not released";
}

// Without an append-only file, or on a server that is too old, the sentence says what to change.
TEST_F(Durability, DiskIsRefusedByAServerWithoutAnAppendOnlyFile) {
    client locks = direct_client();
    const auto failed =
        failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .durable = durability::disk}); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::unsupported) << failed->sentence;
    EXPECT_THAT(failed->sentence,
                HasSubstr(knows_waitaof() ? "set appendonly yes" : "needs Redis 7.2 or Valkey"));
    EXPECT_TRUE(becomes_clean());
}

// The server never syncs its file: the grant is refused. With a sync in each second, it is granted,
// and the lock is there after a restart.
TEST_F(Durability, ALockOnDiskIsGrantedAfterTheSync) {
    support::redis_server durable({.config = {"appendonly yes", "appendfsync no"}});
    client locks = client_at(durable.url());
    const pawl::lock_options options{.ttl = 3s, .durable = durability::disk};
    const auto failed = failure_of([&] { (void)locks.acquire("it", options); });
    ASSERT_TRUE(failed);
    if (!knows_waitaof()) {
        EXPECT_EQ(failed->reason, errc::unsupported) << failed->sentence;
        return;
    }
    EXPECT_EQ(failed->reason, errc::not_durable) << failed->sentence;
    EXPECT_THAT(failed->sentence, HasSubstr("it was not on the server's disk in time"));
    (void)durable.execute({"CONFIG", "SET", "appendfsync", "everysec"});
    const auto lock = locks.acquire("it", {.ttl = long_ttl, .durable = durability::disk});
    durable.kill9();
    durable.start();
    EXPECT_TRUE(has_lock(durable, "it"));
}

//   C: holds it, which the replica has | the master dies, the replica is promoted | C: still holds
//   it, and D does not get it. tests/chaos/sentinel_test.cpp has the same without durability.
TEST(DurableFailover, AHoldThatEveryReplicaHasSurvives) {
    support::sentinel_group group({.replicas = 1});
    log_capture client_log;
    pawl::client_options options;
    options.log = [&](std::string_view line) { client_log.write(line); };
    client holds(pawl::redis::at(group.url()), options);
    client acquires(pawl::redis::at(group.url()), options);
    (void)holds.acquire("other", {.ttl = 2s}).release();
    ASSERT_TRUE(group.is_replicated());
    const auto lock = holds.acquire("it", {.ttl = long_ttl, .durable = durability::replicas(1)});
    group.server(0).kill9();
    ASSERT_TRUE(group.eventually_moved_from(group.server(0).port()));
    const auto next = acquires.acquire("probe", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_FALSE(acquires.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
}

//   C: acquires one lock on each master, durably | a lock's slot moves to another master | C:
//   acquires that lock again, with the acknowledgement of the new master's replica
TEST(DurableCluster, TheReplicaOfTheLocksMasterAnswers) {
    support::cluster_group group({.replicas = 1});
    client locks(pawl::redis::at(group.url()));
    const pawl::lock_options options{.ttl = 5s, .durable = durability::replicas(1)};
    for (std::size_t master = 0; master < 3; ++master)
        EXPECT_EQ(locks.acquire(group.name_on(master), options).release(),
                  release_result::released);
    const auto name = group.name_on(0);
    support::slot_move(group, group.slot_of("pawl:{" + name + "}"), 1).run();
    ASSERT_TRUE(group.is_agreed());
    const auto lock = locks.acquire(name, options);
    EXPECT_EQ(lock.state(), lock_state::held);
    group.node(group.replica_of(1)).freeze();
    try {
        (void)locks.acquire(group.name_on(1, "other"), options);
        FAIL() << "the replica of another master has answered";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::not_durable) << e.what();
    }
}

}  // namespace
