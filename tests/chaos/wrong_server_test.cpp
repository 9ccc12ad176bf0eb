// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Servers that will not, or cannot, serve: the right reason, one sentence, in a bounded time.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class WrongServer : public testing::Test, protected redis_fixture {
protected:
    // The error of a client with this URL, with a wait and without one.
    void expect_failure(const std::string& url, errc reason, const std::string& part) {
        client locks = client_at(url);
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, reason) << failed;
        EXPECT_NE(failed->sentence.find(part), std::string::npos) << failed->sentence;
        const auto waiting =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1s}); });
        ASSERT_TRUE(waiting.has_value());
        EXPECT_EQ(waiting->reason, reason) << waiting;
    }
};

TEST_F(WrongServer, NobodyListens) {
    std::uint16_t port = 0;
    ::close(support::listen_on(port));
    expect_failure("redis://127.0.0.1:" + std::to_string(port) + "?connect_timeout=1000",
                   errc::unreachable, std::to_string(port));
}

TEST_F(WrongServer, NoSuchSocket) {
    expect_failure("redis+unix://" + server.folder().file("nothing.sock") + "?connect_timeout=1000",
                   errc::unreachable, "nothing.sock");
}

// Accepts connections and sends nothing.
TEST_F(WrongServer, SaysNothing) {
    std::uint16_t port = 0;
    const int listener = support::listen_on(port);
    expect_failure(
        "redis://127.0.0.1:" + std::to_string(port) + "?connect_timeout=700&reply_timeout=700",
        errc::unreachable, std::to_string(port));
    ::close(listener);
}

// Replies to any request with the same text, and closes.
class fixed_reply_server {
public:
    explicit fixed_reply_server(std::string text)
        : listener_(support::listen_on(port_)), thread_([this, text = std::move(text)] {
              for (int socket = ::accept(listener_, nullptr, nullptr); socket >= 0;
                   socket = ::accept(listener_, nullptr, nullptr)) {
                  char some[4096];
                  (void)!::recv(socket, some, sizeof some, 0);
                  (void)!::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
                  ::close(socket);
              }
          }) {}
    ~fixed_reply_server() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    [[nodiscard]] std::string url() const {
        return "redis://127.0.0.1:" + std::to_string(port_) +
               "?connect_timeout=1000&reply_timeout=1000";
    }

private:
    std::uint16_t port_ = 0;
    int listener_;
    std::jthread thread_;
};

TEST_F(WrongServer, IsNoRedis) {
    const std::string texts[] = {
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<html>no</html>",
        "SSH-2.0-OpenSSH_9.2\r\n",
        std::string("\x00\xff\x15\x03\x01\x00\x02\x02\x50", 9),
        "*1000000000\r\n",
        "$99999999999999999999\r\n",
        "$\r\n",
        "=\r\n",
        "*2\r\n+OK\r\n!\r\n",
        "+OK",
        "",
    };
    for (const std::string& text : texts) {
        const fixed_reply_server other(text);
        client locks = client_at(other.url());
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(failed.has_value()) << text;
        EXPECT_TRUE(failed->reason == errc::protocol || failed->reason == errc::unreachable)
            << text << ": " << failed;
    }
}

TEST_F(WrongServer, HoldsSomethingElseUnderTheName) {
    const std::vector<support::command_words> makings = {{"RPUSH", "pawl:{it}", "x"},
                                                         {"HSET", "pawl:{it}", "x", "1"},
                                                         {"SADD", "pawl:{it}", "x"},
                                                         {"ZADD", "pawl:{it}", "1", "x"}};
    for (const auto& making : makings) {
        (void)server.execute({"DEL", "pawl:{it}"});
        (void)server.execute(making);
        expect_failure(server.url(), errc::wrong_type, "pawl:{it}");
        EXPECT_EQ(server.execute({"TYPE", "pawl:{it}"}).text, making.front() == "RPUSH"  ? "list"
                                                              : making.front() == "HSET" ? "hash"
                                                              : making.front() == "SADD" ? "set"
                                                                                         : "zset");
    }
    (void)server.execute({"DEL", "pawl:{it}"});
    EXPECT_TRUE(becomes_clean());
}

// The lock's key becomes a list while it is held: a loss, and the release reports it.
TEST_F(WrongServer, PutsSomethingElseInTheLocksPlace) {
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    (void)server.execute({"DEL", "pawl:{it}"});
    (void)server.execute({"RPUSH", "pawl:{it}", "x"});
    ASSERT_TRUE(loss.is_told_within(4s));
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(server.execute({"LLEN", "pawl:{it}"}).number(), 1);
}

