// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Pawl and the real Curator on one path: each excludes the other, waits for it, and gets the lock
// when the other is killed.
#include <support/eventually.hpp>
#include <support/zookeeper_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/zookeeper.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace curator {
namespace {

using namespace std::chrono_literals;
using pawl::lock_mode;
using support::eventually;

constexpr auto patience = 30s;
constexpr const char* longest = " 30000";

support::zookeeper_server& server() {
    static const auto started = std::make_unique<support::zookeeper_server>();
    return *started;
}

class java_process {
public:
    java_process()
        : process_({.arguments = {"java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp",
                                  PAWL_INTEROP_CURATOR "/classes:" PAWL_INTEROP_CURATOR "/lib/*",
                                  "pawl.CuratorPeer",
                                  "127.0.0.1:" + std::to_string(server().port())}}) {}
    void send(const std::string& command) { process_.send(command); }
    std::string read_reply() { return process_.read_line(60s).value_or("no reply"); }
    std::string execute(const std::string& command) {
        send(command);
        return read_reply();
    }
    void kill9() { process_.kill_and_reap(); }

private:
    pawl::conformance::child process_;
};

struct kind_of_lock {
    std::string java;
    std::string object;
    lock_mode mode = lock_mode::exclusive;
};
void PrintTo(const kind_of_lock& kind, std::ostream* out) { *out << kind.java; }

class Curator : public testing::TestWithParam<kind_of_lock> {
protected:
    [[nodiscard]] static std::string url(const std::string& object) {
        return server().url("/curator", "&make_root=yes&object=" + object);
    }
    [[nodiscard]] pawl::blocking::held_lock acquire(pawl::duration wait, lock_mode mode) {
        return locks.acquire(name, {.ttl = 4s, .wait = wait, .mode = mode});
    }
    [[nodiscard]] bool is_busy(lock_mode mode) {
        return !locks.try_acquire(name, {.ttl = 4s, .mode = mode}).owns_lock();
    }
    [[nodiscard]] std::string java(const std::string& kind, const char* wait = " 300") const {
        return kind + " /curator/" + name + wait;
    }

    static std::optional<java_process>& peer() {
        static std::optional<java_process> process;
        if (!process) process.emplace();
        return process;
    }

    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    const kind_of_lock kind = GetParam();
    pawl::client_options options = [] {
        pawl::client_options patient;
        patient.try_limit = 10s;
        return patient;
    }();
    pawl::blocking::client locks{pawl::zookeeper::at(url(kind.object)), options};
};

TEST_P(Curator, HeldByPawlIsBusyForJava) {
    auto lock = acquire(patience, kind.mode);
    EXPECT_EQ(peer()->execute(java(kind.mode == lock_mode::shared ? "write" : kind.java)), "busy");
    if (kind.mode == lock_mode::shared) {
        EXPECT_EQ(peer()->execute(java("read")), "held");
        EXPECT_EQ(peer()->execute("release"), "released");
    }
    peer()->send(java(kind.mode == lock_mode::shared ? "write" : kind.java, longest));
    ASSERT_TRUE(eventually([&] { return locks.inspect(name).waiters == 1; }));
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_EQ(peer()->read_reply(), "held");
    EXPECT_EQ(peer()->execute("release"), "released");
}

TEST_P(Curator, HeldByJavaIsBusyForPawl) {
    ASSERT_EQ(peer()->execute(java(kind.java, longest)), "held");
    EXPECT_TRUE(is_busy(lock_mode::exclusive));
    if (kind.object == "read_write_lock") {
        EXPECT_EQ(is_busy(lock_mode::shared), kind.java != "read");
    }
    ASSERT_TRUE(locks.inspect(name).held_by);
    EXPECT_EQ(peer()->execute("release"), "released");
    EXPECT_TRUE(acquire(patience, lock_mode::exclusive).owns_lock());
}

TEST_P(Curator, AKilledJavaFreesTheLock) {
    ASSERT_EQ(peer()->execute(java(kind.java, longest)), "held");
    const auto token = locks.inspect(name).held_by->token;
    peer()->kill9();
    peer().reset();
    const auto lock = acquire(patience, lock_mode::exclusive);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_GT(lock.token(), token);
}

INSTANTIATE_TEST_SUITE_P(Kind, Curator,
                         testing::Values(kind_of_lock{"mutex", "mutex"},
                                         kind_of_lock{"write", "read_write_lock"},
                                         kind_of_lock{"read", "read_write_lock", lock_mode::shared},
                                         kind_of_lock{"latch", "leader_latch"}),
                         [](const auto& each) { return each.param.java; });

class CuratorPair : public Curator {};

// Java's node of a reader has the number of its node of a writer.
TEST_P(CuratorPair, ADowngradeLetsReadersInAndKeepsWritersOut) {
    ASSERT_EQ(peer()->execute(java("write", longest)), "held");
    ASSERT_EQ(peer()->execute("downgrade"), "released");
    EXPECT_FALSE(is_busy(lock_mode::shared));
    EXPECT_TRUE(is_busy(lock_mode::exclusive));
    EXPECT_EQ(peer()->execute("release"), "released");
    auto lock = acquire(patience, lock_mode::exclusive);
    lock.downgrade();
    EXPECT_EQ(peer()->execute(java("write")), "busy");
    EXPECT_EQ(peer()->execute(java("read")), "held");
    EXPECT_EQ(peer()->execute("release"), "released");
}

// Permits are no lock that Curator knows: they exclude its readers and writers.
TEST_P(CuratorPair, PermitsExcludeJava) {
    auto lock = locks.acquire(name, {.ttl = 4s,
                                     .wait = patience,
                                     .mode = lock_mode::permits,
                                     .permits = 1,
                                     .total_permits = 3});
    EXPECT_EQ(peer()->execute(java("write")), "busy");
    EXPECT_EQ(peer()->execute(java("read")), "busy");
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_EQ(peer()->execute(java("write")), "held");
    EXPECT_EQ(peer()->execute("release"), "released");
}

INSTANTIATE_TEST_SUITE_P(Kind, CuratorPair,
                         testing::Values(kind_of_lock{"write", "read_write_lock"}),
                         [](const auto& each) { return each.param.java; });

}  // namespace
}  // namespace curator
