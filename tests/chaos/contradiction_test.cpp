// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server whose replies contradict each other does not get requests in a loop.
#include "redis_fixture.hpp"

#include <support/scripted_server.hpp>

#include <atomic>

namespace {

using namespace chaos;
using support::scripted_connection;

std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string wall_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Replies "held by another" to an acquire, with `refresh_reply` to a refresh, and "not yours" to a
// renewal.
class contradiction {
public:
    explicit contradiction(std::function<std::string()> refresh_reply)
        : refresh_reply_(std::move(refresh_reply)) {}

    // One waiter, for two seconds.
    void run_waiter() {
        const support::scripted_server server(
            [this](scripted_connection& connection) { serve_connection(connection); });
        client locks(pawl::redis::at(server.url()));
        try {
            (void)locks.acquire("it", {.ttl = 10s, .wait = 2s});
            ADD_FAILURE() << "it was granted";
        } catch (const pawl::error& thrown) {
            EXPECT_EQ(thrown.reason(), errc::timed_out) << thrown.what();
        }
    }

    std::atomic<int> refreshes = 0, renewals = 0;

private:
    void serve_connection(scripted_connection& connection) {
        for (auto words = connection.complete_handshake(); words; words = connection.receive())
            if (!connection.send(reply_to(*words))) return;
    }
    std::string reply_to(const support::command_words& command) {
        if (command[0] != "EVALSHA" && command[0] != "EVAL") return "+OK\r\n";
        // The number of keys: 2 for an acquire, 4 for one that asks for a place, 1 for a renewal.
        if (command[2] == "2") return "*2\r\n:0\r\n:100\r\n";
        if (command[2] == "4") return "*4\r\n:0\r\n:100\r\n" + bulk(wall_ms()) + ":0\r\n";
        if (command[2] == "1") return ++renewals, "*1\r\n:0\r\n";
        if (command.size() != 3 + 6 + 11) return ":0\r\n";  // a waiter that leaves
        ++refreshes;
        return refresh_reply_();
    }

    const std::function<std::string()> refresh_reply_;
};

TEST(Contradiction, OfAGrantThatARenewalRefusesIsMetWithPauses) {
    contradiction server(
        [] { return "*4\r\n:1\r\n" + bulk("5983000000000") + bulk(wall_ms()) + ":10\r\n"; });
    server.run_waiter();
    EXPECT_GE(server.renewals, 2) << "a single refusal may be a race, so the client tries again";
    EXPECT_LE(server.renewals, 12);
    EXPECT_LE(server.refreshes, 16);
}

TEST(Contradiction, OfALeaseThatAlwaysEndsNowIsLookedAtNowAndThen) {
    contradiction server([] { return "*5\r\n:0\r\n:0\r\n" + bulk(wall_ms()) + ":0\r\n:1900\r\n"; });
    server.run_waiter();
    EXPECT_GE(server.refreshes, 3);
    EXPECT_LE(server.refreshes, 45);
}

}  // namespace
