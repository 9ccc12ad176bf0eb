// A holder goes on, or is told, whatever happens to the file: an older one in its place, another
// boot id, another process that keeps it busy.
#include "sqlite_world.hpp"
#include "support/eventually.hpp"

#include <pawl/blocking.hpp>
#include <pawl/blocking_latch.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace backend_tests {
namespace {

namespace fs = std::filesystem;
using pawl::errc;
using support::eventually;

// Stop all; keep a copy; hold and release; put the copy back. The resource has seen the later
// token.
TEST(sqlite_tokens, go_on_over_an_older_file) {
    const sqlite_world world;
    const auto hold_once = [&] {
        client one(world.service());
        const auto lock = one.take("it");
        one.release(lock);
        return lock.grant.token;
    };
    const auto first = hold_once();
    fs::copy_file(world.path(), world.path() + ".old");
    const auto second = hold_once();
    fs::rename(world.path() + ".old", world.path());
    const auto third = hold_once();
    EXPECT_GT(second, first);
    EXPECT_GT(third, second);
}

// The clock went back as well, but this client knows what it was given.
TEST(sqlite_tokens, of_one_client_go_on_whatever_the_file_says) {
    const sqlite_world world;
    client one(world.service());
    one.take("other");
    stranger file(world.path());
    file.run("UPDATE pawl SET last_token = last_token + 1000000000000");
    const auto before = one.take("it");
    file.run("UPDATE pawl SET last_token = 7");
    one.release(before);
    EXPECT_GT(one.take("it").grant.token, before.grant.token);
}

TEST(sqlite_tokens, that_cannot_go_on_are_not_issued) {
    const sqlite_world world;
    client one(world.service());
    one.take("other");
    stranger(world.path()).run("UPDATE pawl SET last_token = 9223372036854775807");
    EXPECT_TRUE(says(failure_of([&] { one.take("it"); }), errc::unavailable, "damaged"));
}

// Whoever may write the file may write anything: that can cost the locks, not the programs.
TEST(sqlite_rows, of_no_sense_do_no_harm_to_a_program) {
    const sqlite_world world;
    client one(world.service());
    one.take("other");
    stranger file(world.path());
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
    EXPECT_EQ(one.list("bad").size(), 3U);
    for (int i = 1; i <= number; ++i) {
        const auto name = "bad" + std::to_string(i);
        one.inspect(name);
        one.acquire(ask(name));
        one.force(name);
    }
    pawl::blocking::client locks(world.service());
    EXPECT_GT(pawl::blocking::latch(locks, "bad1").count_down(), 0U);
    EXPECT_TRUE(one.acquire(ask("good")));
}

// The boot id that others see has changed, but the clock has not begun again: a container, or a
// file that is mounted over /proc/sys/kernel/random/boot_id.
TEST(sqlite_boot, a_changed_boot_id_frees_no_lock) {
    const sqlite_world world;
    client holder(world.service());
    const auto lock = holder.take("it", 1h);
    client waiter(world.service());
    auto waiting = waiter.start(ask("it"));
    ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
    stranger file(world.path());
    file.run("UPDATE holders SET boot = 'hidden'; UPDATE waiters SET boot = 'hidden'");
    client other(world.service());
    EXPECT_FALSE(other.acquire(ask("it")));
    EXPECT_EQ(other.inspect("it").held_by.value().token, lock.grant.token);
    EXPECT_EQ(other.inspect("it").waiters, 1U);
    EXPECT_EQ(holder.renew(lock, 1h).result, pawl::renewal::outcome::extended);
    EXPECT_EQ(holder.release(lock), pawl::release_result::released);
    EXPECT_TRUE(waiting.get());
}

TEST(sqlite_boot, a_lease_of_a_changed_boot_id_ends_all_the_same) {
    const sqlite_world world;
    client dead(world.service());
    const auto lock = dead.take("it", 1h);
    stranger(world.path())
        .run("UPDATE holders SET boot = 'hidden', expires = " +
             std::to_string((now() + 100ms).time_since_epoch().count()));
    client other(world.service());
    EXPECT_GT(other.take("it").grant.token, lock.grant.token);
}

TEST(sqlite_boot, a_latch_of_a_changed_boot_id_counts_on) {
    const sqlite_world world;
    pawl::blocking::client locks(world.service());
    pawl::blocking::latch gate(locks, "it");
    ASSERT_TRUE(gate.try_set(2));
    stranger(world.path()).run("UPDATE latches SET boot = 'hidden'");
    EXPECT_EQ(gate.count_down(), 1U);
    EXPECT_FALSE(gate.try_wait());
}

// A waits at the latch; another process keeps the file for longer than a transaction may wait; then
// the last step is counted. The wait goes on, and each step is counted once.
TEST(sqlite_busy, a_latch_is_waited_for_over_a_busy_spell) {
    const sqlite_world world;
    pawl::blocking::client locks(world.service()), others(world.service());
    pawl::blocking::latch gate(locks, "it"), theirs(others, "it");
    ASSERT_TRUE(gate.try_set(2));
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    std::optional<pawl::error> failed;
    bool open = false;
    std::jthread waiting([&] { failed = failure_of([&] { open = gate.wait_for(60s); }); });
    EXPECT_TRUE(says(failure_of([&] { theirs.count_down(); }), errc::unavailable, "in use"));
    EXPECT_TRUE(says(failure_of([&] { theirs.count_down(); }), errc::unavailable, "in use"));
    hog.run("COMMIT");
    EXPECT_EQ(theirs.count_down(), 1U);
    EXPECT_EQ(theirs.count_down(), 0U);
    waiting.join();
    EXPECT_FALSE(failed) << failed->what();
    EXPECT_TRUE(open);
}

// The same in a barrier whose own arrival was counted before the file was busy.
TEST(sqlite_busy, a_barrier_goes_on_and_counts_nobody_twice) {
    const sqlite_world world;
    pawl::blocking::client locks(world.service()), others(world.service());
    pawl::blocking::barrier gate(locks, "it", 2), theirs(others, "it", 2);
    EXPECT_EQ(theirs.inspect().count, 0U);
    const auto mine = gate.arrive();
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    std::optional<pawl::error> failed;
    bool open = false;
    std::jthread waiting([&] { failed = failure_of([&] { open = gate.wait_for(mine, 60s); }); });
    EXPECT_TRUE(says(failure_of([&] { (void)theirs.arrive(); }), errc::unavailable, "in use"));
    hog.run("COMMIT");
    EXPECT_EQ(stranger(world.path()).text("SELECT count FROM latches"), "1");
    (void)theirs.arrive();
    waiting.join();
    EXPECT_FALSE(failed) << failed->what();
    EXPECT_TRUE(open);
}

// Another process keeps the file for longer than a transaction may wait: the wait goes on behind
// it.
TEST(sqlite_busy, an_acquire_waits_over_a_busy_spell) {
    const sqlite_world world;
    ASSERT_FALSE(use_of(world.path()));
    std::atomic<bool> told = false;
    const pawl::client_options options{.log = [&](std::string_view line) {
        if (line.starts_with("Waiting for the service: ")) told = true;
    }};
    pawl::blocking::client locks(world.service(), options);
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    std::optional<pawl::error> failed;
    pawl::blocking::held_lock mine;
    std::jthread waiting([&] {
        failed = failure_of([&] { mine = locks.acquire("it", {.ttl = 60s, .wait = 60s}); });
    });
    EXPECT_TRUE(eventually([&] { return told.load(); }));
    hog.run("COMMIT");
    waiting.join();
    EXPECT_FALSE(failed) << failed->what();
    EXPECT_TRUE(mine.owns_lock());
}

// The wait ends with the last reason, and leaves no place in line.
TEST(sqlite_busy, an_acquire_whose_wait_ends_in_a_busy_spell_says_why) {
    const sqlite_world world;
    ASSERT_FALSE(use_of(world.path()));
    pawl::blocking::client locks(world.service());
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    const auto ask = [&] { (void)locks.acquire("it", {.ttl = 60s, .wait = 3500ms}); };
    EXPECT_TRUE(says(failure_of(ask), errc::unavailable, "in use"));
    hog.run("COMMIT");
    EXPECT_EQ(hog.text("SELECT count(*) FROM waiters"), "0");
}

TEST(sqlite_busy, an_acquire_can_be_cancelled_in_a_busy_spell) {
    const sqlite_world world;
    client mine(world.service());
    mine.take("other");
    stranger hog(world.path());
    hog.run("BEGIN IMMEDIATE");
    auto waiting = mine.start(ask("it"));
    waiting.cancel();
    EXPECT_THROW(waiting.get(), boost::system::system_error);
    hog.run("COMMIT");
    EXPECT_EQ(hog.text("SELECT count(*) FROM waiters"), "0");
}

}  // namespace
}  // namespace backend_tests
