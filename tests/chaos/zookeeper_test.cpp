// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Servers of an ensemble fail, freeze or are cut off, and answers are lost.
#include "zookeeper/messages.hpp"

#include <support/eventually.hpp>
#include <support/zookeeper_ensemble.hpp>

#include <pawl/blocking.hpp>
#include <pawl/zookeeper.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace zookeeper_chaos {
namespace {

namespace asio = boost::asio;
namespace zk = pawl::zookeeper;
using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::blocking::client;
using support::eventually;

constexpr auto patience = 30s;
constexpr std::chrono::milliseconds tick{500};

pawl::client_options patient() {
    pawl::client_options options;
    options.try_limit = 10s;
    return options;
}

// A client that believes in pings, as many do: its session lasts for the timeout after the last
// answered one.
class pinging_client {
public:
    pinging_client(std::uint16_t port, pawl::duration timeout) : timeout_(timeout), socket_(loop_) {
        socket_.connect({asio::ip::make_address("127.0.0.1"), port});
        zk::connect_request hello;
        hello.timeout_ms = static_cast<std::int32_t>(timeout / 1ms);
        send(zk::frame_of(hello));
        EXPECT_EQ(zk::read_connect_reply(receive()).timeout_ms, hello.timeout_ms);
    }
    void create(const std::string& path) {
        send(zk::frame_of(
            1, zk::create_request(path, "", zk::node_rights::everybody, zk::node_kind::ephemeral)));
        static_cast<void>(receive());
    }
    void ping() {
        const auto sent_at = boot_clock::now();
        send(zk::frame_of(zk::ping_xid, {zk::operation::ping, {}}));
        static_cast<void>(receive());
        believed_until = sent_at + timeout_;
    }
    pawl::time_point believed_until{};

private:
    void send(const std::string& frame) { asio::write(socket_, asio::buffer(frame)); }
    std::string receive() {
        std::string length(4, '\0');
        asio::read(socket_, asio::buffer(length));
        std::string frame(zk::jute_reader(length).number<std::uint32_t>(), '\0');
        asio::read(socket_, asio::buffer(frame));
        return frame;
    }

