// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A holder continues, or is told, whatever happens to the file: an older one in its place, another
// boot id, another process that keeps it busy.
#include "lock_file_fixture.hpp"
#include "support/eventually.hpp"

#include <pawl/blocking.hpp>
#include <pawl/blocking/latch.hpp>
#include <pawl/client.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

namespace backend_tests {
namespace {

namespace fs = std::filesystem;
using pawl::errc;
using support::eventually;

// Stop all; keep a copy; hold and release; put the copy back. The resource has seen the later
// token.
TEST(SqliteTokens, GoOnOverAnOlderFile) {
    const lock_file_fixture lock_file;
    const auto hold_once = [&] {
        backend_runner holder(lock_file.service());
        const auto lock = holder.acquire_hold("it");
        (void)holder.release(lock);
        return lock.grant.token;
    };
    const auto first = hold_once();
    fs::copy_file(lock_file.path(), lock_file.path() + ".old");
    const auto second = hold_once();
    fs::rename(lock_file.path() + ".old", lock_file.path());
    const auto third = hold_once();
    EXPECT_GT(second, first);
    EXPECT_GT(third, second);
}

// The clock went back as well, but this client knows its last token.
TEST(SqliteTokens, OfOneClientGoOnWhateverTheFileSays) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("other");
    sqlite_connection file(lock_file.path());
    file.run("UPDATE pawl SET last_token = last_token + 1000000000000");
    const auto before = holder.acquire_hold("it");
    file.run("UPDATE pawl SET last_token = 7");
    (void)holder.release(before);
    EXPECT_GT(holder.acquire_hold("it").grant.token, before.grant.token);
}

//   B waits | A releases, and issues B's token, far ahead of the clock | the file's counter goes
//   back | B: must not issue a token that it has already received
TEST(SqliteTokens, ThatAnotherClientIssuedAreNotRepeated) {
    const lock_file_fixture lock_file;
    backend_runner a(lock_file.service()), b(lock_file.service());
    b.acquire_hold("other");
    const auto lock = a.acquire_hold("it");
    sqlite_connection file(lock_file.path());
    file.run("UPDATE pawl SET last_token = last_token + 1000000000000");
    auto waiting = b.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return a.inspect("it").waiters == 1; }));
    (void)a.release(lock);
    const auto received = waiting.get();
    ASSERT_TRUE(received);
    file.run("UPDATE pawl SET last_token = 7");
    (void)b.release(*received);
    EXPECT_GT(b.acquire_hold("it").grant.token, received->grant.token);
}

TEST(SqliteTokens, ThatCannotGoOnAreNotIssued) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("other");
    sqlite_connection(lock_file.path()).run("UPDATE pawl SET last_token = 9223372036854775807");
    EXPECT_TRUE(
        has_message(failure_of([&] { holder.acquire_hold("it"); }), errc::unavailable, "damaged"));
}

// 1. A hold is downgraded: its row has a new lease. 2. The first lease ends. 3. Another hold of the
// client is renewed, and the client forgets its holds whose leases have ended. 4. The hold is
// renewed.
TEST(SqliteDowngrade, BeginsANewLease) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    auto downgraded = holder.acquire_hold("it", 1s);
    const auto end_of_first_lease = now() + 1s;
    const auto other = holder.acquire_hold("other", 1h);
    downgraded.claim.ttl = 1h;
    ASSERT_TRUE(holder.downgrade(downgraded));
    downgraded.claim.mode = pawl::lock_mode::shared;
    ASSERT_TRUE(eventually([&] { return now() > end_of_first_lease; }));
    EXPECT_EQ(holder.renew(other, 1h).result, pawl::spi::renewal::outcome::extended);
    EXPECT_EQ(holder.renew(downgraded, 1h).result, pawl::spi::renewal::outcome::extended);
}

// Whoever may write the file may write anything: that can cost the locks, not the programs.
TEST(SqliteRows, OfNoSenseDoNoHarmToAProgram) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("other");
    sqlite_connection file(lock_file.path());
    const std::string most = "9223372036854775807", least = "(-9223372036854775807 - 1)";
    int number = 0;
    for (const auto& [mode, instant] : {std::pair{std::string("0"), most},
                                        {"9", most},
                                        {"-1", least},
                                        {"2", most},
                                        {"1", least}}) {
        const auto name = "'bad" + std::to_string(++number) + "'";
        file.run("INSERT INTO holders VALUES ('pawl', " + name + ", 'x', 'y', 'z', " + most +
                 ", '', " + instant + ", 'b', " + instant + ", " + instant + ", " + mode +
                 ", -5, 0)");
        file.run(
            "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, "
            "expires, mode, permits) VALUES ('pawl', " +
            name + ", " + name + ", '', '', 0, '', 'b', " + instant + ", " + instant + ", " + mode +
            ", -1)");
        file.run("INSERT INTO latches VALUES ('pawl', " + name + ", " + most + ", 1, 1, -1, " +
                 most + ", 'b', " + most + ", 0)");
    }
    EXPECT_EQ(holder.list("bad").size(), 3U);
    for (int i = 1; i <= number; ++i) {
        const auto name = "bad" + std::to_string(i);
        holder.inspect(name);
        holder.acquire(make_claim(name));
        holder.force_release(name);
    }
    pawl::blocking::client locks(lock_file.service());
    EXPECT_GT(pawl::blocking::latch(locks, "bad1").count_down(), 0U);
    EXPECT_TRUE(holder.acquire(make_claim("good")));
}

