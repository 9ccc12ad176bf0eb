// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron` at services that keep no records: Redis, and Redlock.
#include "fleet_host.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/schedule.hpp>

#include <support/redis_server.hpp>
#include <support/redlock_group.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

// One schedule, every second; `OUT` in the command is the file `out`.
class cron_sandbox : public test_sandbox {
public:
    explicit cron_sandbox(const std::string& url) : test_sandbox(url) {}

    [[nodiscard]] std::string write(const std::string& options, std::string command,
                                    const std::string& schedule = "* * * * * *") const {
        for (auto at = command.find("OUT"); at != std::string::npos; at = command.find("OUT"))
            command.replace(at, 3, out);
        std::ofstream(file("schedules"))
            << schedule << "  tick  " << options << "  " << command << '\n';
        return file("schedules");
    }
    [[nodiscard]] std::unique_ptr<started_process> start(const std::string& options,
                                                         const std::string& command) const {
        return test_sandbox::start({"cron", "-v", write(options, command)});
    }
    using test_sandbox::start;

    const std::string out = file("out");
};

const std::string note_tick = "echo \"$PAWL_TICK\" >>OUT";

bool says_in_time(const started_process& cron, const std::string& text) {
    return support::eventually([&] { return cron.err().find(text) != std::string::npos; });
}

void expect_each_tick_once(const cron_sandbox& sandbox) {
    const auto cron = sandbox.start("overlap=wait,catch_up=all,late=20s", note_tick);
    EXPECT_TRUE(support::eventually([&] { return count_lines(sandbox.out).size() >= 3; }))
        << cron->err();
    cron->signal(SIGTERM);
    EXPECT_EQ(cron->wait().code, 0);
    // Another start finds the marks: ticks of the last 20 s are not repeated.
    const auto before = count_lines(sandbox.out);
    const auto again = sandbox.start("overlap=wait,catch_up=all,late=20s", note_tick);
    EXPECT_TRUE(support::eventually([&] {
        return count_lines(sandbox.out).size() > before.size();
    })) << again->err();
    again->signal(SIGTERM);
    EXPECT_EQ(again->wait().code, 0);
    for (const auto& [key, count] : count_lines(sandbox.out))
        EXPECT_EQ(count, 1) << key;
    EXPECT_NE(again->err().find(" keeps no records: this host's clock decides"), std::string::npos);
    const auto history = sandbox.run({"cron", "--history"});
    EXPECT_EQ(history.code, 64);
    EXPECT_NE(history.err.find(" keeps no records of ticks, so it has no history"),
              std::string::npos);
}

TEST(CronMarks, RunsEachTickOnceOnRedis) {
    const support::redis_server server;
    expect_each_tick_once(cron_sandbox(server.url()));
}

TEST(CronMarks, RunsEachTickOnceOnRedlock) {
    support::redlock_group group;
    support::redlock_group::begin_set(group.url());
    expect_each_tick_once(cron_sandbox(group.url()));
}

// Throws "NOT RUN: …" without a server that has SET with IFEQ: ctest knows these words.
TEST(CronMarks, RunsEachTickOnceWithoutScripts) {
    const support::redis_server server({.program = support::conditional_set_program()});
    expect_each_tick_once(cron_sandbox(server.url("?scripts=no")));
}

// A acquires the lock and stalls, or dies, before its mark. B waits for the lock, and must run the
// tick when it is free: nobody did.
TEST(CronMarks, ATickOutlivesAHostThatStallsBeforeItsBeginning) {
    const support::redis_server server;
    const cron_sandbox sandbox(server.url());
    pawl::blocking::client locks(pawl::from_url(server.url()));
    auto held = locks.acquire("tick");
    const auto cron = sandbox.start("late=1h,catch_up=none", note_tick);
    ASSERT_TRUE(support::eventually([&] { return locks.inspect("tick").waiters == 1; }))
        << cron->err();
    static_cast<void>(held.release());
    EXPECT_TRUE(support::eventually([&] { return !count_lines(sandbox.out).empty(); }))
        << cron->err();
}

