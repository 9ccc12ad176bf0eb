// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Members of etcd crash, freeze or are full, leases and keys are removed by others, and requests
// come late. Holds live on as long as their leases, and no holder learns of a loss too late.
#include "etcd_fixture.hpp"

#include <support/holding_proxy.hpp>

namespace {

using namespace chaos;

std::vector<std::string> leases_of(const support::etcd_cluster& cluster) {
    std::vector<std::string> ids;
    std::istringstream lines(cluster.etcdctl({"lease", "list"}));
    for (std::string line; std::getline(lines, line);)
        if (line.size() > 8 && line.find(' ') == std::string::npos) ids.push_back(line);
    return ids;
}

//   A asks for the lock, and its request is held back by the network | A gives up, and undoes the
//   request on another connection | the request arrives: it has no effect, because the undo has
//   changed the guard of A's lease
TEST(EtcdOutage, AnAcquireThatComesAfterItsUndoHasNoEffect) {
    etcd_fixture fixture;
    support::holding_proxy proxy(fixture.cluster.port());
    const auto url = "etcd://127.0.0.1:" + std::to_string(proxy.port());
    client late = fixture.client_at(url, 1s);
    etcd_fixture::expect_pair(late, "it");
    const auto connections = proxy.connections_ever();
    proxy.hold();
    auto asked = std::async(std::launch::async, [&] {
        return fixture.failure_of([&] { (void)late.try_acquire("it", {.ttl = 5s}); });
    });
    // A heartbeat is shorter than the request.
    ASSERT_TRUE(support::eventually([&] { return proxy.kept_bytes() > 200; }));
    proxy.seal();
    const auto failed = asked.get();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    // The client is on another connection, and its lease is still the same.
    ASSERT_TRUE(support::eventually([&] { return proxy.connections_ever() > connections; }));
    etcd_fixture::expect_pair(late, "other");
    // The undo has changed the guard, whose value stays empty.
    const auto is_undone = [&] {
        const auto guards =
            fixture.cluster.etcdctl({"get", "--prefix", "--write-out=fields", "pawl/g/"});
        return guards.find("\"Version\" : 2") != std::string::npos;
    };
    ASSERT_TRUE(support::eventually(is_undone));
    proxy.deliver();
    // The server has carried out what it got when it answers the next request of another client.
    client others = fixture.client_with();
    for (int i = 0; i < 20; ++i)
        etcd_fixture::expect_pair(others, "it");
    EXPECT_EQ(fixture.cluster.etcdctl({"get", "--prefix", "pawl/l/"}), "");
}

//   A holds, B waits | the leader is killed | A still holds, and its release serves B
TEST(EtcdOutage, AHoldOutlivesItsLeader) {
    three_members fixture;
    client holder = fixture.client_with();
    client waiting = fixture.client_with();
    auto lock = holder.acquire("it", {.ttl = 6s, .wait = patience});
    auto next = std::async(std::launch::async,
                           [&] { return waiting.acquire("it", {.ttl = 6s, .wait = patience}); });
    ASSERT_TRUE(etcd_fixture::has_waiter(holder, "it"));
    const auto leader = fixture.cluster.leader();
    fixture.cluster.kill9(leader);
    const auto renewed_at = lock.safe_until();
    ASSERT_TRUE(support::eventually([&] { return lock.safe_until() > renewed_at; }));
    EXPECT_EQ(lock.release(), release_result::released);
    auto handed_over = next.get();
    EXPECT_GT(handed_over.token(), lock.token());
    EXPECT_EQ(handed_over.release(), release_result::released);
    fixture.cluster.start(leader);
    fixture.cluster.wait_until_ready(leader);
}

//   the member that the client uses is frozen | the next acquire goes to another one
TEST(EtcdOutage, AFrozenMemberIsLeft) {
    three_members fixture;
    client locks = fixture.client_with();
    etcd_fixture::expect_pair(locks, "it");
    fixture.cluster.freeze(0);
    etcd_fixture::expect_pair(locks, "it");
    fixture.cluster.thaw(0);
}

//   A holds | two of three members are killed: A learns of the loss before its lease ends, and
//   nobody is granted the lock | they start again: the next token is larger
TEST(EtcdOutage, WithoutAMajorityNothingIsGranted) {
    three_members fixture;
    client locks = fixture.client_with();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    fixture.cluster.kill9(1);
    fixture.cluster.kill9(2);
    ASSERT_TRUE(loss.is_told_within(patience));
    EXPECT_LE(loss.told_at(), lock.safe_until() + 1s);
    EXPECT_EQ(etcd_fixture::result_of_try(locks, "it"), try_result::failed);
    fixture.cluster.start(1);
    fixture.cluster.start(2);
    auto next = locks.acquire("it", {.ttl = 3s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

//   an administrator revokes A's leases | A is told at once, long before the next renewal
TEST(EtcdOutage, ARevokedLeaseIsALossAtOnce) {
    etcd_fixture fixture;
    client locks = fixture.client_with();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const loss_recorder loss(lock);
    for (const auto& each : leases_of(fixture.cluster))
        fixture.cluster.etcdctl({"lease", "revoke", each});
    ASSERT_TRUE(loss.is_told_within(15s));
    etcd_fixture::expect_pair(locks, "it");
}

//   A holds, B waits | `etcdctl del` removes A's key: B has the lock, A's next renewal is refused
TEST(EtcdOutage, ADeletedKeyIsALoss) {
    etcd_fixture fixture;
    client holder = fixture.client_with();
    client waiting = fixture.client_with();
    auto lock = holder.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    auto next = std::async(std::launch::async,
                           [&] { return waiting.acquire("it", {.ttl = 3s, .wait = patience}); });
    ASSERT_TRUE(etcd_fixture::has_waiter(holder, "it"));
    std::istringstream keys(fixture.cluster.etcdctl(
        {"get", "--prefix", "--keys-only", "--sort-by=CREATE", "pawl/l/it"}));
    std::string oldest;
    std::getline(keys, oldest);
    fixture.cluster.etcdctl({"del", oldest});
    EXPECT_GT(next.get().token(), lock.token());
    ASSERT_TRUE(loss.is_told_within(patience));
    EXPECT_NE(lock.release(), release_result::released);
}

//   B waits | many writes, and a compaction of them all | the release serves B
TEST(EtcdOutage, AWaiterOutlivesACompaction) {
    etcd_fixture fixture;
    client holder = fixture.client_with();
    client waiting = fixture.client_with();
    auto lock = holder.acquire("it", {.ttl = 5s, .wait = patience});
    auto next = std::async(std::launch::async,
                           [&] { return waiting.acquire("it", {.ttl = 5s, .wait = patience}); });
    ASSERT_TRUE(etcd_fixture::has_waiter(holder, "it"));
    for (int i = 0; i < 5; ++i)
        fixture.cluster.etcdctl({"put", "a", "b"});
    const auto status = fixture.cluster.etcdctl({"put", "a", "b", "--write-out=json"});
    const auto at = status.find("\"revision\":") + 11;
    const auto revision = status.substr(at, status.find_first_not_of("0123456789", at) - at);
    fixture.cluster.etcdctl({"compact", revision});
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_GT(next.get().token(), lock.token());
}

//   the database reaches its quota: a client with a lease goes on, also with a hand-off; a new one
//   is refused with the reason
TEST(EtcdOutage, AFullStoreReleasesAndRenews) {
    etcd_fixture fixture({.arguments = {"--quota-backend-bytes=400000"}});
    client locks = fixture.client_with();
    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
    const std::string value(50000, 'x');
    bool is_full = false;
    for (int i = 0; i < 50 && !is_full; ++i) {
        try {
            fixture.cluster.etcdctl({"put", "fill" + std::to_string(i), value});
        } catch (const std::runtime_error& failed) {
            is_full = std::string(failed.what()).find("space exceeded") != std::string::npos;
        }
    }
    ASSERT_TRUE(is_full);
    client fresh = fixture.client_with();
    const auto failed = fixture.failure_of([&] { (void)fresh.try_acquire("other", {.ttl = 5s}); });
    EXPECT_TRUE(says(failed, errc::unavailable, "is full"));
    lock.renew();
    auto next = std::async(std::launch::async,
                           [&] { return locks.acquire("it", {.ttl = 5s, .wait = patience}); });
    ASSERT_TRUE(etcd_fixture::has_waiter(locks, "it"));
    EXPECT_EQ(lock.release(), release_result::released);
    auto handed_over = next.get();
    handed_over.renew();
    EXPECT_EQ(handed_over.release(), release_result::released);
    const auto report = locks.examine();
    EXPECT_TRUE(std::ranges::any_of(report.findings, [](const pawl::finding& each) {
        return each.topic == "alarms" && each.level == pawl::finding::grade::bad;
    }));
}

//   a backup is restored, so revisions go back | a client that has seen later ones acquires nothing
TEST(EtcdOutage, OlderDataAreRefused) {
    etcd_fixture fixture;
    client locks = fixture.client_with();
    etcd_fixture::expect_pair(locks, "it");
    fixture.cluster.restore_backup([&] {
        for (int i = 0; i < 10; ++i)
            etcd_fixture::expect_pair(locks, "it");
    });
    const auto failed =
        fixture.failure_of([&] { (void)locks.acquire("it", {.ttl = 5s, .wait = patience}); });
    EXPECT_TRUE(says(failed, errc::refused, "--bump-revision"));
    client fresh = fixture.client_with();
    etcd_fixture::expect_pair(fresh, "it");
}

}  // namespace
