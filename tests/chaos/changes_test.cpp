// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An administrator's changes while locks are held and waited for: permissions, passwords, renamed
// commands; and proxies that support less than their server.
#include "redis_fixture.hpp"

#include <support/scripted_server.hpp>

#include <fstream>

namespace {

using namespace chaos;

class Changes : public testing::Test, protected redis_fixture {
protected:
    Changes()
        : redis_fixture(
              {.config = {"user worker on >old ~pawl:* &pawl:* +@all", "include more*.conf"}}) {}

    client worker_client(const std::string& suffix = {}) {
        return client_at("redis://worker:old@127.0.0.1:" + std::to_string(proxy.port()) + suffix);
    }
    // One client holds a lock and another waits for one; then comes `change`. The holder is told in
    // time, the waiter at once, and neither sends requests without end.
    void expect_loss_and_failure(const std::function<void()>& change, errc reason,
                                 const std::string& part) {
        client holds = worker_client(), waits = worker_client(), other = direct_client();
        auto lock = holds.acquire("held", {.ttl = 2s, .wait = patience});
        auto other_lock = other.acquire("it", {.ttl = long_ttl});
        std::optional<failure> failed;
        background_task waiter([&] {
            failed =
                failure_of([&] { (void)waits.acquire("it", {.ttl = 2s, .wait = pawl::forever}); });
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        const loss_recorder loss(lock);
        const auto before = boot_clock::now();
        change();
        waiter.join();
        ASSERT_TRUE(loss.is_told_within(5s));
        EXPECT_LE(loss.told_at(), before + 2s);
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, reason) << failed;
        EXPECT_NE(failed->sentence.find(part), std::string::npos) << failed;
        // The renewals of 2 s (one every 100 ms), the refreshes, and a few undo requests and
        // connections.
        const auto requests = holds.statistics().requests + waits.statistics().requests;
        EXPECT_LE(requests, 120U);
        EXPECT_NE(lock.release(), release_result::released);
    }
};

TEST_F(Changes, RightsAreTakenAway) {
    expect_loss_and_failure(
        [&] {
            (void)server.execute({"ACL", "SETUSER", "worker", "-evalsha", "-eval"});
        },
        errc::refused, "NOPERM");
}

TEST_F(Changes, RightsToTheKeysAreTakenAway) {
    expect_loss_and_failure(
        [&] {
            (void)server.execute({"ACL", "SETUSER", "worker", "resetkeys", "~other:*"});
        },
        errc::refused, "NOPERM");
}

// The server ends connections whose subscriptions are no longer permitted.
TEST_F(Changes, RightsToTheChannelsAreTakenAway) {
    expect_loss_and_failure(
        [&] {
            (void)server.execute({"ACL", "SETUSER", "worker", "resetchannels", "&other:*"});
        },
        errc::refused, "NOPERM");
}

// Needed at the next connection.
TEST_F(Changes, ThePasswordIsAnother) {
    expect_loss_and_failure(
        [&] {
            (void)server.execute({"ACL", "SETUSER", "worker", "resetpass", ">new"});
            proxy.kill_connections();
        },
        errc::refused, "WRONGPASS");
}

TEST_F(Changes, TheUserIsGone) {
    expect_loss_and_failure(
        [&] {
            (void)server.execute({"ACL", "DELUSER", "worker"});
        },
        errc::refused, "WRONGPASS");
}

// A permission that is restored within the ttl costs nothing.
TEST_F(Changes, RightsComeBackInTime) {
    client locks = worker_client();
    auto lock = locks.acquire("it", {.ttl = 10s, .wait = patience});
    const auto before = lock.safe_until();
    (void)server.execute({"ACL", "SETUSER", "worker", "-evalsha", "-eval"});
    ASSERT_TRUE(eventually([&] { return lock.state() == lock_state::at_risk; }, 20s));
    (void)server.execute({"ACL", "SETUSER", "worker", "+evalsha", "+eval"});
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.release(), release_result::released);
}

// A refused release is executed once the permission is restored.
TEST_F(Changes, RightsComeBackForARelease) {
    client locks = worker_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    (void)server.execute({"ACL", "SETUSER", "worker", "-evalsha", "-eval"});
    EXPECT_EQ(lock.release(), release_result::unknown);
    (void)server.execute({"ACL", "SETUSER", "worker", "+evalsha", "+eval"});
    EXPECT_TRUE(becomes_clean());
}

// The server names the script and its line only.
TEST_F(Changes, ACommandWithinAScriptIsRenamed) {
    for (const std::string layout : {"", "?layout=redisson"}) {
        server.terminate();
        std::ofstream(server.folder().file("more.conf")) << "rename-command PTTL \"\"\n";
        server.start();
        client locks = direct_client(layout), others = direct_client(layout);
        const auto failed = failure_of([&] {
            const auto held = others.try_acquire("it", {.ttl = long_ttl});
            (void)locks.try_acquire("it", {.ttl = long_ttl});
        });
        ASSERT_TRUE(failed) << layout;
        EXPECT_EQ(failed->reason, errc::unsupported) << failed;
        EXPECT_NE(failed->sentence.find("unknown command 'PTTL' in a script"), std::string::npos)
            << failed;
        server.terminate();
        std::ofstream(server.folder().file("more.conf")).close();
        server.start();
    }
}

// A server that restarts with renamed commands after the connection had completed its handshake.
TEST_F(Changes, CommandsAreRenamed) {
    struct denied_command {
        std::string command;
        bool serves;  // locks can be acquired without the command
    };
    const std::vector<denied_command> rows = {
        {"EVALSHA", false}, {"SUBSCRIBE", false}, {"HELLO", false}, {"CLIENT", true}};
    for (const auto& [command, serves] : rows) {
        client locks = direct_client();
        (void)locks.acquire("it", {.ttl = 2s, .wait = patience}).release();
        server.terminate();
        std::ofstream(server.folder().file("more.conf"))
            << "rename-command " << command << " \"\"\n";
        server.start();
        for (const bool anew : {false, true}) {
            client fresh = direct_client();
            client& first = anew ? fresh : locks;
            const auto failed = failure_of(
                [&] { (void)first.acquire("it", {.ttl = 2s, .wait = patience}).release(); });
            EXPECT_EQ(failed.has_value(), !serves) << command << ": " << failed;
            if (!failed) continue;
            EXPECT_EQ(failed->reason, errc::unsupported) << command << ": " << failed;
            EXPECT_NE(failed->sentence.find("unknown command"), std::string::npos) << failed;
            EXPECT_NE(failed->sentence.find("renamed"), std::string::npos) << failed;
        }
        server.terminate();
        std::ofstream(server.folder().file("more.conf")).close();
        server.start();
    }
}

// The possible replies of RESP2 proxies to HELLO, or the end of the connection.
TEST(Proxies, OfResp2AreRefusedWithASentence) {
    for (const std::string& reply :
         {std::string("-ERR unknown command 'HELLO'\r\n"),
          std::string("-NOPROTO unsupported protocol version\r\n"),
          std::string("-ERR invalid request\r\n"), std::string("-ERR unsupported command\r\n")}) {
        const support::scripted_server server([&reply](support::scripted_connection& connection) {
            while (connection.receive() && connection.send(reply)) {}
        });
        client locks(pawl::redis::at(server.url()));
        try {
            (void)locks.acquire("it", {.ttl = 2s, .wait = pawl::forever});
            ADD_FAILURE() << reply;
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), errc::unsupported) << e.what();
            EXPECT_NE(std::string(e.what()).find("RESP2 only"), std::string::npos) << e.what();
        }
    }
}

}  // namespace
