// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Real clusters all of whose known masters die, while replicas that the client only read about take
// over.
#include "cluster_fixture.hpp"

#include <gmock/gmock.h>

namespace {

using namespace chaos;

class ClusterMasters : public cluster_fixture {
protected:
    // An operator promotes each replica, since no majority of the masters can vote.
    static void replace_all_masters(cluster_group& group, std::size_t masters) {
        for (std::size_t i = 0; i < masters; ++i)
            ASSERT_TRUE(group.is_replicated(i));
        for (std::size_t i = 0; i < masters; ++i)
            group.node(i).kill9();
        for (std::size_t i = 0; i < masters; ++i)
            group.take_over(masters + i);
    }
};

//   C: holds it at A, whose address is the URL's | A dies | its replica R takes over | C: asks R,
//   which it knows from A's view, and renews there
TEST_F(ClusterMasters, AReplicaOfTheOnlyMasterIsFound) {
    cluster_group group({.masters = 1, .replicas = 1});
    client locks = client_at(group.url());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    replace_all_masters(group, 1);
    const auto next = locks.acquire("other", {.ttl = 2s, .wait = patience});
    EXPECT_EQ(epoch_of(next), group.epoch(1)) << client_log.text();
    EXPECT_EQ(lock.state(), lock_state::held) << client_log.text();
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(group.node(1).execute({"EXISTS", key_of("it")}).number(), 0);
}

//   C: a hold at each of three masters | all masters die | their replicas take over
TEST_F(ClusterMasters, TheReplicasOfAllMastersAreFound) {
    cluster_group group({.masters = 3, .replicas = 1});
    client locks = client_at(group.url());
    std::vector<held_lock> held;
    for (std::size_t node = 0; node < 3; ++node)
        held.push_back(locks.acquire(group.name_on(node), {.ttl = long_ttl}));
    replace_all_masters(group, 3);
    for (auto& each : held) {
        EXPECT_EQ(each.state(), lock_state::held) << client_log.text();
        EXPECT_TRUE(eventually([&] { return each.release() == release_result::released; }))
            << client_log.text();
    }
}

//   C knows A and its replica R | A dies | the address of R gets a node of another cluster, with a
//   greater epoch | C must not get a lock there: another client may have it at R's new address
TEST_F(ClusterMasters, AnotherClusterAtARememberedAddressIsRefused) {
    cluster_group group({.masters = 1, .replicas = 1});
    client locks = client_at(group.url());
    (void)locks.acquire("it", {.ttl = 2s}).release();
    group.node(0).kill9();
    ASSERT_EQ(group.node(1).execute({"CLUSTER", "RESET", "HARD"}).text, "OK");
    ASSERT_EQ(group.node(1).execute({"CLUSTER", "SET-CONFIG-EPOCH", "99"}).text, "OK");
    group.node(1).serve_all_slots();
    try {
        (void)locks.acquire("it", {.ttl = 2s, .wait = 3s});
        ADD_FAILURE() << "granted by another cluster" << client_log.text();
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::unreachable) << e.what();
    }
    EXPECT_EQ(group.node(1).keys().size(), 0U);
}

}  // namespace
