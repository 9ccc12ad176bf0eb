// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Real clusters: slots that move while locks are held and waited for, nodes that fail, nodes that
// come back.
#include "cluster_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace {

using namespace chaos;

class Cluster : public cluster_fixture {};

TEST_F(Cluster, EachLockIsAtTheNodeOfItsSlot) {
    cluster_group group;
    client locks = client_at(group.url());
    std::map<std::size_t, held_lock> held;
    for (std::size_t node = 0; node < 3; ++node) {
        const auto name = group.name_on(node);
        held[node] = locks.acquire(name, {.ttl = long_ttl});
        EXPECT_EQ(group.node(node).execute({"EXISTS", key_of(name)}).number(), 1);
        EXPECT_EQ(epoch_of(held[node]), group.epoch(node));
    }
    std::vector<std::string> names;
    for (const auto& each : locks.list(""))
        names.push_back(each.name);
    EXPECT_THAT(
        names, testing::UnorderedElementsAre(group.name_on(0), group.name_on(1), group.name_on(2)));
    const loss_recorder loss(held[1]);
    EXPECT_TRUE(locks.force_release(group.name_on(1)));
    EXPECT_TRUE(loss.is_told_within(10s));
}

//   C: holds it at A | the slot moves to B, with its keys | C: renewed there, released there, and
//   acquired there with a larger token
TEST_F(Cluster, AHeldLockFollowsItsSlot) {
    cluster_group group;
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    auto lock = locks.acquire(name, {.ttl = 1500ms});
    slot_move(group, group.slot_of(key_of(name)), 1).run();
    std::this_thread::sleep_for(2500ms);  // longer than the ttl
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
    EXPECT_EQ(group.node(1).execute({"EXISTS", key_of(name)}).number(), 1);
    const auto token = lock.token();
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(group.node(1).execute({"EXISTS", key_of(name)}).number(), 0);
    const auto next = locks.acquire(name, {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), token);
    EXPECT_EQ(epoch_of(next), group.epoch(1));
}

//   C: holds it at A | A migrates the slot | the lock's key is at B, the counter at A, for longer
//   than the ttl | C: renewed at B (ASK), for a renewal names one key | the move ends | C: released
TEST_F(Cluster, AHoldIsRenewedWhileItsSlotIsHalfMoved) {
    cluster_group group;
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    auto lock = locks.acquire(name, {.ttl = 1500ms});
    slot_move move(group, group.slot_of(key_of(name)), 1);
    move.begin();
    std::this_thread::sleep_for(1000ms);  // with the key still at A
    move.move_key(key_of(name));
    std::this_thread::sleep_for(3000ms);  // longer than the ttl
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
    move.move_all_keys();
    move.finish();
    EXPECT_EQ(lock.release(), release_result::released);
}

// The keys of a lock that does not exist are at neither node, so an acquire cannot be executed.
TEST_F(Cluster, AnAcquireWaitsWhileItsSlotIsHalfMoved) {
    cluster_group group;
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    auto first = locks.acquire(name, {.ttl = 2s});
    const auto before = first.token();
    EXPECT_EQ(first.release(), release_result::released);
    slot_move move(group, group.slot_of(key_of(name)), 1);
    move.begin();
    try {
        (void)locks.try_acquire(name, {.ttl = 2s});
        ADD_FAILURE() << "granted by half a slot";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::unavailable) << e.what();
        EXPECT_THAT(e.what(), testing::HasSubstr("the slot is moving"));
    }
    held_lock lock;
    background_task waiter([&] { lock = locks.acquire(name, {.ttl = 2s, .wait = patience}); });
    std::this_thread::sleep_for(500ms);  // while the waiter is refused
    move.move_all_keys();
    move.finish();
    waiter.join();
    EXPECT_GT(lock.token(), before);
}

