// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Java services with the real ShedLock, and Pawl, in one table. Both servers and Java are in
// different time zones, none of them UTC. J is a process of Java, P is Pawl.
#include "databases.hpp"

#include <support/eventually.hpp>
#include <support/temp_folder.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <thread>

namespace {

using namespace std::chrono_literals;
using interop::java_process;
using interop::shared_database;
using support::eventually;

constexpr auto patience = 100s;

class ShedLock : public testing::TestWithParam<std::string> {
protected:
    [[nodiscard]] pawl::blocking::client pawl(const std::string& more = {}) const {
        return pawl::blocking::client(pawl::from_url(database->url(more)));
    }

    const std::unique_ptr<shared_database> database = interop::make_database(GetParam());
};

//   J: UPDATE … lock_until <= now | P: the same, no row; looks | J: lock_until = now | P looks,
//   takes
TEST_P(ShedLock, PawlWaitsForJava) {
    java_process java(*database);
    auto client = pawl();
    ASSERT_EQ(java.execute("lock it 600000 0"), "held");
    EXPECT_FALSE(client.try_acquire("it").owns_lock());
    const auto shown = client.inspect("it").held_by;
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->host, database->column("locked_by", "it"));
    EXPECT_FALSE(shown->token);
    EXPECT_GT(shown->remaining, 100s);
    EXPECT_LE(shown->remaining, 600s);
    std::atomic<bool> is_acquired = false;
    std::jthread waiter([&] {
        auto lock = client.acquire("it", {.wait = patience});
        is_acquired = true;
    });
    // Some looks of the waiter.
    const auto requests = client.statistics().requests;
    EXPECT_TRUE(eventually([&] { return client.statistics().requests > requests + 4; }));
    EXPECT_FALSE(is_acquired);
    EXPECT_EQ(java.execute("unlock it"), "unlocked");
    EXPECT_TRUE(eventually([&] { return is_acquired.load(); }));
}

TEST_P(ShedLock, JavaIsRefusedWhilePawlHolds) {
    java_process java(*database);
    auto client = pawl();
    auto lock = client.acquire("it", {.ttl = 600s});
    EXPECT_EQ(java.execute("lock it 1000 0"), "empty");
    EXPECT_EQ(java.execute("lock other 600000 0"), "held");
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_EQ(java.execute("lock it 600000 0"), "held");
    EXPECT_EQ(java.execute("extend it 600000"), "held");
    EXPECT_FALSE(client.try_acquire("it").owns_lock());
}

//   P holds until t, renews | J tries until after t: refused | P releases | J holds
TEST_P(ShedLock, RenewalsKeepJavaOutBeyondTheFirstLease) {
    java_process java(*database);
    auto client = pawl();
    auto lock = client.acquire("it", {.ttl = 6s});
    const auto first_end = "'" + database->column("lock_until", "it") + "'";
    const auto is_over = "SELECT " + database->now() + " > " + first_end;
    EXPECT_TRUE(eventually([&] {
        const auto answer = java.execute("lock it 1000 0");
        return answer == "held" || database->value(is_over).find_first_of("t1") == 0;
    }));
    // A machine that is too busy to renew has lost the lock.
    if (lock.owns_lock()) {
        EXPECT_EQ(database->column("locked_by", "it").substr(0, 5), "pawl ");
    }
    (void)lock.release();
    EXPECT_TRUE(eventually([&] { return java.execute("lock it 1000 0") == "held"; }));
}

//   P holds until t | P: SIGKILL | J tries: refused until t | J holds since t or later
TEST_P(ShedLock, AKilledPawlFreesItAtTheEndOfItsLease) {
    java_process java(*database);
    pawl::conformance::child killed(
        pawl::conformance::launch_as_helper({"hold", database->url(), "it"}));
    ASSERT_EQ(killed.read_line(patience).value_or(""), "held");
    killed.kill_and_reap();
    const auto end = "'" + database->column("lock_until", "it") + "'";
    EXPECT_TRUE(eventually([&] { return java.execute("lock it 600000 0") == "held"; }, patience));
    EXPECT_TRUE(database->holds("locked_at >= " + end, "it"));
}

//   J holds until t | J: SIGKILL | P waits | P holds since t or later
TEST_P(ShedLock, AKilledJavaFreesItAfterItsLockAtMost) {
    java_process java(*database);
    auto client = pawl();
    ASSERT_EQ(java.execute("lock it 5000 0"), "held");
    const auto end = "'" + database->column("lock_until", "it") + "'";
    java.kill9();
    auto lock = client.acquire("it", {.wait = patience});
    EXPECT_TRUE(database->holds("locked_at >= " + end, "it"));
}

