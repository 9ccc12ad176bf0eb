// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server that closes the connection right after a reply or a push: the client notices the end,
// although it came together with data, and connects again without another request.
#include "redis_fixture.hpp"

#include <support/scripted_server.hpp>

namespace {

using namespace chaos;
using support::lock_is_busy;
using support::scripted_connection;
using support::scripted_server;

TEST(LastReply, TheEndOfTheConnectionComesWithAReply) {
    scripted_server server([](scripted_connection& connection) {
        if (connection.complete_handshake()) connection.send_last(lock_is_busy);
    });
    pawl::blocking::client locks(pawl::from_url(server.url()));
    const auto lock = locks.try_acquire("it");
    EXPECT_FALSE(lock);
    EXPECT_TRUE(eventually([&] { return server.connections() > 1; }));
}

TEST(LastReply, TheEndOfTheConnectionComesWithAPush) {
    scripted_server server([](scripted_connection& connection) {
        if (!connection.complete_handshake()) return;
        connection.send(lock_is_busy);
        // The client's watch for replies is parked by then.
        std::this_thread::sleep_for(2s);
        connection.send_last(">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n");
    });
    pawl::blocking::client locks(pawl::from_url(server.url()));
    const auto lock = locks.try_acquire("it");
    EXPECT_FALSE(lock);
    EXPECT_TRUE(eventually([&] { return server.connections() > 1; }));
}

}  // namespace
