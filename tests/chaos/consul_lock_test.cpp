// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `consul lock` and Pawl exclude each other, in both directions.
#include <support/consul_server.hpp>
#include <support/eventually.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using support::consul_server;

constexpr pawl::lock_options long_wait{.ttl = 10s, .wait = 120s};

class ConsulLock : public testing::Test {
protected:
    pawl::conformance::child launch(const std::string& name, const std::string& command) const {
        return server().launch({"lock", "pawl/" + name, command});
    }
    static const consul_server& server() {
        static const consul_server one;
        return one;
    }

    pawl::blocking::client locks{pawl::consul::at(server().url()), {.try_limit = 10s}};
};

// A command that prints a line once it has the lock, and keeps it while `consul lock` lives.
const std::string keep = "echo got; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done";

TEST_F(ConsulLock, ItWaitsForPawl) {
    auto held = locks.acquire("first", long_wait);
    auto other = launch("first", "echo got");
    EXPECT_FALSE(other.read_line(1500ms).has_value());
    EXPECT_EQ(held.release(), pawl::release_result::released);
    EXPECT_EQ(other.read_line(60s), "got");
}

TEST_F(ConsulLock, PawlWaitsForIt) {
    auto other = launch("second", keep);
    ASSERT_EQ(other.read_line(60s), "got");
    EXPECT_FALSE(locks.try_acquire("second", {.ttl = 10s}).owns_lock());
    const auto holder = locks.inspect("second").held_by;
    ASSERT_TRUE(holder.has_value());
    EXPECT_EQ(holder->host, "n0");
    EXPECT_NE(holder->command, "");
    const auto token = holder->token;
    other.signal(SIGTERM);
    const auto held = locks.acquire("second", long_wait);
    EXPECT_GT(held.token(), token);
}

TEST_F(ConsulLock, AForcedReleaseEndsIt) {
    auto other = launch("third", keep);
    ASSERT_EQ(other.read_line(60s), "got");
    EXPECT_TRUE(locks.force_release("third"));
    EXPECT_TRUE(locks.acquire("third", long_wait).owns_lock());
}

// The end of its session without a release is followed by a lock-delay of 15 s, which no event
// ends.
TEST_F(ConsulLock, ItsLockDelayIsHonoured) {
    auto other = launch("fourth", keep);
    ASSERT_EQ(other.read_line(60s), "got");
    const auto key = server().request("GET", "/v1/kv/pawl/fourth/.lock");
    const auto begin = key.find("\"Session\":\"") + 11;
    const auto session = key.substr(begin, 36);
    const auto ended_at = pawl::boot_clock::now();
    ASSERT_EQ(server().request("PUT", "/v1/session/destroy/" + session), "true");
    const auto held = locks.acquire("fourth", long_wait);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_GE(pawl::boot_clock::now() - ended_at, 14s);
}

// A key of other programs is never changed.
TEST_F(ConsulLock, ASemaphoreAndOtherValuesAreRefused) {
    auto other = server().launch({"lock", "-n", "2", "pawl/fifth", keep});
    ASSERT_EQ(other.read_line(60s), "got");
    server().request("PUT", "/v1/kv/pawl/sixth/.lock", "mine");
    for (const std::string name : {"fifth", "sixth"}) {
        const auto before = server().request("GET", "/v1/kv/pawl/" + name + "/.lock");
        try {
            (void)locks.acquire(name, long_wait);
            ADD_FAILURE() << "a key of other programs was locked: " << name;
        } catch (const pawl::error& failed) {
            EXPECT_EQ(failed.reason(), pawl::errc::wrong_type) << failed.what();
        }
        EXPECT_EQ(server().request("GET", "/v1/kv/pawl/" + name + "/.lock"), before);
    }
}

// A process that acquires the lock and then waits. A fork makes clients of its own only.
pid_t fork_holder(const std::string& url, const std::string& name) {
    int pipe_ends[2];
    if (::pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
    const pid_t process = ::fork();
    if (process == 0) {
        pawl::blocking::client locks(pawl::consul::at(url), {.try_limit = 10s});
        const auto held = locks.acquire(name, long_wait);
        static_cast<void>(!::write(pipe_ends[1], "x", 1));
        for (;;)
            ::pause();
    }
    char byte = 0;
    ::close(pipe_ends[1]);
    const bool is_held = ::read(pipe_ends[0], &byte, 1) == 1;
    ::close(pipe_ends[0]);
    if (!is_held) throw std::runtime_error("the forked holder has no lock");
    return process;
}

// A process of either kind that is killed keeps its lock until Consul has ended its session.
TEST_F(ConsulLock, KilledHoldersOfBothKinds) {
    auto killed = launch("seventh", keep);
    ASSERT_EQ(killed.read_line(60s), "got");
    killed.kill_and_reap();
    const auto process = fork_holder(server().url(), "eighth");
    auto other = launch("eighth", "echo got");
    EXPECT_FALSE(other.read_line(500ms).has_value());
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    EXPECT_FALSE(locks.try_acquire("seventh", {.ttl = 10s}).owns_lock());
    EXPECT_TRUE(locks.acquire("seventh", long_wait).owns_lock());
    EXPECT_EQ(other.read_line(120s), "got");
}

}  // namespace