//   A: H holds, W waits | the slot moves to B, with the queue | H releases at B, which pushes the
//   grant to W's connection to B
TEST_F(Cluster, AWaiterIsServedAtTheNewNode) {
    cluster_group group;
    client holds = client_at(group.url()), waits = client_at(group.url());
    const auto name = group.name_on(0);
    auto lock = holds.acquire(name, {.ttl = long_ttl});
    held_lock next;
    background_task waiter(
        [&] { next = waits.acquire(name, {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return holds.inspect(name).waiters == 1; }));
    slot_move(group, group.slot_of(key_of(name)), 1).run();
    const auto hand_offs = waits.statistics().hand_offs;
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(waits.statistics().hand_offs, hand_offs + 1);
}

// The bus takes a message to the subscribers of every node. Each client has its own channel at each
// node, so that it gets a grant once.
TEST_F(Cluster, AHandOffIsOneMessage) {
    cluster_group group;
    client holds = client_at(group.url()), waits = client_at(group.url());
    for (std::size_t node = 0; node < 3; ++node)
        (void)waits.acquire(group.name_on(node, "warm"), {.ttl = 2s}).release();
    const auto name = group.name_on(2);
    auto lock = holds.acquire(name, {.ttl = long_ttl});
    held_lock next;
    background_task waiter(
        [&] { next = waits.acquire(name, {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return holds.inspect(name).waiters == 1; }));
    const auto pushes = waits.statistics().pushes;
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    // The bus is slower than the grant.
    std::this_thread::sleep_for(300ms);  // a second message would come meanwhile
    EXPECT_EQ(waits.statistics().pushes, pushes + 1);
}

//   C: holds a | the replica is promoted, as planned | C: a is renewed there | C: b, with the new
//   node's epoch
TEST_F(Cluster, APlannedFailoverKeepsTheHolds) {
    cluster_group group({.replicas = 1});
    client locks = client_at(group.url());
    const auto name = group.name_on(0), other = group.name_on(0, "other");
    const auto lock = locks.acquire(name, {.ttl = 3s});
    ASSERT_TRUE(group.is_replicated(0));
    const auto replica = group.replica_of(0);
    group.begin_failover(replica);
    ASSERT_TRUE(group.is_promoted(replica));
    const auto next = locks.acquire(other, {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(epoch_of(next), group.epoch(replica));
    EXPECT_EQ(group.node(replica).execute({"EXISTS", key_of(other)}).number(), 1);
    std::this_thread::sleep_for(3500ms);  // longer than the ttl
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
}

//   A's replica R stops | C: holds it, which R does not have | A dies, R goes on and is promoted |
//   C: it is lost | D: acquires it, with a larger token, although the counter is lost
TEST_F(Cluster, AHoldThatNoReplicaHasIsLostAndItsTokenIsNotRepeated) {
    cluster_group group({.replicas = 1});
    client holds = client_at(group.url()), acquires = client_at(group.url());
    const auto name = group.name_on(0);
    (void)holds.acquire(name, {.ttl = 2s}).release();
    ASSERT_TRUE(group.is_replicated(0));
    const auto replica = group.replica_of(0);
    group.node(replica).freeze();
    // Otherwise it would find the new data in its socket.
    (void)group.node(0).execute({"CLIENT", "KILL", "TYPE", "replica"});
    const auto lock = holds.acquire(name, {.ttl = long_ttl});
    const loss_recorder loss(lock);
    group.node(0).kill9();
    group.node(replica).thaw();
    const auto next = acquires.acquire(name, {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(loss.is_told_within(10s)) << client_log.text();
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(epoch_of(next), group.epoch(replica));
}

//   C: holds it, which A's replica R has, too | R stops | C: releases it, and A confirms that | A
//   dies, R goes on and is promoted | R: it is free at once, long before its lease ends
TEST_F(Cluster, AFailoverTakesNoReleaseBack) {
    cluster_group group({.replicas = 1});
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    auto lock = locks.acquire(name, {.ttl = long_ttl});
    ASSERT_TRUE(group.is_replicated(0));
    const auto replica = group.replica_of(0);
    group.node(replica).freeze();
    (void)group.node(0).execute({"CLIENT", "KILL", "TYPE", "replica"});
    ASSERT_EQ(lock.release(), release_result::released);
    group.node(0).kill9();
    group.node(replica).thaw();
    const auto is_taken = [&] {
        return std::ranges::count(group.node(replica).keys(), key_of(name)) > 0;
    };
    ASSERT_TRUE(is_taken()) << "the release was replicated";
    ASSERT_TRUE(group.is_promoted(replica));
    EXPECT_TRUE(eventually([&] { return !is_taken(); })) << client_log.text();
}

// The master freezes, its replica takes its place without a vote, and the first one goes on as if
// nothing had happened.
TEST_F(Cluster, AnOldMasterThatComesBackIsNotFollowed) {
    cluster_group group({.replicas = 1});
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    const auto before = locks.acquire(name, {.ttl = 1s}).token();
    ASSERT_TRUE(group.is_replicated(0));
    const auto replica = group.replica_of(0);
    group.node(0).freeze();
    group.take_over(replica);
    ASSERT_TRUE(group.is_promoted(replica));
    const auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(lock.token(), before);
    group.node(0).thaw();
    client fresh = client_at(group.url());
    EXPECT_FALSE(fresh.try_acquire(name, {.ttl = 2s}).owns_lock());
    EXPECT_EQ(lock.state(), lock_state::held);
}

// The holds of the others are renewed, and new ones are granted, for much longer than a ttl.
TEST_F(Cluster, ADeadNodeDelaysNobodyElsesLocks) {
    cluster_group group({.node_timeout = 60s, .full_coverage = false});
    client locks = client_at(group.url("?reply_timeout=20000"));
    const auto dead = locks.acquire(group.name_on(0), {.ttl = 2s});
    const auto lock = locks.acquire(group.name_on(1), {.ttl = 2s});
    const loss_recorder dead_loss(dead);
    group.node(0).freeze();
    for (int i = 0; i < 50; ++i) {
        (void)locks.acquire(group.name_on(2), {.ttl = 2s}).release();
        std::this_thread::sleep_for(100ms);  // in all longer than two leases
    }
    EXPECT_TRUE(dead_loss.is_told_within(1s));
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
}

TEST_F(Cluster, AllNodesMayRestart) {
    cluster_group group({.server_config = {"appendonly yes", "appendfsync always"}});
    client locks = client_at(group.url());
    auto lock = locks.acquire(group.name_on(1), {.ttl = long_ttl});
    for (std::size_t node = 0; node < 3; ++node)
        group.node(node).kill9();
    for (std::size_t node = 0; node < 3; ++node)
        group.node(node).start();
    EXPECT_TRUE(locks.acquire(group.name_on(2), {.ttl = 2s, .wait = patience}).owns_lock());
    EXPECT_TRUE(eventually([&] {
        try {
            return locks.inspect(group.name_on(1)).held_by.has_value();
        } catch (const pawl::error&) {
            return false;
        }
    }));
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(Cluster, OneNodeIsEnoughToFindTheOthersAlsoAReplica) {
    cluster_group group({.replicas = 1});
    const auto replica = std::to_string(group.node(group.replica_of(0)).port());
    client locks = client_at("redis+cluster://127.0.0.1:1,127.0.0.1:" + replica);
    for (std::size_t node = 0; node < 3; ++node)
        EXPECT_TRUE(locks.acquire(group.name_on(node), {.ttl = 2s, .wait = patience}).owns_lock());
}

TEST_F(Cluster, SeveralLocksMayBeAtDifferentNodes) {
    cluster_group group;
    client locks = client_at(group.url());
    const std::vector<std::string> names{group.name_on(0), group.name_on(1), group.name_on(2)};
    auto all = locks.acquire_all(names, {.ttl = long_ttl, .wait = patience});
    for (const auto& name : names)
        EXPECT_FALSE(locks.try_acquire(name, {.ttl = 2s}).owns_lock());
    (void)all.release();
    // A key template can put them into one slot.
    client in_a_slot = client_at(group.url("?key=%7Bshop%7D:%7Bname%7D"));
    (void)in_a_slot.acquire_all(names, {.ttl = 2s, .wait = patience}).release();
    const auto requests = in_a_slot.statistics().requests;
    const auto together = in_a_slot.acquire_all(names, {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(in_a_slot.statistics().requests, requests + 1);
}

// A latch's channel is of its slot, and the node that loses the slot ends the subscription.
TEST_F(Cluster, ALatchOpensAtTheNewNode) {
    cluster_group group;
    client counts = client_at(group.url()), waits = client_at(group.url());
    const auto name = group.name_on(0);
    pawl::blocking::latch counted(counts, name, {.ttl = long_ttl}), awaited(waits, name);
    ASSERT_TRUE(counted.try_set(1));
    bool was_opened = false;
    background_task waiter([&] { was_opened = awaited.wait_for(patience); });
    ASSERT_TRUE(eventually([&] { return counted.inspect().waiters == 1; }));
    slot_move(group, group.slot_of(key_of(name)), 1).run();
    counted.count_down();
    waiter.join();
    EXPECT_TRUE(was_opened);
}

TEST_F(Cluster, ASlotWithoutANodeIsRefused) {
    cluster_group group({.full_coverage = false});
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    (void)locks.acquire(group.name_on(1), {.ttl = 2s}).release();
    const auto slot = std::to_string(group.slot_of(key_of(name)));
    for (std::size_t node = 0; node < 3; ++node)
        (void)group.node(node).execute({"CLUSTER", "DELSLOTS", slot});
    try {
        (void)locks.acquire(name, {.ttl = 2s, .wait = 2s});
        ADD_FAILURE() << "granted by nobody";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::unavailable) << e.what();
        EXPECT_THAT(e.what(), testing::HasSubstr("CLUSTERDOWN")) << e.what();
        EXPECT_THAT(e.what(), testing::HasSubstr("see `pawl doctor`")) << e.what();
    }
}

TEST_F(Cluster, NodesMayHaveTls) {
    cluster_group group({.tls = true});
    const auto ca = group.node(0).folder().file("ca.crt");
    client locks = client_at(group.url("?ca=" + ca));
    for (std::size_t node = 0; node < 3; ++node)
        EXPECT_TRUE(locks.acquire(group.name_on(node), {.ttl = 2s, .wait = patience}).owns_lock());
}

TEST_F(Cluster, IsExaminedNodeByNode) {
    cluster_group group({.replicas = 1});
    client locks = client_at(group.url());
    std::string rows;
    const auto report = locks.examine();
    for (const auto& each : report.findings)
        rows += each.topic + " @" + each.node + ": " + each.fact + "\n";
    EXPECT_THAT(rows, testing::HasSubstr("cluster @: 3 masters, 3 replicas"));
    EXPECT_THAT(rows, testing::HasSubstr("slots @: all 16384 have a node"));
    EXPECT_EQ(report.nodes.size(), 6U);
    for (std::size_t node = 0; node < 3; ++node)
        EXPECT_THAT(rows, testing::HasSubstr("server @127.0.0.1:" +
                                             std::to_string(group.node(node).port())));
}

// Redisson's layout: the key of a lock is its name.
TEST_F(Cluster, HasRedissonsLayoutAtEachNode) {
    cluster_group group;
    client holds = client_at(group.url("?layout=redisson")),
           waits = client_at(group.url("?layout=redisson"));
    for (const std::string name : {"a", "b", "c", "d"}) {
        for (const bool fair : {false, true}) {
            auto lock = holds.acquire(name, {.ttl = 2s, .fair = fair});
            EXPECT_EQ(group.node(group.node_of(name)).execute({"EXISTS", name}).number(), 1);
            held_lock next;
            background_task waiter(
                [&] { next = waits.acquire(name, {.ttl = 2s, .wait = patience, .fair = fair}); });
            ASSERT_TRUE(eventually([&] { return holds.inspect(name).waiters == 1; }));
            slot_move(group, group.slot_of(name), (group.node_of(name) + 1) % 3).run();
            ASSERT_TRUE(group.is_agreed());
            EXPECT_EQ(lock.release(), release_result::released);
            waiter.join();
            EXPECT_GT(next.token(), lock.token());
            EXPECT_EQ(next.release(), release_result::released);
        }
    }
}

}  // namespace