// The boot id that others see has changed, but the clock has not begun again: a container, or a
// file that is mounted over /proc/sys/kernel/random/boot_id.
TEST(SqliteBoot, AChangedBootIdFreesNoLock) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it", 1h);
    backend_runner waiter(lock_file.service());
    auto waiting = waiter.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    sqlite_connection file(lock_file.path());
    file.run("UPDATE holders SET boot = 'hidden'; UPDATE waiters SET boot = 'hidden'");
    backend_runner other(lock_file.service());
    EXPECT_FALSE(other.acquire(make_claim("it")));
    EXPECT_EQ(other.inspect("it").held_by.value().token, lock.grant.token);
    EXPECT_EQ(other.inspect("it").waiters, 1U);
    EXPECT_EQ(holder.renew(lock, 1h).result, pawl::spi::renewal::outcome::extended);
    EXPECT_EQ(holder.release(lock), pawl::release_result::released);
    EXPECT_TRUE(waiting.get());
}

TEST(SqliteBoot, ALeaseOfAChangedBootIdEndsAllTheSame) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it", 1h);
    sqlite_connection(lock_file.path())
        .run("UPDATE holders SET boot = 'hidden', expires = " +
             std::to_string((now() + 100ms).time_since_epoch().count()));
    backend_runner other(lock_file.service());
    EXPECT_GT(other.acquire_hold("it").grant.token, lock.grant.token);
}

TEST(SqliteBoot, ALatchOfAChangedBootIdCountsOn) {
    const lock_file_fixture lock_file;
    pawl::blocking::client locks(lock_file.service());
    pawl::blocking::latch gate(locks, "it");
    ASSERT_TRUE(gate.try_set(2));
    sqlite_connection(lock_file.path()).run("UPDATE latches SET boot = 'hidden'");
    EXPECT_EQ(gate.count_down(), 1U);
    EXPECT_FALSE(gate.try_wait());
}

// A waits at the latch; another process keeps the file for longer than a transaction may wait; then
// the last step is counted. The wait continues, and each step is counted once.
TEST(SqliteBusy, ALatchIsWaitedForOverABusySpell) {
    const lock_file_fixture lock_file;
    pawl::blocking::client locks(lock_file.service()), others(lock_file.service());
    pawl::blocking::latch gate(locks, "it"), theirs(others, "it");
    ASSERT_TRUE(gate.try_set(2));
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    std::optional<pawl::error> failed;
    bool open = false;
    std::jthread waiting([&] { failed = failure_of([&] { open = gate.wait_for(60s); }); });
    EXPECT_TRUE(has_message(failure_of([&] { theirs.count_down(); }), errc::unavailable, "in use"));
    EXPECT_TRUE(has_message(failure_of([&] { theirs.count_down(); }), errc::unavailable, "in use"));
    hog.run("COMMIT");
    EXPECT_EQ(theirs.count_down(), 1U);
    EXPECT_EQ(theirs.count_down(), 0U);
    waiting.join();
    EXPECT_FALSE(failed) << failed->what();
    EXPECT_TRUE(open);
}

// The same in a barrier whose own arrival was counted before the file was busy.
TEST(SqliteBusy, ABarrierGoesOnAndCountsNobodyTwice) {
    const lock_file_fixture lock_file;
    pawl::blocking::client locks(lock_file.service()), others(lock_file.service());
    pawl::blocking::barrier gate(locks, "it", 2), theirs(others, "it", 2);
    EXPECT_EQ(theirs.inspect().count, 0U);
    const auto own_turn = gate.arrive();
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    std::optional<pawl::error> failed;
    bool open = false;
    std::jthread waiting(
        [&] { failed = failure_of([&] { open = gate.wait_for(own_turn, 60s); }); });
    EXPECT_TRUE(
        has_message(failure_of([&] { (void)theirs.arrive(); }), errc::unavailable, "in use"));
    hog.run("COMMIT");
    EXPECT_EQ(sqlite_connection(lock_file.path()).text("SELECT count FROM latches"), "1");
    (void)theirs.arrive();
    waiting.join();
    EXPECT_FALSE(failed) << failed->what();
    EXPECT_TRUE(open);
}

