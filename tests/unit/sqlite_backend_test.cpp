// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "backend_contract.hpp"
#include "foreign_sender.hpp"
#include "lock_file_fixture.hpp"
#include "sqlite/file_location.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <filesystem>
#include <thread>

namespace backend_tests {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, BackendContract, lock_file_fixture);

std::size_t entries(const std::string& folder) {
    const std::filesystem::directory_iterator all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Sqlite, TokensOutliveEveryClient) {
    const lock_file_fixture lock_file;
    pawl::fencing_token last;
    for (int round = 0; round < 3; ++round) {
        backend_runner holder(lock_file.service());
        const auto lock = holder.acquire_hold("it");
        EXPECT_GT(lock.grant.token, last);
        last = lock.grant.token;
        (void)holder.release(lock);
    }
}

TEST(Sqlite, AFileThatWasDeletedIsMadeAnewAndTokensGoOn) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    for (const auto* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(lock_file.path() + suffix);
    const auto reacquired = other.acquire_hold("it");
    EXPECT_GT(reacquired.grant.token, lock.grant.token);
    EXPECT_EQ(holder.renew(lock, 60s).result, renewal::outcome::refused);
    EXPECT_EQ(holder.inspect("it").held_by.value().token, reacquired.grant.token);
}

TEST(Sqlite, ARebootFreesEveryLock) {
    const lock_file_fixture lock_file;
    backend_runner before(lock_file.service());
    const auto lock = before.acquire_hold("it", 1h);
    auto waiting = before.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return before.inspect("it").waiters == 1; }));
    // These rows were written when the boot clock was further than it is now.
    sqlite_connection host(lock_file.path());
    for (const std::string table : {"holders", "waiters"})
        host.run("UPDATE " + table +
                 " SET boot = 'the one before', set_at = set_at + 86400000000000, "
                 "expires = expires + 86400000000000");
    backend_runner after(lock_file.service());
    EXPECT_FALSE(after.inspect("it").held_by);
    EXPECT_EQ(after.inspect("it").waiters, 0U);
    EXPECT_GT(after.acquire_hold("it").grant.token, lock.grant.token);
    waiting.cancel();
    EXPECT_THROW(waiting.get(), boost::system::system_error);
}

TEST(Sqlite, TheFileForgetsHoldsThatAreOver) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    (void)holder.acquire_hold("it", 20ms);
    const auto next = other.acquire_hold("it");
    EXPECT_EQ(sqlite_connection(lock_file.path()).text("SELECT count(*) FROM holders"), "1");
    (void)other.release(next);
    EXPECT_EQ(sqlite_connection(lock_file.path()).text("SELECT count(*) FROM holders"), "0");
}

TEST(Sqlite, NamespacesAreApart) {
    const lock_file_fixture lock_file;
    backend_runner red(pawl::sqlite::at({.path = lock_file.path(), .name_space = "red"}));
    backend_runner blue(pawl::sqlite::at({.path = lock_file.path(), .name_space = "blue"}));
    EXPECT_TRUE(red.acquire(make_claim("it")));
    EXPECT_TRUE(blue.acquire(make_claim("it")));
    EXPECT_EQ(red.list("").size(), 1U);
}

TEST(Sqlite, AGrantIsHandedOverForAClaimWindow) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    auto waiting = other.start(make_claim("it", 60s));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    const auto before = now();
    (void)holder.release(lock);
    const auto acquired = waiting.get().value();
    EXPECT_TRUE(acquired.grant.needs_renewal);
    EXPECT_GT(acquired.grant.deadline, before);
    EXPECT_LT(acquired.grant.deadline, now() + 2s);
    EXPECT_EQ(other.renew(acquired, 60s).result, renewal::outcome::extended);
    EXPECT_GT(holder.inspect("it").held_by.value().remaining, 30s);
}

// No notification comes: the row says that the waiter lives in another network namespace.
TEST(Sqlite, AWaiterThatCannotBeNotifiedFindsItsGrantItself) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    auto waiting = other.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    sqlite_connection(lock_file.path()).run("UPDATE waiters SET client = '1/elsewhere'");
    (void)holder.release(lock);
    EXPECT_TRUE(waiting.get());
}

