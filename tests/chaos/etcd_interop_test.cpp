// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks shared with the real `etcdctl lock` and `etcdctl elect`, with layout=concurrency.
#include "etcd_fixture.hpp"

namespace {

using namespace chaos;

const std::string shared_layout = "?layout=concurrency";

struct shared_cluster : etcd_fixture {
    [[nodiscard]] pawl::conformance::child etcdctl(const std::vector<std::string>& words) const {
        return pawl::conformance::child({.arguments = cluster.etcdctl_command(words),
                                         .environment = {{"ETCDCTL_API", "3"}},
                                         .output_file = {},
                                         .folder = {}});
    }
    [[nodiscard]] std::size_t keys(const std::string& name) const {
        const auto text = cluster.etcdctl({"get", "--prefix", "--keys-only", name + "/"});
        return static_cast<std::size_t>(std::ranges::count(text, '/'));
    }
    [[nodiscard]] bool has_keys(const std::string& name, std::size_t count) const {
        return support::eventually([&] { return keys(name) == count; });
    }
};

//   etcdctl holds | Pawl waits | etcdctl is killed: its lease ends, and Pawl has the lock
TEST(EtcdctlLock, AKilledHolderMakesRoomForPawl) {
    shared_cluster fixture;
    client locks = fixture.client_with(shared_layout);
    auto other = fixture.etcdctl({"lock", "it", "--ttl=3"});
    ASSERT_TRUE(other.read_line(30s));
    EXPECT_EQ(etcd_fixture::result_of_try(locks, "it"), try_result::busy);
    const auto seen = locks.inspect("it");
    ASSERT_TRUE(seen.held_by.has_value());
    EXPECT_EQ(seen.held_by->host, "");
    auto next = std::async(std::launch::async,
                           [&] { return locks.acquire("it", {.ttl = 3s, .wait = patience}); });
    ASSERT_TRUE(fixture.has_keys("it", 2));
    EXPECT_TRUE(next.wait_for(0s) == std::future_status::timeout);
    other.kill_and_reap();
    auto lock = next.get();
    EXPECT_GT(lock.token(), seen.held_by->token);
    EXPECT_EQ(lock.release(), release_result::released);
}

//   Pawl holds | etcdctl waits, and another Pawl client behind it | each release serves the next
TEST(EtcdctlLock, AllWaitInOneLine) {
    shared_cluster fixture;
    client locks = fixture.client_with(shared_layout);
    client behind = fixture.client_with(shared_layout);
    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
    auto other = fixture.etcdctl({"lock", "it", "--ttl=5"});
    ASSERT_TRUE(fixture.has_keys("it", 2));
    auto last = std::async(std::launch::async,
                           [&] { return behind.acquire("it", {.ttl = 5s, .wait = patience}); });
    ASSERT_TRUE(fixture.has_keys("it", 3));
    EXPECT_EQ(lock.release(), release_result::released);
    ASSERT_TRUE(other.read_line(30s)) << "etcdctl does not get the lock";
    EXPECT_TRUE(last.wait_for(0s) == std::future_status::timeout);
    other.signal(SIGINT);
    auto next = last.get();
    EXPECT_GT(next.token(), lock.token());
}

//   Pawl holds | etcdctl waits | Pawl's process dies: here its lease is revoked
TEST(EtcdctlLock, TheEndOfAPawlClientMakesRoomForEtcdctl) {
    shared_cluster fixture;
    std::optional<pawl::conformance::child> other;
    {
        client locks = fixture.client_with(shared_layout);
        auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
        other.emplace(fixture.etcdctl({"lock", "it", "--ttl=3"}));
        ASSERT_TRUE(fixture.has_keys("it", 2));
    }
    EXPECT_TRUE(other->read_line(30s));
}

// Pawl ignores the keys of a longer name.
TEST(EtcdctlLock, ALongerNameIsAnotherLock) {
    shared_cluster fixture;
    client locks = fixture.client_with(shared_layout);
    auto longer = locks.acquire("it/part", {.ttl = 5s, .wait = patience});
    auto shorter = locks.try_acquire("it", {.ttl = 5s});
    EXPECT_TRUE(shorter.owns_lock());
    EXPECT_EQ(locks.list("it").size(), 2U);
    EXPECT_EQ(shorter.release(), release_result::released);
    EXPECT_EQ(locks.list("it").size(), 1U);
}

// The token of `etcdctl lock` follows the same rule.
TEST(EtcdctlLock, TokensGrowOverBothPrograms) {
    shared_cluster fixture;
    client locks = fixture.client_with(shared_layout);
    pawl::fencing_token newest;
    for (int i = 0; i < 3; ++i) {
        auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
        EXPECT_GT(lock.token(), newest);
        EXPECT_EQ(lock.release(), release_result::released);
        auto other = fixture.etcdctl({"lock", "it", "--", "sh", "-c", "echo $ETCD_LOCK_REV"});
        const auto line = other.read_line(30s);
        ASSERT_TRUE(line);
        newest = pawl::fencing_token(std::stoull(*line));
        EXPECT_GT(newest, lock.token());
        ASSERT_TRUE(fixture.has_keys("it", 0));
    }
}

//   etcdctl leads | Pawl is a candidate | etcdctl resigns: Pawl leads, and `etcdctl elect -l` sees
//   it
TEST(EtcdctlElect, CandidatesOfBothWaitForEachOther) {
    shared_cluster fixture;
    client locks = fixture.client_with(shared_layout);
    auto leading = fixture.etcdctl({"elect", "role", "candidate-1"});
    ASSERT_TRUE(leading.read_line(30s));
    auto next = std::async(std::launch::async,
                           [&] { return locks.acquire("role", {.ttl = 5s, .wait = patience}); });
    ASSERT_TRUE(fixture.has_keys("role", 2));
    leading.signal(SIGINT);
    auto lock = next.get();
    auto waiting = fixture.etcdctl({"elect", "role", "candidate-2"});
    ASSERT_TRUE(fixture.has_keys("role", 2));
    auto observer = fixture.etcdctl({"elect", "-l", "role"});
    EXPECT_TRUE(observer.read_line(30s));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(waiting.read_line(30s));
}

}  // namespace
