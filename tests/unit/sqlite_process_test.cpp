// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several processes on one file; some of them are killed or stopped.
#include "backend_contract.hpp"
#include "lock_file_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

extern char** environ;

namespace backend_tests {
namespace {

constexpr const char* role_variable = "PAWL_SQLITE_TEST_ROLE";

// Waits for the lock and holds it until the process is killed.
void play_visitor(std::istream& role) {
    std::string path, name;
    role >> path >> name;
    backend_runner holder(pawl::sqlite::at({.path = path}));
    const auto lock = holder.acquire_hold(name);
    holder.renew(lock, lock.claim.ttl);
    for (;;)
        ::pause();
}

// As the core: repeats an attempt while others use the file.
pawl::spi::hold acquire_at_last(backend_runner& holder, const std::string& name) {
    for (;;) {
        try {
            return holder.acquire_hold(name);
        } catch (const pawl::error& failure) {
            if (!failure.is_transient()) throw;
        }
    }
}

// Counts up in a file that nothing else protects.
void play_counter(std::istream& role) {
    std::string path, name, counter;
    int rounds = 0;
    role >> path >> name >> counter >> rounds;
    backend_runner holder(pawl::sqlite::at({.path = path}));
    for (int i = 0; i < rounds; ++i) {
        const auto lock = acquire_at_last(holder, name);
        long value = 0;
        std::ifstream(counter) >> value;
        std::ofstream(counter) << value + 1;
        (void)holder.release(lock);
    }
}

// The body of a helper process; does nothing in a run of all tests.
TEST(SqliteHelper, PlaysItsRole) {
    const char* role_text = std::getenv(role_variable);
    if (role_text == nullptr) return;
    std::istringstream role(role_text);
    std::string verb;
    role >> verb;
    if (verb == "visit") play_visitor(role);
    if (verb == "count") play_counter(role);
}

// This program again, in a role. Killed by the destructor.
class helper {
public:
    explicit helper(const std::string& role) {
        ::setenv(role_variable, role.c_str(), 1);
        std::array<std::string, 2> words{"helper", "--gtest_filter=SqliteHelper.PlaysItsRole"};
        std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        EXPECT_EQ(
            ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ),
            0);
        ::posix_spawn_file_actions_destroy(&actions);
        ::unsetenv(role_variable);
    }
    ~helper() {
        if (pid_ > 0) kill();
    }
    helper(const helper&) = delete;
    helper& operator=(const helper&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    void stop() {
        ::kill(pid_, SIGSTOP);
        int status = 0;
        EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    }
    void proceed() { ::kill(pid_, SIGCONT); }
    void kill() {
        ::kill(pid_, SIGKILL);
        wait();
    }
    int wait() {
        int status = 0;
        EXPECT_EQ(::waitpid(std::exchange(pid_, 0), &status, 0) > 0, true);
        return status;
    }

private:
    pid_t pid_ = 0;
};

class SqliteProcesses : public testing::Test {
protected:
    bool has_waiters(std::uint64_t count) {
        return eventually([&] { return observer.inspect("it").waiters == count; });
    }
    bool held_by(pid_t pid) {
        return eventually([&] {
            const auto info = observer.inspect("it").held_by;
            return info && info->pid == pid;
        });
    }

    lock_file_fixture lock_file;
    backend_runner observer{lock_file.service()};
};

TEST_F(SqliteProcesses, AReleaseWakesTheWaiterOfAnotherProcess) {
    const auto lock = observer.acquire_hold("it");
    const helper other("visit " + lock_file.path() + " it");
    ASSERT_TRUE(has_waiters(1));
    EXPECT_EQ(observer.release(lock), release_result::released);
    EXPECT_TRUE(held_by(other.pid()));
}

// If the dead one had been granted the lock, a token would be missing.
TEST_F(SqliteProcesses, ADeadWaiterIsPassedOverAtOnce) {
    observer.acquire_hold("another");
    // Far above the clock, so that each token is the next number.
    sqlite_connection(lock_file.path())
        .run("UPDATE pawl SET last_token = last_token + 1000000000000");
    const auto lock = observer.acquire_hold("it");
    helper killed("visit " + lock_file.path() + " it");
    ASSERT_TRUE(has_waiters(1));
    backend_runner third(lock_file.service());
    auto waiting = third.start(make_claim("it"));
    ASSERT_TRUE(has_waiters(2));
    killed.kill();
    EXPECT_EQ(observer.release(lock), release_result::released);
    EXPECT_EQ(waiting.get().value().grant.token.value(), lock.grant.token.value() + 1);
}

TEST_F(SqliteProcesses, AStoppedWaiterLosesItsTurnAndNoMore) {
    const auto lock = observer.acquire_hold("it");
    helper frozen("visit " + lock_file.path() + " it");
    ASSERT_TRUE(has_waiters(1));
    backend_runner third(lock_file.service());
    auto waiting = third.start(make_claim("it"));
    ASSERT_TRUE(has_waiters(2));
    frozen.stop();
    EXPECT_EQ(observer.release(lock), release_result::released);
    EXPECT_TRUE(held_by(frozen.pid()));
    const auto next = waiting.get().value();
    EXPECT_GT(next.grant.token.value(), lock.grant.token.value() + 1);
    frozen.proceed();
    EXPECT_TRUE(has_waiters(1));
    EXPECT_EQ(third.release(next), release_result::released);
    EXPECT_TRUE(held_by(frozen.pid()));
}

TEST_F(SqliteProcesses, ADeadHolderFreesItAtTheEndOfItsLeaseAndNotBefore) {
    sqlite_connection file(lock_file.path());
    helper killed("visit " + lock_file.path() + " it");
    ASSERT_TRUE(held_by(killed.pid()));
    killed.kill();
    EXPECT_FALSE(observer.acquire(make_claim("it"), 200ms));
    const auto waits_until = now() + 300ms;
    file.run("UPDATE holders SET expires = " +
             std::to_string(waits_until.time_since_epoch().count()));
    EXPECT_TRUE(observer.acquire_hold("it").grant.token);
    EXPECT_GE(now(), waits_until);
}

TEST_F(SqliteProcesses, TwoProcessesNeverOverlap) {
    const auto counter = lock_file.folder().file("counter");
    const auto role = "count " + lock_file.path() + " it " + counter + " 150";
    helper first(role), other(role);
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(other.wait(), 0);
    long value = 0;
    std::ifstream(counter) >> value;
    EXPECT_EQ(value, 300);
    EXPECT_FALSE(observer.inspect("it").held_by);
}

// The first process creates the file; the others must cope.
TEST_F(SqliteProcesses, ManyMayMakeTheFileAtTheSameTime) {
    const auto path = lock_file.folder().file("locks2.db");
    const auto counter = lock_file.folder().file("counter");
    const auto role = "count " + path + " it " + counter + " 5";
    std::deque<helper> all;
    for (int i = 0; i < 6; ++i)
        all.emplace_back(role);
    for (auto& each_helper : all)
        EXPECT_EQ(each_helper.wait(), 0);
    long value = 0;
    std::ifstream(counter) >> value;
    EXPECT_EQ(value, 30);
}

}  // namespace
}  // namespace backend_tests