TEST(Sqlite, AWaiterThatWasTakenForDeadStandsInLineAgain) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    auto waiting = other.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    sqlite_connection(lock_file.path()).run("DELETE FROM waiters");
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    (void)holder.release(lock);
    EXPECT_TRUE(waiting.get());
}

// A waiter that can never be served leaves no row: a larger total would grant it permits again.
//   holder has 5 of 5 | another process waits for 1 | this one waits for 4 | the total becomes 3 |
//   the hold ends without a message | the later waiter refreshes first, and is refused
TEST(Sqlite, ARefusedWaiterLeavesTheQueue) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    const auto permits = [](std::uint32_t count, std::uint32_t total) {
        auto requested = make_claim("it");
        requested.mode = pawl::lock_mode::permits;
        requested.permits = count;
        requested.total_permits = total;
        return requested;
    };
    ASSERT_TRUE(holder.acquire(permits(5, 5)));
    sqlite_connection file(lock_file.path());
    file.run(
        "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, expires, "
        "mode, permits, set_at) SELECT ns, name, 'frozen', '1/elsewhere', host, pid, command, "
        "boot, "
        "60000000000, expires, mode, 1, set_at FROM holders");
    auto waiting = other.start(permits(4, 0));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 2; }));
    holder.resize("it", 3);
    file.run("DELETE FROM holders");
    const auto refused = failure_of([&] { (void)waiting.get(); });
    EXPECT_TRUE(has_message(refused, pawl::errc::bad_option, "has 3 permits"));
    const auto own_rows =
        "SELECT count(*) FROM waiters WHERE owner = '" + waiting.requested_claim().owner + "'";
    EXPECT_TRUE(eventually([&] { return file.text(own_rows) == "0"; }));
}

// The names of the sockets are in the file, and any program of this host may send to them.
TEST(Sqlite, ForgedNotificationsDoNothing) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service()), other(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    auto waiting = other.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    sqlite_connection file(lock_file.path());
    const foreign_sender to_waiter(file.text("SELECT client FROM waiters"));
    for (const auto& text : {std::string(), std::string("x"), std::string("g"),
                             std::string(1024, 'g'), "g" + waiting.requested_claim().owner + " it"})
        EXPECT_TRUE(to_waiter.send(text));
    const foreign_sender to_holder(file.text("SELECT client FROM holders"));
    EXPECT_TRUE(to_holder.send("f" + lock.claim.owner + " it"));
    // Answered after all messages were read, as one thread does both.
    EXPECT_EQ(holder.inspect("it").waiters, 1U);
    EXPECT_EQ(other.inspect("it").held_by.value().token, lock.grant.token);
    EXPECT_FALSE(holder.has_lost(lock.claim.owner, loss_reason::forced));
    EXPECT_FALSE(waiting.is_done());
    (void)holder.release(lock);
    EXPECT_TRUE(waiting.get());
}

TEST(Sqlite, AReleaseThatFoundNoAnswerIsMadeUpFor) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    EXPECT_EQ(holder.release(lock), release_result::unknown);
    EXPECT_EQ(holder.renew(lock, 60s).result, renewal::outcome::unknown);
    hog.run("COMMIT");
    EXPECT_TRUE(eventually([&] { return !holder.inspect("it").held_by; }));
}

TEST(Sqlite, AFileInUseForTooLongIsAnErrorThatPasses) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("other");
    sqlite_connection hog(lock_file.path());
    hog.run("BEGIN IMMEDIATE");
    const auto failed = failure_of([&] { holder.acquire(make_claim("it")); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason(), pawl::errc::unavailable);
    EXPECT_NE(std::string(failed->what()).find(lock_file.path()), std::string::npos);
    hog.run("COMMIT");
    EXPECT_TRUE(holder.acquire(make_claim("it")));
}

