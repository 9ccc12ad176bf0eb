#include "backend_promises.hpp"
#include "sqlite/place.hpp"
#include "sqlite_world.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <thread>

namespace backend_tests {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(sqlite, backend_promises, sqlite_world);

std::size_t entries(const std::string& folder) {
    const std::filesystem::directory_iterator all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(sqlite, tokens_outlive_every_client) {
    const sqlite_world world;
    pawl::fencing_token last;
    for (int round = 0; round < 3; ++round) {
        client one(world.service());
        const auto lock = one.take("it");
        EXPECT_GT(lock.grant.token, last);
        last = lock.grant.token;
        one.release(lock);
    }
}

TEST(sqlite, a_file_that_was_deleted_is_made_anew_and_tokens_go_on) {
    const sqlite_world world;
    client one(world.service()), other(world.service());
    const auto lock = one.take("it");
    for (const auto* suffix : {"", "-wal", "-shm"})
        std::filesystem::remove(world.path() + suffix);
    const auto again = other.take("it");
    EXPECT_GT(again.grant.token, lock.grant.token);
    EXPECT_EQ(one.renew(lock, 60s).result, renewal::outcome::refused);
    EXPECT_EQ(one.inspect("it").held_by.value().token, again.grant.token);
}

TEST(sqlite, a_reboot_frees_every_lock) {
    const sqlite_world world;
    client before(world.service());
    const auto lock = before.take("it", 1h);
    auto waiting = before.start(ask("it"));
    ASSERT_TRUE(eventually([&] { return before.inspect("it").waiters == 1; }));
    // They were written when the boot clock was further than it is now.
    stranger host(world.path());
    for (const std::string table : {"holders", "waiters"})
        host.run("UPDATE " + table +
                 " SET boot = 'the one before', set_at = set_at + 86400000000000, "
                 "expires = expires + 86400000000000");
    client after(world.service());
    EXPECT_FALSE(after.inspect("it").held_by);
    EXPECT_EQ(after.inspect("it").waiters, 0U);
    EXPECT_GT(after.take("it").grant.token, lock.grant.token);
    waiting.cancel();
    EXPECT_THROW(waiting.get(), boost::system::system_error);
}

TEST(sqlite, the_file_forgets_holds_that_are_over) {
    const sqlite_world world;
    client one(world.service()), other(world.service());
    (void)one.take("it", 20ms);
    const auto next = other.take("it");
    EXPECT_EQ(stranger(world.path()).text("SELECT count(*) FROM holders"), "1");
    other.release(next);
    EXPECT_EQ(stranger(world.path()).text("SELECT count(*) FROM holders"), "0");
}

TEST(sqlite, namespaces_are_apart) {
    const sqlite_world world;
    client red(pawl::sqlite::at({.path = world.path(), .name_space = "red"}));
    client blue(pawl::sqlite::at({.path = world.path(), .name_space = "blue"}));
    EXPECT_TRUE(red.acquire(ask("it")));
    EXPECT_TRUE(blue.acquire(ask("it")));
    EXPECT_EQ(red.list("").size(), 1U);
}

TEST(sqlite, a_grant_is_handed_over_for_a_claim_window) {
    const sqlite_world world;
    client mine(world.service()), other(world.service());
    const auto lock = mine.take("it");
    auto waiting = other.start(ask("it", 60s));
    ASSERT_TRUE(eventually([&] { return mine.inspect("it").waiters == 1; }));
    const auto before = now();
    mine.release(lock);
    const auto got = waiting.get().value();
    EXPECT_TRUE(got.grant.confirm);
    EXPECT_GT(got.grant.deadline, before);
    EXPECT_LT(got.grant.deadline, now() + 2s);
    EXPECT_EQ(other.renew(got, 60s).result, renewal::outcome::extended);
    EXPECT_GT(mine.inspect("it").held_by.value().remaining, 30s);
}

// Nobody rings here: the row says that the waiter lives in another network namespace.
TEST(sqlite, a_waiter_that_cannot_be_rung_finds_its_grant_itself) {
    const sqlite_world world;
    client mine(world.service()), other(world.service());
    const auto lock = mine.take("it");
    auto waiting = other.start(ask("it"));
    ASSERT_TRUE(eventually([&] { return mine.inspect("it").waiters == 1; }));
    stranger(world.path()).run("UPDATE waiters SET client = '1/elsewhere'");
    mine.release(lock);
    EXPECT_TRUE(waiting.get());
}

TEST(sqlite, a_waiter_that_was_taken_for_dead_stands_in_line_again) {
    const sqlite_world world;
    client mine(world.service()), other(world.service());
    const auto lock = mine.take("it");
    auto waiting = other.start(ask("it"));
    ASSERT_TRUE(eventually([&] { return mine.inspect("it").waiters == 1; }));
    stranger(world.path()).run("DELETE FROM waiters");
    ASSERT_TRUE(eventually([&] { return mine.inspect("it").waiters == 1; }));
    mine.release(lock);
    EXPECT_TRUE(waiting.get());
}

// The names of the sockets are in the file, and any program of this host may write to them.
TEST(sqlite, forged_rings_do_nothing) {
    const sqlite_world world;
    client mine(world.service()), other(world.service());
    const auto lock = mine.take("it");
    auto waiting = other.start(ask("it"));
    ASSERT_TRUE(eventually([&] { return mine.inspect("it").waiters == 1; }));
    stranger file(world.path());
    const auto liar = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto lie = [&](const std::string& client, const std::string& text) {
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        const auto name = "pawl-sqlite/" + client.substr(client.find('/') + 1);
        std::memcpy(where.sun_path + 1, name.data(), name.size());
        const auto size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
        EXPECT_EQ(::sendto(liar, text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&where),
                           static_cast<socklen_t>(size)),
                  static_cast<ssize_t>(text.size()));
    };
    for (const auto& text : {std::string(), std::string("x"), std::string("g"),
                             std::string(1024, 'g'), "g" + waiting.what().owner + " it"})
        lie(file.text("SELECT client FROM waiters"), text);
    lie(file.text("SELECT client FROM holders"), "f" + lock.claim.owner + " it");
    ::close(liar);
    // Answered after all of them were read, as one thread does both.
    EXPECT_EQ(mine.inspect("it").waiters, 1U);
    EXPECT_EQ(other.inspect("it").held_by.value().token, lock.grant.token);
    EXPECT_FALSE(mine.was_told_of(lock.claim.owner, loss_reason::forced));
    EXPECT_FALSE(waiting.done());
    mine.release(lock);
    EXPECT_TRUE(waiting.get());
}

TEST(sqlite, a_release_that_found_no_answer_is_made_up_for) {
    const sqlite_world world;
    client mine(world.service());
    const auto lock = mine.take("it");
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    EXPECT_EQ(mine.release(lock), release_result::unknown);
    EXPECT_EQ(mine.renew(lock, 60s).result, renewal::outcome::unknown);
    hog.run("COMMIT");
    EXPECT_TRUE(eventually([&] { return !mine.inspect("it").held_by; }));
}

TEST(sqlite, a_file_in_use_for_too_long_is_an_error_that_passes) {
    const sqlite_world world;
    client mine(world.service());
    mine.take("other");
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    const auto failed = failure_of([&] { mine.acquire(ask("it")); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason(), pawl::errc::unavailable);
    EXPECT_NE(std::string(failed->what()).find(world.path()), std::string::npos);
    hog.run("COMMIT");
    EXPECT_TRUE(mine.acquire(ask("it")));
}

TEST(sqlite, closing_leaves_no_thread_and_no_descriptor) {
    const sqlite_world world;
    asio::io_context loop;
    std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first one
    const auto threads = entries("/proc/self/task");
    const auto descriptors = entries("/proc/self/fd");
    {
        client one(world.service());
        const auto lock = one.take("it");
        auto waiting = one.start(ask("it"));
        ASSERT_TRUE(eventually([&] { return one.inspect("it").waiters == 1; }));
        one.release(lock);
        EXPECT_TRUE(waiting.get());
        EXPECT_EQ(entries("/proc/self/task"), threads + 2);
    }
    EXPECT_EQ(entries("/proc/self/task"), threads);
    EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

TEST(sqlite, nothing_is_inherited_by_a_child_that_execs) {
    const sqlite_world world;
    client one(world.service());
    one.take("it");
    auto waiting = one.start(ask("it"));
    ASSERT_TRUE(eventually([&] { return one.inspect("it").waiters == 1; }));
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto target = std::filesystem::read_symlink(each.path(), gone).string();
        if (gone ||
            (target.find("locks.db") == std::string::npos && !target.starts_with("socket:")))
            continue;
        const int flags = ::fcntl(std::stoi(each.path().filename().string()), F_GETFD);
        EXPECT_TRUE((flags & FD_CLOEXEC) != 0) << target;
    }
    waiting.cancel();
    EXPECT_THROW(waiting.get(), boost::system::system_error);
}

// Runs in the fork, on an event loop of its own; the exit status says which call behaved.
int behaviour_in_a_fork(pawl::backend& inherited, const pawl::hold& lock, const std::string& path) {
    asio::io_context loop;
    const auto get = [&loop](auto what) {
        auto answer = asio::co_spawn(loop, std::move(what), asio::use_future);
        loop.restart();
        loop.run();
        return answer.get();
    };
    const auto what = ask("another");
    const auto acquired = failure_of([&] { get(inherited.acquire(what, {})); });
    const auto inspected = failure_of([&] { get(inherited.inspect("it")); });
    renewal line{.what = &lock, .ttl = 1h};
    asio::co_spawn(loop, inherited.renew(std::span(&line, 1)), asio::detached);
    loop.restart();
    loop.run();
    const auto anew = failure_of([&] { const pawl::sqlite::open_mark mark(path, [] {}); });
    const auto unsupported = [](const std::optional<pawl::error>& failed) {
        return failed && failed->reason() == pawl::errc::unsupported;
    };
    return (unsupported(acquired) ? 1 : 0) + (unsupported(inspected) ? 2 : 0) +
           (line.result == renewal::outcome::unknown ? 4 : 0) +
           (get(inherited.release(lock)) == release_result::unknown ? 8 : 0) +
           (unsupported(anew) ? 16 : 0);
}

TEST(sqlite, a_fork_holds_nothing_and_touches_nothing) {
    const sqlite_world world;
    client one(world.service());
    const auto lock = one.take("it");
    const auto path = world.path();
    const auto child = ::fork();
    if (child == 0) ::_exit(behaviour_in_a_fork(one.raw(), lock, path));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 31);
    EXPECT_EQ(one.release(lock), release_result::released);
}

TEST(sqlite, measures_a_write_that_reaches_the_disk) {
    const sqlite_world world;
    client one(world.service());
    const auto before = one.take("a");
    EXPECT_EQ(one.examine().guarantees.token, "never goes back");
    const auto after = one.take("b");
    EXPECT_GT(after.grant.token.value(), before.grant.token.value() + 1);
    one.release(before);
    one.release(after);
}

TEST(sqlite, says_what_it_promises) {
    const sqlite_world world;
    client one(world.service());
    EXPECT_TRUE(one.promised().survives_restart);
    EXPECT_TRUE(one.promised().across_processes);
    EXPECT_FALSE(one.promised().across_hosts);
    const auto found = one.examine();
    EXPECT_EQ(found.guarantees.backend, "SQLite, file on this host");
    for (const auto& each : found.findings)
        EXPECT_NE(each.how, pawl::finding::grade::bad) << each.topic << ": " << each.fact;
}

}  // namespace
}  // namespace backend_tests
