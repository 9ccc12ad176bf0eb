// What an administrator changes while locks are held and waited for: rights, passwords, names of
// commands; and proxies that know less than the server behind them.
#include "scene.hpp"

#include <support/scripted_server.hpp>

#include <fstream>

namespace {

using namespace chaos;

class Changes : public testing::Test, protected scene {
protected:
    Changes()
        : scene({.config = {"user worker on >old ~pawl:* &pawl:* +@all", "include more*.conf"}}) {}

    client worker(const std::string& more = {}) {
        return at("redis://worker:old@127.0.0.1:" + std::to_string(proxy.port()) + more);
    }
    // One holds a lock, another client waits for one; then `change`. The holder is told in time,
    // the waiter at once, and neither asks without end.
    void expect_told(const std::function<void()>& change, errc reason, const std::string& says) {
        client holds = worker(), waits = worker(), other = direct();
        auto lock = holds.acquire("held", {.ttl = 2s, .wait = patience});
        auto taken = other.acquire("it", {.ttl = long_ttl});
        std::optional<failure> what;
        beside waiter([&] {
            what =
                failure_of([&] { (void)waits.acquire("it", {.ttl = 2s, .wait = pawl::forever}); });
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        const bell loss(lock);
        const auto then = boot_clock::now();
        change();
        waiter.join();
        ASSERT_TRUE(loss.rang_within(5s));
        EXPECT_LE(loss.when(), then + 2s);
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, reason) << what;
        EXPECT_NE(what->sentence.find(says), std::string::npos) << what;
        // The renewals of 2 s, one every 100 ms, the looks, and a few undoings and connections.
        const auto requests = holds.statistics().requests + waits.statistics().requests;
        EXPECT_LE(requests, 120U);
        EXPECT_NE(lock.release(), release_result::released);
    }
};

TEST_F(Changes, RightsAreTakenAway) {
    expect_told(
        [&] {
            (void)server.ask({"ACL", "SETUSER", "worker", "-evalsha", "-eval"});
        },
        errc::refused, "NOPERM");
}

TEST_F(Changes, RightsToTheKeysAreTakenAway) {
    expect_told(
        [&] {
            (void)server.ask({"ACL", "SETUSER", "worker", "resetkeys", "~other:*"});
        },
        errc::refused, "NOPERM");
}

// The server ends connections that listen where they may not.
TEST_F(Changes, RightsToTheChannelsAreTakenAway) {
    expect_told(
        [&] {
            (void)server.ask({"ACL", "SETUSER", "worker", "resetchannels", "&other:*"});
        },
        errc::refused, "NOPERM");
}

// It is asked for at the next connection.
TEST_F(Changes, ThePasswordIsAnother) {
    expect_told(
        [&] {
            (void)server.ask({"ACL", "SETUSER", "worker", "resetpass", ">new"});
            proxy.kill_connections();
        },
        errc::refused, "WRONGPASS");
}

TEST_F(Changes, TheUserIsGone) {
    expect_told(
        [&] {
            (void)server.ask({"ACL", "DELUSER", "worker"});
        },
        errc::refused, "WRONGPASS");
}

// A right that comes back within the ttl costs nothing.
TEST_F(Changes, RightsComeBackInTime) {
    client locks = worker();
    auto lock = locks.acquire("it", {.ttl = 10s, .wait = patience});
    const auto before = lock.safe_until();
    (void)server.ask({"ACL", "SETUSER", "worker", "-evalsha", "-eval"});
    ASSERT_TRUE(eventually([&] { return lock.state() == lock_state::at_risk; }, 20s));
    (void)server.ask({"ACL", "SETUSER", "worker", "+evalsha", "+eval"});
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.release(), release_result::released);
}

// A release that is refused is carried out when the right is back.
TEST_F(Changes, RightsComeBackForARelease) {
    client locks = worker();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    (void)server.ask({"ACL", "SETUSER", "worker", "-evalsha", "-eval"});
    EXPECT_EQ(lock.release(), release_result::unknown);
    (void)server.ask({"ACL", "SETUSER", "worker", "+evalsha", "+eval"});
    EXPECT_TRUE(clean());
}

// A server that comes up again with other names for commands, after the connection was greeted well
// before.
TEST_F(Changes, CommandsAreRenamed) {
    struct row {
        std::string command;
        bool serves;  // all the same
    };
    const std::vector<row> rows = {
        {"EVALSHA", false}, {"SUBSCRIBE", false}, {"HELLO", false}, {"CLIENT", true}};
    for (const auto& [command, serves] : rows) {
        client locks = direct();
        (void)locks.acquire("it", {.ttl = 2s, .wait = patience}).release();
        server.terminate();
        std::ofstream(server.folder().file("more.conf"))
            << "rename-command " << command << " \"\"\n";
        server.start();
        for (const bool anew : {false, true}) {
            client fresh = direct();
            client& one = anew ? fresh : locks;
            const auto what = failure_of(
                [&] { (void)one.acquire("it", {.ttl = 2s, .wait = patience}).release(); });
            EXPECT_EQ(what.has_value(), !serves) << command << ": " << what;
            if (!what) continue;
            EXPECT_EQ(what->reason, errc::unsupported) << command << ": " << what;
            EXPECT_NE(what->sentence.find("unknown command"), std::string::npos) << what;
            EXPECT_NE(what->sentence.find("renamed"), std::string::npos) << what;
        }
        server.terminate();
        std::ofstream(server.folder().file("more.conf")).close();
        server.start();
    }
}

// What proxies of RESP2 answer to HELLO, or that they end the connection.
TEST(Proxies, OfResp2AreRefusedWithASentence) {
    for (const std::string& answer :
         {std::string("-ERR unknown command 'HELLO'\r\n"),
          std::string("-NOPROTO unsupported protocol version\r\n"),
          std::string("-ERR invalid request\r\n"), std::string("-ERR unsupported command\r\n")}) {
        const support::scripted_server server([&answer](support::conversation& with) {
            while (with.receive() && with.send(answer)) {}
        });
        client locks(pawl::redis::at(server.url()));
        try {
            (void)locks.acquire("it", {.ttl = 2s, .wait = pawl::forever});
            ADD_FAILURE() << answer;
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), errc::unsupported) << e.what();
            EXPECT_NE(std::string(e.what()).find("RESP2 only"), std::string::npos) << e.what();
        }
    }
}

}  // namespace