TEST(Sqlite, ClosingLeavesNoThreadAndNoDescriptor) {
    const lock_file_fixture lock_file;
    asio::io_context loop;
    std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first one
    const auto threads = entries("/proc/self/task");
    const auto descriptors = entries("/proc/self/fd");
    {
        backend_runner holder(lock_file.service());
        const auto lock = holder.acquire_hold("it");
        auto waiting = holder.start(make_claim("it"));
        ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
        (void)holder.release(lock);
        EXPECT_TRUE(waiting.get());
        EXPECT_EQ(entries("/proc/self/task"), threads + 2);
    }
    EXPECT_EQ(entries("/proc/self/task"), threads);
    EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

TEST(Sqlite, NothingIsInheritedByAChildThatExecs) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("it");
    auto waiting = holder.start(make_claim("it"));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code removed;
        const auto target = std::filesystem::read_symlink(each.path(), removed).string();
        if (removed ||
            (target.find("locks.db") == std::string::npos && !target.starts_with("socket:")))
            continue;
        const int flags = ::fcntl(std::stoi(each.path().filename().string()), F_GETFD);
        EXPECT_TRUE((flags & FD_CLOEXEC) != 0) << target;
    }
    waiting.cancel();
    EXPECT_THROW(waiting.get(), boost::system::system_error);
}

// Runs in the fork, on its own event loop; the exit status has a bit for each call that behaved as
// it must, 31 in all.
int behaviour_in_a_fork(pawl::spi::backend& inherited, const pawl::spi::hold& lock,
                        const std::string& path) {
    asio::io_context loop;
    const auto get = [&loop](auto operation) {
        auto future = asio::co_spawn(loop, std::move(operation), asio::use_future);
        loop.restart();
        loop.run();
        return future.get();
    };
    const auto requested = make_claim("another");
    const auto acquired = failure_of([&] { get(inherited.acquire(requested, {})); });
    const auto inspected = failure_of([&] { get(inherited.inspect("it")); });
    pawl::spi::renewal_batch batch({{.held = &lock, .ttl = 1h}});
    asio::co_spawn(loop, inherited.renew(batch), asio::detached);
    loop.restart();
    loop.run();
    const auto anew = failure_of([&] { const pawl::sqlite::open_mark mark(path, [] {}); });
    const auto unsupported = [](const std::optional<pawl::error>& failed) {
        return failed && failed->reason() == pawl::errc::unsupported;
    };
    return (unsupported(acquired) ? 1 : 0) + (unsupported(inspected) ? 2 : 0) +
           (batch.renewals().front().result == renewal::outcome::unknown ? 4 : 0) +
           (get(inherited.release(lock)) == release_result::unknown ? 8 : 0) +
           (unsupported(anew) ? 16 : 0);
}

TEST(Sqlite, AForkHoldsNothingAndTouchesNothing) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    const auto path = lock_file.path();
    const auto child = ::fork();
    if (child == 0) ::_exit(behaviour_in_a_fork(holder.raw(), lock, path));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 31);
    EXPECT_EQ(holder.release(lock), release_result::released);
}

TEST(Sqlite, MeasuresAWriteThatReachesTheDisk) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto before = holder.acquire_hold("a");
    EXPECT_EQ(holder.examine().guarantees.token, "never goes back");
    const auto after = holder.acquire_hold("b");
    EXPECT_GT(after.grant.token.value(), before.grant.token.value() + 1);
    (void)holder.release(before);
    (void)holder.release(after);
}

TEST(Sqlite, SaysWhatItPromises) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    EXPECT_TRUE(holder.capabilities().tokens_survive_data_loss);
    EXPECT_TRUE(holder.capabilities().across_processes);
    EXPECT_FALSE(holder.capabilities().across_hosts);
    const auto examined = holder.examine();
    EXPECT_EQ(examined.guarantees.backend, "SQLite, file on this host");
    for (const auto& each : examined.findings)
        EXPECT_NE(each.level, pawl::finding::grade::bad) << each.topic << ": " << each.fact;
}

}  // namespace
}  // namespace backend_tests
