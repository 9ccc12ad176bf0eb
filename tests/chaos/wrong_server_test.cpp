// Servers that will not, or cannot, serve us: the right reason, one sentence, in a bounded time.
#include "scene.hpp"

#include <redis_scripts.hpp>

#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class WrongServer : public testing::Test, protected scene {
protected:
    // What a client of this URL hears when it asks for a lock, with a wait and without one.
    void expect_failure(const std::string& url, errc reason, const std::string& says) {
        client locks = at(url);
        const auto once = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(once.has_value());
        EXPECT_EQ(once->reason, reason) << once;
        EXPECT_NE(once->sentence.find(says), std::string::npos) << once->sentence;
        const auto waiting =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1s}); });
        ASSERT_TRUE(waiting.has_value());
        EXPECT_EQ(waiting->reason, reason) << waiting;
    }
};

TEST_F(WrongServer, NobodyListens) {
    std::uint16_t port = 0;
    ::close(support::listen_on(port));
    expect_failure("redis://127.0.0.1:" + std::to_string(port) + "?connect_timeout_ms=1000",
                   errc::unreachable, std::to_string(port));
}

TEST_F(WrongServer, NoSuchSocket) {
    expect_failure(
        "redis+unix://" + server.folder().file("nothing.sock") + "?connect_timeout_ms=1000",
        errc::unreachable, "nothing.sock");
}

// It takes connections and says nothing.
TEST_F(WrongServer, SaysNothing) {
    std::uint16_t port = 0;
    const int listener = support::listen_on(port);
    expect_failure("redis://127.0.0.1:" + std::to_string(port) +
                       "?connect_timeout_ms=700&reply_timeout_ms=700",
                   errc::unreachable, std::to_string(port));
    ::close(listener);
}

// Answers whatever it is asked with one and the same text, and closes.
class babbler {
public:
    explicit babbler(std::string text)
        : listener_(support::listen_on(port_)), thread_([this, text = std::move(text)] {
              for (int one = ::accept(listener_, nullptr, nullptr); one >= 0;
                   one = ::accept(listener_, nullptr, nullptr)) {
                  char some[4096];
                  (void)!::recv(one, some, sizeof some, 0);
                  (void)!::send(one, text.data(), text.size(), MSG_NOSIGNAL);
                  ::close(one);
              }
          }) {}
    ~babbler() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    [[nodiscard]] std::string url() const {
        return "redis://127.0.0.1:" + std::to_string(port_) +
               "?connect_timeout_ms=1000&reply_timeout_ms=1000";
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
        const babbler other(text);
        client locks = at(other.url());
        const auto what = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(what.has_value()) << text;
        EXPECT_TRUE(what->reason == errc::protocol || what->reason == errc::unreachable)
            << text << ": " << what;
    }
}

TEST_F(WrongServer, HoldsSomethingElseUnderTheName) {
    const std::vector<support::command_words> makings = {{"RPUSH", "pawl:{it}", "x"},
                                                         {"HSET", "pawl:{it}", "x", "1"},
                                                         {"SADD", "pawl:{it}", "x"},
                                                         {"ZADD", "pawl:{it}", "1", "x"}};
    for (const auto& making : makings) {
        (void)server.ask({"DEL", "pawl:{it}"});
        (void)server.ask(making);
        expect_failure(server.url(), errc::wrong_type, "pawl:{it}");
        EXPECT_EQ(server.ask({"TYPE", "pawl:{it}"}).text, making.front() == "RPUSH"  ? "list"
                                                          : making.front() == "HSET" ? "hash"
                                                          : making.front() == "SADD" ? "set"
                                                                                     : "zset");
    }
    (void)server.ask({"DEL", "pawl:{it}"});
    EXPECT_TRUE(clean());
}

// The lock's key becomes a list while it is held: a loss, and the release says so.
TEST_F(WrongServer, PutsSomethingElseInTheLocksPlace) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const bell loss(lock);
    (void)server.ask({"DEL", "pawl:{it}"});
    (void)server.ask({"RPUSH", "pawl:{it}", "x"});
    ASSERT_TRUE(loss.rang_within(4s));
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(server.ask({"LLEN", "pawl:{it}"}).number(), 1);
}