    const pawl::duration timeout_;
    asio::io_context loop_;
    asio::ip::tcp::socket socket_;
};

class ZooKeeperEnsemble : public testing::Test {
protected:
    // One for all tests: its start costs more than they do.
    static support::zookeeper_ensemble& ensemble() {
        static const auto started =
            std::make_unique<support::zookeeper_ensemble>(support::zookeeper_options{.tick = tick});
        return *started;
    }
    // All servers follow a leader again.
    void TearDown() override {
        ensemble().heal();
        for (std::size_t i = 0; i < support::zookeeper_ensemble::count; ++i) {
            ensemble().server(i).thaw();
            if (!ensemble().server(i).is_running()) ensemble().server(i).start();
        }
        EXPECT_TRUE(eventually(
            [] {
                for (std::size_t i = 0; i < support::zookeeper_ensemble::count; ++i)
                    if (ensemble().server(i).role().empty()) return false;
                return true;
            },
            60s));
    }
    static client client_at(const std::string& url) {
        return client(pawl::zookeeper::at(url), patient());
    }
    // A client that knows this server only.
    static std::string url_of(std::size_t index) { return ensemble().server(index).url(); }
};

//   A holds through the follower F | F is cut off from the others, and answers A's pings | the
//   leader ends A's session, and B is granted the lock | A must have been told before that
//
// A client that believes in pings believes in its session when the leader has ended it: the test
// would fail for such a client.
TEST_F(ZooKeeperEnsemble, AFollowerThatIsCutOffDeceivesNobody) {
    constexpr auto ttl = 3s;
    const auto follower = ensemble().follower();
    auto holder = client_at(url_of(follower)), other = client_at(url_of(ensemble().leader()));
    auto lock = holder.acquire("it", {.ttl = ttl, .wait = patience});
    pinging_client deceived(ensemble().server(follower).port(), ttl);
    deceived.create("/of-the-deceived");
    std::atomic<bool> is_over = false;
    std::jthread pings([&] {
        try {
            while (!is_over) {
                deceived.ping();
                std::this_thread::sleep_for(ttl / 20);  // the rhythm of the pings is the subject
            }
        } catch (const std::exception&) {}  // the follower has noticed
    });
    pawl::time_point lost_at{};
    std::stop_callback on_loss(lock.lost(), [&] { lost_at = boot_clock::now(); });
    ensemble().cut_off(follower);
    auto next = other.acquire("it", {.ttl = ttl, .wait = patience});
    const auto granted_at = boot_clock::now();
    EXPECT_TRUE(lock.lost().stop_requested()) << "two holders";
    EXPECT_LE(lost_at, granted_at);
    EXPECT_GT(next.token(), lock.token());
    is_over = true;
    ensemble().heal();
    pings.join();
    EXPECT_GT(deceived.believed_until, granted_at) << "the pings have deceived nobody";
    EXPECT_EQ(next.state(), pawl::lock_state::held);
}

//   A holds, B waits | the leader is killed | A holds on | A releases, B is granted the lock
TEST_F(ZooKeeperEnsemble, AHoldAndAWaiterOutliveTheLeader) {
    auto holder = client_at(ensemble().url()), other = client_at(ensemble().url());
    auto lock = holder.acquire("it", {.ttl = 20s, .wait = patience});
    pawl::blocking::held_lock next;
    std::jthread waiting([&] { next = other.acquire("it", {.ttl = 20s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    ensemble().server(ensemble().leader()).kill9();
    static_cast<void>(ensemble().leader());
    ASSERT_TRUE(eventually([&] {
        try {
            lock.renew();
            return true;
        } catch (const pawl::error& failed) {
            return !failed.is_transient();
        }
    }));
    EXPECT_EQ(lock.state(), pawl::lock_state::held);
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    waiting.join();
    EXPECT_TRUE(next.owns_lock());
}

//   A holds through a server | the server freezes | A's session goes on at another one
TEST_F(ZooKeeperEnsemble, ASessionLeavesAServerThatIsSilent) {
    auto holder = client_at(ensemble().url());
    auto lock = holder.acquire("it", {.ttl = 20s, .wait = patience});
    for (std::size_t i = 0; i < support::zookeeper_ensemble::count; ++i) {
        ensemble().server(i).freeze();
        static_cast<void>(ensemble().leader());
        EXPECT_TRUE(eventually([&] {
            try {
                lock.renew();
                return true;
            } catch (const pawl::error& failed) {
                return !failed.is_transient();
            }
        }));
        ensemble().server(i).thaw();
    }
    EXPECT_EQ(lock.state(), pawl::lock_state::held);
    EXPECT_EQ(lock.release(), pawl::release_result::released);
}

// One server behind a proxy that loses messages.
class ZooKeeperProxy : public testing::Test {
protected:
    static constexpr int create = 15, remove = 2, multi = 14;

    static support::zookeeper_server& server() {
        static const auto started = std::make_unique<support::zookeeper_server>();
        return *started;
    }
    [[nodiscard]] std::string url() const {
        return "zookeeper://127.0.0.1:" + std::to_string(proxy.port()) +
               support::zookeeper_url_options(200ms);
    }
    client warm_client() const {
        client made(pawl::zookeeper::at(url()), patient());
        static_cast<void>(made.acquire("warm", {.ttl = 4s, .wait = patience}).release());
        return made;
    }

    support::zookeeper_proxy proxy{server().port()};
    client observer{pawl::zookeeper::at(server().url()), patient()};
};

using support::zookeeper_fault_kind;

//   A's node is created, and the answer is lost with the connection | A finds its node, or another
//   attempt is made; no node stays behind
TEST_F(ZooKeeperProxy, ALostAnswerToACreateLeavesOneNode) {
    for (const auto kind : {zookeeper_fault_kind::lose_reply, zookeeper_fault_kind::lose_request,
                            zookeeper_fault_kind::swallow}) {
        auto locks = warm_client();
        proxy.inject({create, kind});
        auto lock = locks.acquire("it", {.ttl = 4s, .wait = patience});
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_EQ(lock.release(), pawl::release_result::released);
        EXPECT_TRUE(eventually([&] {
            const auto info = observer.inspect("it");
            return !info.held_by && info.waiters == 0;
        })) << "a node is left";
    }
    EXPECT_EQ(proxy.strike_count(), 3U);
}

//   A's release is carried out or not, and the answer is lost | the lock is free soon
TEST_F(ZooKeeperProxy, ALostReleaseIsRepeated) {
    for (const auto kind : {zookeeper_fault_kind::lose_reply, zookeeper_fault_kind::lose_request,
                            zookeeper_fault_kind::swallow}) {
        auto locks = warm_client();
        auto lock = locks.acquire("it", {.ttl = 4s, .wait = patience});
        proxy.inject({remove, kind});
        const auto result = lock.release();
        EXPECT_TRUE(result == pawl::release_result::released ||
                    result == pawl::release_result::unknown);
        EXPECT_TRUE(observer.acquire("it", {.ttl = 4s, .wait = patience}).owns_lock());
    }
    EXPECT_EQ(proxy.strike_count(), 3U);
}

//   B holds, A waits: its node is moved to the session of waiters | B releases: A's grant is moved
//   to the session of its ttl | the answers to both moves are lost | A has one node, and its token
TEST_F(ZooKeeperProxy, ALostAnswerToAMoveIsRepeated) {
    auto locks = warm_client();
    auto before = observer.acquire("it", {.ttl = 20s, .wait = patience});
    pawl::blocking::held_lock lock;
    proxy.inject({multi, zookeeper_fault_kind::lose_reply});
    std::jthread waiting([&] { lock = locks.acquire("it", {.ttl = 30s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return proxy.count(multi) == 2; }));
    ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 1; }));
    proxy.inject({multi, zookeeper_fault_kind::lose_reply});
    EXPECT_EQ(before.release(), pawl::release_result::released);
    waiting.join();
    const auto token = lock.token();
    ASSERT_TRUE(eventually([&] { return proxy.count(multi) >= 4; }));
    lock.renew();
    EXPECT_EQ(lock.state(), pawl::lock_state::held);
    const auto info = observer.inspect("it");
    ASSERT_TRUE(info.held_by);
    EXPECT_EQ(info.held_by->token, token);
    EXPECT_TRUE(info.others.empty());
    EXPECT_EQ(info.waiters, 0U);
    EXPECT_EQ(lock.release(), pawl::release_result::released);
}

//   A waits | every connection is cut | A's place stays, and its watch fires
TEST_F(ZooKeeperProxy, AWaiterKeepsItsPlaceOverAConnection) {
    auto locks = warm_client();
    auto lock = observer.acquire("it", {.ttl = 20s, .wait = patience});
    pawl::blocking::held_lock next;
    std::jthread waiting([&] { next = locks.acquire("it", {.ttl = 4s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 1; }));
    const auto before = proxy.count(create);
    proxy.kill_connections();
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    waiting.join();
    EXPECT_TRUE(next.owns_lock());
    EXPECT_EQ(proxy.count(create), before);
}

}  // namespace
}  // namespace zookeeper_chaos
