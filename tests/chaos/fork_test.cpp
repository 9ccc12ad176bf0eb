// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A fork does not share its parent's connection.
#include "redis_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace {

using namespace chaos;

// The process in between holds a lock, forks, writes the pid of its child, and waits to be killed.
[[noreturn]] void hold_and_fork(const std::string& url, int out) {
    client locks(pawl::redis::at(url));
    const auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const pid_t child = ::fork();
    if (child > 0 && ::write(out, &child, sizeof child) != sizeof child) ::_exit(1);
    for (;;)
        ::pause();
}

//   A holds a lock and forks | A is killed; its child, which does nothing, lives on | the server
//   must see the connection end: by that it tells a dead waiter from a live one
TEST(Fork, TheConnectionOfADeadClientEndsAlthoughItsChildLives) {
    support::redis_server server;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const auto listens = [&] { return !server.execute({"PUBSUB", "CHANNELS"}).items.empty(); };
    const pid_t holder = ::fork();
    if (holder == 0) hold_and_fork(server.url(), ends[1]);
    pid_t child = 0;
    ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    EXPECT_TRUE(listens());
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);
    EXPECT_TRUE(eventually([&] { return !listens(); }));
    EXPECT_EQ(::kill(child, 0), 0) << "the child has ended";
    ::kill(child, SIGKILL);
    for (const int each : ends)
        ::close(each);
}

}  // namespace