// Another process keeps the file for longer than a transaction may wait: the wait continues
// afterwards.
TEST(SqliteBusy, AnAcquireWaitsOverABusySpell) {
    const lock_file_fixture lock_file;
    ASSERT_FALSE(try_to_use(lock_file.path()));
    std::atomic<bool> wait_logged = false;
    const pawl::client_options options{.log = [&](std::string_view line) {
        if (line.starts_with("Waiting for the service: ")) wait_logged = true;
    }};
    pawl::blocking::client locks(lock_file.service(), options);
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    std::optional<pawl::error> failed;
    pawl::blocking::held_lock lock;
    std::jthread waiting([&] {
        failed = failure_of([&] { lock = locks.acquire("it", {.ttl = 60s, .wait = 60s}); });
    });
    EXPECT_TRUE(eventually([&] { return wait_logged.load(); }));
    hog.run("COMMIT");
    waiting.join();
    EXPECT_FALSE(failed) << failed->what();
    EXPECT_TRUE(lock.owns_lock());
}

// The wait ends with the last reason, and leaves no place in the queue.
TEST(SqliteBusy, AnAcquireWhoseWaitEndsInABusySpellSaysWhy) {
    const lock_file_fixture lock_file;
    ASSERT_FALSE(try_to_use(lock_file.path()));
    pawl::blocking::client locks(lock_file.service());
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    const auto acquire_it = [&] { (void)locks.acquire("it", {.ttl = 60s, .wait = 3500ms}); };
    EXPECT_TRUE(has_message(failure_of(acquire_it), errc::unavailable, "in use"));
    hog.run("COMMIT");
    EXPECT_EQ(hog.text("SELECT count(*) FROM waiters"), "0");
}

// Another process keeps the file | a try, and short waits | each names how long it has waited.
TEST(SqliteBusy, ATryEndsWithinItsLimitAndSaysSo) {
    const lock_file_fixture lock_file;
    ASSERT_FALSE(try_to_use(lock_file.path()));
    pawl::blocking::client locks(lock_file.service(), {.try_limit = 200ms});
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    const auto try_it = [&] { (void)locks.try_acquire("it", {.ttl = 60s}); };
    const auto once = [&] { (void)locks.acquire("it", {.ttl = 60s, .wait = 0s}); };
    const auto shortly = [&] { (void)locks.acquire("it", {.ttl = 60s, .wait = 20ms}); };
    EXPECT_TRUE(has_message(failure_of(try_it), errc::unavailable, "for 200 ms"));
    EXPECT_TRUE(has_message(failure_of(once), errc::unavailable, "for 200 ms"));
    EXPECT_TRUE(has_message(failure_of(shortly), errc::unavailable, "for 300 ms"));
    hog.run("COMMIT");
}

// The first use of a file, of which another process has not made a lock file yet.
TEST(SqliteBusy, ATryThatOpensTheFileEndsWithinItsLimit) {
    const lock_file_fixture lock_file;
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN EXCLUSIVE");
    pawl::blocking::client locks(lock_file.service(), {.try_limit = 200ms});
    const auto try_it = [&] { (void)locks.try_acquire("it", {.ttl = 60s}); };
    const auto began = pawl::boot_clock::now();
    EXPECT_TRUE(has_message(failure_of(try_it), errc::unavailable, "for 200 ms"));
    EXPECT_LT(pawl::boot_clock::now() - began, 2s);
    hog.run("COMMIT");
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = 60s}).owns_lock());
}

// A waiter is cancelled while it refreshes its place, and then has to leave the queue.
TEST(SqliteBusy, ACancelledWaiterEndsBeforeItsClientIsClosed) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    const auto counts = std::make_shared<pawl::spi::counters>();
    backend_runner waiter(lock_file.service(), counts);
    auto waiting = waiter.start(make_claim("it"));
    EXPECT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    const auto requests = counts->requests.value();
    EXPECT_TRUE(eventually([&] { return counts->requests.value() > requests; }));
    waiting.cancel();
    waiter.close(0s);
    EXPECT_THROW(waiting.get(), boost::system::system_error);
    hog.run("COMMIT");
}

// The file is opened by the request.
TEST(SqliteBusy, ARequestOfAClosedClientIsCancelled) {
    const lock_file_fixture lock_file;
    ASSERT_FALSE(try_to_use(lock_file.path()));
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    asio::io_context loop;
    const pawl::client_options options{.drain = 0s};
    auto locks = std::make_unique<pawl::client>(loop.get_executor(), lock_file.service(), options);
    std::optional<boost::system::error_code> ended;
    locks->async_inspect(
        "it", [&](boost::system::error_code failed, const pawl::lock_info&) { ended = failed; });
    loop.poll();
    locks.reset();
    loop.restart();
    loop.run();
    EXPECT_EQ(ended, make_error_code(errc::cancelled));
    hog.run("COMMIT");
}

TEST(SqliteBusy, AnAcquireCanBeCancelledInABusySpell) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("other");
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    auto waiting = holder.start(make_claim("it"));
    waiting.cancel();
    EXPECT_THROW(waiting.get(), boost::system::system_error);
    hog.run("COMMIT");
    EXPECT_EQ(hog.text("SELECT count(*) FROM waiters"), "0");
}

}  // namespace
}  // namespace backend_tests