// Only the fence, the queue or the waiters have a wrong type: no lock may be left that nobody knows
// of.
TEST_F(WrongServer, HoldsSomethingElseBesideTheLock) {
    for (const std::string& key :
         {std::string("pawl:{it}:f"), std::string("pawl:{it}:q"), std::string("pawl:{it}:w")}) {
        (void)server.ask({"FLUSHALL"});
        client holder = direct(), locks = direct();
        (void)server.ask({"RPUSH", key, "x"});
        std::optional<failure> what;
        held_lock lock;
        what = failure_of([&] { lock = holder.acquire("it", {.ttl = 2s, .wait = 2s}); });
        if (!what) what = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1s}); });
        ASSERT_TRUE(what.has_value()) << key;
        EXPECT_EQ(what->reason, errc::wrong_type) << key << ": " << what;
        EXPECT_EQ(what->sentence.find(key + " holds a list, where Pawl keeps "), 0U) << what;
        lock = {};
        (void)server.ask({"DEL", key});
        EXPECT_TRUE(clean()) << key;
    }
}

// maxmemory is reached: no new locks, and that is said. What is held can be renewed and given back.
TEST_F(WrongServer, IsOutOfMemory) {
    client holder = direct(), locks = direct();
    auto lock = holder.acquire("held", {.ttl = 2s, .wait = patience});
    (void)server.ask({"CONFIG", "SET", "maxmemory", "1"});
    expect_failure(server.url(), errc::unavailable, "memory");
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(clean());
    std::atomic<bool> got = false;
    beside waiting([&] {
        auto mine = locks.acquire("it", {.ttl = 2s, .wait = patience});
        got = true;
    });
    std::this_thread::sleep_for(300ms);  // the time without memory
    EXPECT_FALSE(got);
    (void)server.ask({"CONFIG", "SET", "maxmemory", "0"});
    waiting.join();
    EXPECT_TRUE(got);
    EXPECT_TRUE(clean());
}

// Out of memory with somebody in line: the release must free the lock although it cannot be handed
// over.
TEST_F(WrongServer, IsOutOfMemoryAtAHandOff) {
    client holder = direct(), waiting = direct();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock got;
    beside waiter([&] { got = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)server.ask({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(lock.release(), release_result::released);
    (void)server.ask({"CONFIG", "SET", "maxmemory", "0"});
    waiter.join();
    EXPECT_GT(got.token(), lock.token());
}

TEST_F(WrongServer, IsAReplica) {
    support::redis_server replica(
        {.config = {"replicaof 127.0.0.1 " + std::to_string(server.port())}});
    ASSERT_TRUE(eventually([&] {
        return replica.ask({"INFO", "replication"}).text.find("master_link_status:up") !=
               std::string::npos;
    }));
    expect_failure(replica.url(), errc::refused, "replica");
}

// A master that is made a replica while a lock is held: the renewals are refused, the loss comes in
// time.
TEST_F(WrongServer, BecomesAReplica) {
    support::redis_server other;
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    const auto demoted_at = boot_clock::now();
    (void)server.ask({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), demoted_at + 2s);
    (void)server.ask({"REPLICAOF", "NO", "ONE"});
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

TEST_F(WrongServer, IsLoadingItsData) {
    client locks = proxied();
    (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    proxy.inject({.which = script(scripts::acquire),
                  .what = fate::answer,
                  .text = "-LOADING Redis is loading the dataset in memory\r\n",
                  .times = 5});
    const auto once = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(once.has_value());
    EXPECT_EQ(once->reason, errc::unavailable) << once;
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_EQ(proxy.struck(), 5U);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// A renewal that the server answers with a passing error is tried again, and is no loss.
TEST_F(WrongServer, IsBusyAtARenewal) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    for (const std::string& words :
         {std::string("-BUSY Redis is busy running a script"), std::string("-LOADING soon"),
          std::string("-OOM command not allowed"), std::string("-MISCONF cannot save"),
          std::string("-ERR something new")}) {
        const auto struck = proxy.struck();
        proxy.inject(
            {.which = script(scripts::renew), .what = fate::answer, .text = words + "\r\n"});
        ASSERT_TRUE(eventually([&] { return proxy.struck() == struck + 1; }));
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; })) << words;
        EXPECT_EQ(lock.state(), lock_state::held) << words;
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

}  // namespace