// Only the fence, the queue or the waiters have a wrong type: no lock may be left behind without an
// owner.
TEST_F(WrongServer, HoldsSomethingElseBesideTheLock) {
    for (const std::string& key :
         {std::string("pawl:{it}:f"), std::string("pawl:{it}:q"), std::string("pawl:{it}:w")}) {
        (void)server.execute({"FLUSHALL"});
        client holder = direct_client(), locks = direct_client();
        (void)server.execute({"RPUSH", key, "x"});
        std::optional<failure> failed;
        held_lock lock;
        failed = failure_of([&] { lock = holder.acquire("it", {.ttl = 2s, .wait = 2s}); });
        if (!failed)
            failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1s}); });
        ASSERT_TRUE(failed.has_value()) << key;
        EXPECT_EQ(failed->reason, errc::wrong_type) << key << ": " << failed;
        EXPECT_EQ(failed->sentence.find(key + " holds a list, where Pawl keeps "), 0U) << failed;
        lock = {};
        (void)server.execute({"DEL", key});
        EXPECT_TRUE(becomes_clean()) << key;
    }
}

// maxmemory is reached: no new locks, and the error says so. Holds can be renewed and released.
TEST_F(WrongServer, IsOutOfMemory) {
    client holder = direct_client(), locks = direct_client();
    auto lock = holder.acquire("held", {.ttl = 2s, .wait = patience});
    (void)server.execute({"CONFIG", "SET", "maxmemory", "1"});
    expect_failure(server.url(), errc::unavailable, "memory");
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
    std::atomic<bool> was_acquired = false;
    background_task waiting([&] {
        auto own_lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        was_acquired = true;
    });
    std::this_thread::sleep_for(300ms);  // the time without memory
    EXPECT_FALSE(was_acquired);
    (void)server.execute({"CONFIG", "SET", "maxmemory", "0"});
    waiting.join();
    EXPECT_TRUE(was_acquired);
    EXPECT_TRUE(becomes_clean());
}

// Out of memory with a waiter in the queue: the release must free the lock although it cannot be
// handed over.
TEST_F(WrongServer, IsOutOfMemoryAtAHandOff) {
    client holder = direct_client(), waiting = direct_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)server.execute({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(lock.release(), release_result::released);
    (void)server.execute({"CONFIG", "SET", "maxmemory", "0"});
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
}

TEST_F(WrongServer, IsAReplica) {
    support::redis_server replica(
        {.config = {"replicaof 127.0.0.1 " + std::to_string(server.port())}});
    ASSERT_TRUE(eventually([&] {
        return replica.execute({"INFO", "replication"}).text.find("master_link_status:up") !=
               std::string::npos;
    }));
    expect_failure(replica.url(), errc::refused, "replica");
}

// A master becomes a replica while a lock is held: the renewals are refused, and the loss is
// reported in time.
TEST_F(WrongServer, BecomesAReplica) {
    support::redis_server other;
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    const auto demoted_at = boot_clock::now();
    (void)server.execute({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), demoted_at + 2s);
    (void)server.execute({"REPLICAOF", "NO", "ONE"});
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

TEST_F(WrongServer, IsLoadingItsData) {
    client locks = proxied_client();
    (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    proxy.inject({.matches = script(scripts::acquire),
                  .kind = fault_kind::reply,
                  .reply = "-LOADING Redis is loading the dataset in memory\r\n",
                  .times = 5});
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_EQ(proxy.strike_count(), 5U);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// A renewal that gets a temporary error is repeated, and is no loss.
TEST_F(WrongServer, IsBusyAtARenewal) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    for (const std::string& words :
         {std::string("-BUSY Redis is busy running a script"), std::string("-LOADING soon"),
          std::string("-OOM command not allowed"), std::string("-MISCONF cannot save"),
          std::string("-ERR something new")}) {
        const auto struck = proxy.strike_count();
        proxy.inject({.matches = script(scripts::renew),
                      .kind = fault_kind::reply,
                      .reply = words + "\r\n"});
        ASSERT_TRUE(eventually([&] { return proxy.strike_count() == struck + 1; }));
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; })) << words;
        EXPECT_EQ(lock.state(), lock_state::held) << words;
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

}  // namespace
