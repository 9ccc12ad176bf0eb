// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An address that leads to one server after the other, as a virtual IP address, a proxy or a DNS
// name does. docs/guide/managed.md describes it.
#include "redis_fixture.hpp"

#include <filesystem>

namespace {

using namespace chaos;

class VirtualAddress : public testing::Test {
protected:
    VirtualAddress() { lead_to(first); }

    // The open connections end, and the next ones go to this server.
    void lead_to(const support::redis_server& server) {
        std::filesystem::remove(address);
        std::filesystem::create_symlink(server.unix_socket(), address);
        proxy.kill_connections();
    }
    [[nodiscard]] client new_client() {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::from_url(proxy.url()), options);
    }
    void replicate_first(const std::string& key) {
        (void)second.execute({"REPLICAOF", "127.0.0.1", std::to_string(first.port())});
        ASSERT_TRUE(eventually([&] { return second.execute({"EXISTS", key}).number() == 1; }));
    }

    support::redis_server first{{.config = {"repl-diskless-sync-delay 0"}}}, second;
    const std::string address = first.folder().file("address");
    support::fault_proxy proxy{{.port = 0, .unix_socket = address}};
    log_capture client_log;
};

// Its next renewal would be due in 20 s.
TEST_F(VirtualAddress, OfAnEmptyServerLosesTheHoldsAtOnce) {
    client locks = new_client();
    const auto lock = locks.acquire("it", {.ttl = long_ttl});
    const loss_recorder loss(lock);
    lead_to(second);
    EXPECT_TRUE(loss.is_told_within(10s)) << client_log.text();
    const auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(second.execute({"EXISTS", "pawl:{it}"}).number(), 1);
}

TEST_F(VirtualAddress, OfAPromotedReplicaKeepsTheHoldsThatItHas) {
    client locks = new_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    replicate_first("pawl:{it}");
    (void)second.execute({"REPLICAOF", "NO", "ONE"});
    const auto before = lock.safe_until();
    lead_to(second);
    EXPECT_TRUE(eventually([&] { return lock.safe_until() > before; })) << client_log.text();
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(second.execute({"EXISTS", "pawl:{it}"}).number(), 0);
    EXPECT_GT(locks.acquire("it", {.ttl = 2s, .wait = patience}).token(), lock.token());
}

TEST_F(VirtualAddress, OfAReplicaIsRefused) {
    client locks = new_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    const auto token = lock.token();
    // The replica must not get the hold.
    EXPECT_EQ(lock.release(), release_result::released);
    replicate_first("pawl:{it}:f");
    lead_to(second);
    std::string sentence;
    EXPECT_TRUE(eventually([&] {
        try {
            (void)locks.try_acquire("other", {.ttl = 2s});
        } catch (const pawl::error& e) {
            sentence = e.what();
        }
        return sentence.find("this is a replica; connect to the master") != std::string::npos;
    })) << sentence;
    (void)second.execute({"REPLICAOF", "NO", "ONE"});
    EXPECT_GT(locks.acquire("it", {.ttl = 2s, .wait = patience}).token(), token);
}

}  // namespace
