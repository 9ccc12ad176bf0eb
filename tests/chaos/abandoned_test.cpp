// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a connection leaves behind: nothing that a child program inherits, and nothing that is
// delivered later.
#include "redis_fixture.hpp"

#include <support/scripted_server.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace {

using namespace chaos;

class Abandoned : public testing::Test, protected redis_fixture {};

std::set<int> open_descriptors() {
    std::set<int> all;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
        all.insert(std::stoi(each.path().filename().string()));
    return all;
}

bool is_connecting(int number) {
    int kind = 0;
    socklen_t size = sizeof kind;
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof peer;
    sockaddr_in local{};
    socklen_t local_size = sizeof local;
    return ::getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_STREAM &&
           ::getsockname(number, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 &&
           local.sin_family == AF_INET &&
           ::getpeername(number, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0;
}

// A listener with a full backlog, so that connecting clients wait.
struct full_listener {
    full_listener() {
        listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        auto* raw = reinterpret_cast<sockaddr*>(&at);
        if (::bind(listener, raw, size) != 0 || ::listen(listener, 0) != 0 ||
            ::getsockname(listener, raw, &size) != 0)
            throw std::runtime_error("cannot listen");
        port = ntohs(at.sin_port);
        for (auto& each : fillers) {
            each = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            (void)::connect(each, raw, size);
        }
    }
    ~full_listener() {
        for (const int each : fillers)
            ::close(each);
        ::close(listener);
    }
    full_listener(const full_listener&) = delete;
    full_listener& operator=(const full_listener&) = delete;

    int listener = -1;
    std::uint16_t port = 0;
    std::array<int, 4> fillers{};
};

// A program that is started while the connection is being made would inherit it, authenticated a
// moment later.
TEST_F(Abandoned, NoSocketIsForAChildWhileItConnects) {
    const full_listener full;
    const auto before = open_descriptors();
    client locks =
        client_at("redis://127.0.0.1:" + std::to_string(full.port) + "?connect_timeout=3000");
    std::atomic<bool> over = false;
    background_task acquiring([&] {
        (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        over = true;
    });
    int connecting = -1;
    EXPECT_TRUE(eventually([&] {
        for (const int each : open_descriptors())
            if (!before.contains(each) && is_connecting(each)) connecting = each;
        return connecting >= 0 || over;
    }));
    ASSERT_GE(connecting, 0) << client_log.text();
    EXPECT_EQ(::fcntl(connecting, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    acquiring.join();
}

// A client sends a request | no reply comes | it abandons the connection: the peer sees a reset,
// which means that the client's kernel drops the unsent data
TEST_F(Abandoned, RequestsAreForgotten) {
    std::atomic<int> ended = 0;
    std::atomic<bool> reset = false;
    const support::scripted_server silent([&](support::scripted_connection& connection) {
        (void)connection.complete_handshake();
        while (connection.receive()) {}
        reset = reset || connection.was_reset();
        ++ended;
    });
    client locks = client_at(silent.url("?reply_timeout=300"));
    EXPECT_TRUE(failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); }));
    ASSERT_TRUE(eventually([&] { return ended > 0; }));
    EXPECT_TRUE(reset);
}

TEST_F(Abandoned, AConnectionWithoutUnansweredRequestsIsNotReset) {
    std::atomic<int> ended = 0;
    std::atomic<bool> reset = false;
    const support::scripted_server refusing([&](support::scripted_connection& connection) {
        while (connection.complete_handshake() && connection.send("-ERR not today\r\n")) {}
        reset = reset || connection.was_reset();
        ++ended;
    });
    {
        client locks = client_at(refusing.url());
        EXPECT_TRUE(failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); }));
    }
    ASSERT_TRUE(eventually([&] { return ended > 0; }));
    EXPECT_FALSE(reset);
}

// An endless drain time does not overflow to none: a delayed release is still sent.
TEST_F(Abandoned, AReleaseIsSentWhereTheDrainTimeHasNoEnd) {
    {
        client locks(pawl::redis::at(proxy.url()), {.drain = pawl::forever});
        const auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        proxy.delay(300ms, 0ms);
    }
    EXPECT_FALSE(is_held("it"));
}

}  // namespace