//   one of them holds since t | it releases: lock_until = t + 5 s | the other holds since then
TEST_P(ShedLock, TheLeastHoldIsHonouredByBoth) {
    java_process java(*database);
    auto client = pawl("&lock_at_least=5s");
    ASSERT_EQ(java.execute("lock it 600000 5000"), "held");
    auto begin = "'" + database->column("locked_at", "it") + "'";
    EXPECT_EQ(java.execute("unlock it"), "unlocked");
    auto lock = client.acquire("it", {.ttl = 600s, .wait = patience});
    EXPECT_TRUE(database->holds("locked_at >= " + database->plus(begin, 5), "it"));

    begin = "'" + database->column("locked_at", "it") + "'";
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_TRUE(database->holds("lock_until = " + database->plus("locked_at", 5), "it"));
    EXPECT_TRUE(eventually([&] { return java.execute("lock it 600000 0") == "held"; }, patience));
    EXPECT_TRUE(database->holds("locked_at >= " + database->plus(begin, 5), "it"));
}

// Nothing but the lock protects the number in the file: a lost update shows an overlap.
TEST_P(ShedLock, NoTwoHoldsOverlap) {
    constexpr int java_times = 60, pawl_times = 25;
    const support::temp_folder folder;
    const auto path = folder.file("number");
    std::ofstream(path) << "0\n";
    const auto command = "count it " + std::to_string(java_times) + " " + path;
    java_process first(*database), second(*database);
    first.send(command);
    second.send(command);
    const auto count = [&] {
        auto client = pawl();
        for (int i = 0; i < pawl_times; ++i) {
            auto lock = client.acquire("it", {.wait = 10min});
            long number = -1;
            std::ifstream(path) >> number;
            std::this_thread::yield();
            std::ofstream(path) << number + 1 << '\n';
        }
    };
    { const std::jthread third(count), fourth(count); }
    EXPECT_EQ(first.read_reply(10min), "done");
    EXPECT_EQ(second.read_reply(10min), "done");
    long number = -1;
    std::ifstream(path) >> number;
    EXPECT_EQ(number, 2 * java_times + 2 * pawl_times);
}

TEST_P(ShedLock, TokensRiseAlsoWhenJavaHeldTheLockInBetween) {
    java_process java(*database);
    auto client = pawl();
    const auto first = client.acquire("it").token();
    ASSERT_TRUE(eventually([&] { return java.execute("lock it 600000 0") == "held"; }));
    EXPECT_FALSE(client.inspect("it").held_by->token);
    EXPECT_EQ(java.execute("unlock it"), "unlocked");
    auto lock = client.acquire("it", {.wait = patience});
    EXPECT_GT(lock.token(), first);
    EXPECT_EQ(client.inspect("it").held_by->token, lock.token());
}

TEST_P(ShedLock, ANameHasUpTo64Characters) {
    java_process java(*database);
    auto client = pawl();
    std::string name;
    for (int i = 0; i < 64; ++i)
        name += "é";
    auto lock = client.acquire(name, {.ttl = 600s});
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    try {
        (void)client.try_acquire(name + "x");
        ADD_FAILURE() << "65 characters were accepted";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::bad_name);
        EXPECT_STREQ(refused.what(),
                     "The name of the lock has 65 characters; ShedLock's table has room for 64.");
    }
    EXPECT_EQ(database->value("SELECT COUNT(*) FROM shedlock"), "1");
}

TEST_P(ShedLock, TheTimesAreUtcInEveryTimeZone) {
    java_process java(*database);
    auto client = pawl();
    const auto lock = client.acquire("pawl");
    ASSERT_EQ(java.execute("lock java 600000 0"), "held");
    for (const std::string name : {"pawl", "java"})
        EXPECT_TRUE(database->holds("locked_at BETWEEN " + database->plus(database->now(), -600) +
                                        " AND " + database->now(),
                                    name))
            << name << ' ' << database->column("locked_at", name);
}

// A forced release ends Java's hold, whose unlock then must not end the hold of Pawl.
TEST_P(ShedLock, AForcedReleaseTakesTheLockFromJava) {
    java_process java(*database);
    auto client = pawl();
    ASSERT_EQ(java.execute("lock it 600000 0"), "held");
    EXPECT_TRUE(client.force_release("it"));
    auto lock = client.acquire("it", {.ttl = 600s, .wait = patience});
    EXPECT_EQ(java.execute("unlock it"), "unlocked");
    EXPECT_EQ(java.execute("lock it 1000 0"), "empty");
    EXPECT_EQ(lock.release(), pawl::release_result::released);
}

INSTANTIATE_TEST_SUITE_P(Databases, ShedLock, testing::Values("Postgres", "MariaDb"),
                         [](const auto& tested) { return tested.param; });

int hold_lock(const std::string& url, const std::string& name) {
    pawl::blocking::client client(pawl::from_url(url));
    const auto lock = client.acquire(name, {.ttl = 5s});
    std::cout << "held" << std::endl;
    std::this_thread::sleep_for(10min);  // until it is killed
    return 0;
}

}  // namespace

// As a helper: --pawl-helper hold URL NAME.
int main(int argc, char** argv) {
    if (argc == 5 && std::string(argv[2]) == "hold") return hold_lock(argv[3], argv[4]);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