// The lock is kept for a whole lease, and nobody has made the mark: this is other work.
TEST(CronMarks, SkipsAnOverlap) {
    const support::redis_server server;
    const cron_sandbox sandbox(server.url());
    const auto cron = sandbox.start("ttl=1s,late=20s", note_tick + "; sleep 600");
    EXPECT_TRUE(says_in_time(*cron, ", because another process kept the lock.")) << cron->err();
    EXPECT_EQ(count_lines(sandbox.out).size(), 1U);
}

TEST(CronMarks, AllowsAnOverlap) {
    const support::redis_server server;
    const cron_sandbox sandbox(server.url());
    const auto cron = sandbox.start("overlap=allow,late=20s", note_tick + "; sleep 600");
    EXPECT_TRUE(support::eventually([&] { return count_lines(sandbox.out).size() >= 2; }))
        << cron->err();
}

TEST(CronMarks, RefusesWhatNeedsRecords) {
    const support::redis_server server;
    const cron_sandbox sandbox(server.url());
    const auto message_of = [&](const std::string& options) {
        const auto result = sandbox.run({"cron", sandbox.write(options, "true")});
        EXPECT_EQ(result.code, 78) << options << result.err;
        return result.err;
    };
    EXPECT_NE(message_of("attempts=3").find("The option attempts of 'tick' needs records"),
              std::string::npos);
    const auto too_long = message_of("late=13h");
    EXPECT_NE(too_long.find("a lock for twice the time of late: 1 d 2 h for 'tick'."),
              std::string::npos)
        << too_long;
    EXPECT_EQ(sandbox.run({"cron", "--schema"}).code, 64);
}

// What must survive: a clock that is 3 s ahead or behind, so that hosts take a tick up to 6 s after
// each other; a host that is stopped between lock, mark and command; a host that restarts and
// looks at all ticks again that are not late yet.
TEST(CronMarksFleet, RunsEachTickOnce) {
    const char* requested = std::getenv("PAWL_FLEET_TICKS");
    const auto wanted = requested == nullptr ? 6 : std::stoul(requested);
    const support::redis_server server;
    const cron_sandbox sandbox(server.url());
    const auto file = sandbox.write("overlap=wait,catch_up=all,late=30s", note_tick, "@every 2s");
    const auto began = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    std::mt19937 random(11);
    std::vector<std::unique_ptr<fleet_host>> hosts;
    for (const auto ahead : {-3000ms, 0ms, 3000ms})
        hosts.push_back(std::make_unique<fleet_host>(sandbox, words{"cron", file}, ahead));
    // Those that were due before the start come in addition.
    const auto is_done = [&] { return count_lines(sandbox.out).size() >= wanted + 15; };
    const auto until = std::chrono::steady_clock::now() + 5min;
    while (!is_done() && std::chrono::steady_clock::now() < until) {
        auto& host = *hosts[random() % hosts.size()];
        const auto before = count_lines(sandbox.out).size();
        if (random() % 2 == 0) {
            host.restart();
        } else {
            host.signal_all(SIGSTOP);
            static_cast<void>(
                support::eventually([&] { return count_lines(sandbox.out).size() > before; },
                                    std::chrono::milliseconds(random() % 800)));
            host.signal_all(SIGCONT);
        }
        static_cast<void>(
            support::eventually([&] { return count_lines(sandbox.out).size() > before; }, 20s));
    }
    EXPECT_TRUE(is_done());
    std::string messages;
    for (auto& each : hosts)
        each->stop();
    for (auto& each : hosts) {
        EXPECT_EQ(each->wait().code, 0);
        messages += each->messages();
    }
    const auto counts = count_lines(sandbox.out);
    for (const auto& [key, count] : counts)
        EXPECT_EQ(count, 1) << key << messages;
    // A machine that is too busy may let a tick get late, which is said.
    if (messages.find(": late.") != std::string::npos) return;
    const auto schedule = pawl::guard::cron_schedule::parse("@every 2s");
    for (auto each = schedule.next(began); each->key < counts.rbegin()->first;
         each = schedule.next(each->due))
        EXPECT_TRUE(counts.contains(each->key)) << each->key << messages;
}

}  // namespace
