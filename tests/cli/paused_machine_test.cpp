// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The machine of a holder is paused for longer than its lease, and the boot clock is paused with
// it, as by a hypervisor. The test stops the processes and sets their clock back by the same time:
// see clock_shim.c.
#include "command.hpp"

#include <run/processes.hpp>

#include <support/moved_clock.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <iostream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

constexpr auto ttl = 3 * second;

class PausedMachine : public ::testing::Test {
protected:
    // `top` and its descendants, each behind its parent.
    std::vector<pid_t> process_tree_of(pid_t top) {
        std::vector<pid_t> processes{top};
        const auto all = pawl::cli::all_processes();
        for (std::size_t i = 0; i < processes.size(); ++i)
            for (const auto& each : all)
                if (each.parent == processes[i]) processes.push_back(each.pid);
        return processes;
    }
    void pause(pid_t top) {
        paused_ = process_tree_of(top);
        for (const auto each : paused_)
            ::kill(each, SIGSTOP);
        for (const auto each : paused_)
            ASSERT_TRUE(support::eventually([&] { return is_stopped(each); }));
        paused_at_ = boot_time();
    }
    void resume() {
        resumed_at_ = boot_time();
        clock_.suspend_boot_clock(std::chrono::nanoseconds(resumed_at_ - paused_at_));
        std::reverse(paused_.begin(), paused_.end());
        for (const auto each : paused_)
            ::kill(each, SIGCONT);
    }
    // With the clock of the host, so that all heartbeats can be compared.
    static words with_host_clock(const words& command) {
        return words{"env", "-u", "LD_PRELOAD", "-u", "PAWL_CLOCK_FILE"} + command;
    }
    variables moved_clock_environment() const {
        variables result;
        for (const auto& [name, value] : clock_.environment())
            result[name] = value;
        return result;
    }
    std::unique_ptr<started_process> run(const std::string& file, const variables& more = {}) {
        const words beat = with_host_clock(heartbeat(file));
        return sandbox_.start(words{"run", "--ttl", "3s", "x", "--"} + beat, more);
    }
    std::uint64_t token() {
        return std::stoull(
            from_json(sandbox_.run({"status", "x", "--json"}).out, "it['holder']['token']"));
    }
    // A is paused until its lease is over, and B has the lock. Then A continues.
    void run_paused_holder(const std::function<void()>& meanwhile) {
        const auto file = sandbox_.file("a"), next_file = sandbox_.file("b");
        const auto holder = run(file, moved_clock_environment());
        ASSERT_TRUE(is_beating(file)) << holder->err();
        const auto old = token();
        pause(holder->pid());
        meanwhile();
        const auto next = run(next_file);
        ASSERT_TRUE(is_beating(next_file)) << next->err();
        EXPECT_GT(token(), old) << "protects from the holder that continues";
        resume();
        const auto result = holder->wait();
        EXPECT_EQ(result.code, 70);
        EXPECT_NE(result.err.find("Lost 'x'"), std::string::npos) << result.err;
        EXPECT_EQ(result.err.find("no renewal was confirmed"), std::string::npos)
            << "its clock stood still: " << result.err;
        EXPECT_TRUE(eventually_silent(file));
        // The next renewal is at most a third of the ttl away. If the pause hits a renewal, it
        // takes longer, and the end of the lease by the holder's clock is the limit.
        EXPECT_LT(last_beat(file), resumed_at_ + ttl);
        std::cout << "beside the next holder for " << (last_beat(file) - resumed_at_) / 1'000'000
                  << " ms\n";
        EXPECT_TRUE(is_beating(next_file)) << "the next holder continues";
        next->signal(SIGTERM);
        (void)next->wait();
    }

    support::moved_clock clock_;
    support::redis_server server_;
    const test_sandbox sandbox_{server_.url()};

private:
    std::vector<pid_t> paused_;
    std::int64_t paused_at_ = 0;
    std::int64_t resumed_at_ = 0;
};

//   A renews | A's machine is paused | A's lease ends at the server, B takes the lock | A continues
//   and knows nothing of the pause: its lease seems valid | A's next renewal is refused
TEST_F(PausedMachine, LearnsOfTheLossWithTheNextRenewal) {
    run_paused_holder([] {});
}

//   the same, and A's connection is closed while A is paused
TEST_F(PausedMachine, LearnsOfTheLossWithTheNextRenewalOnANewConnection) {
    run_paused_holder([this] {
        (void)server_.execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    });
}

//   the same, and the new connection has to wait: the renewals get no reply | A's lease ends by A's
//   own clock
TEST_F(PausedMachine, LosesItByItsOwnClockWhereNobodyAnswers) {
    const auto file = sandbox_.file("a");
    const auto holder = run(file, moved_clock_environment());
    ASSERT_TRUE(is_beating(file)) << holder->err();
    pause(holder->pid());
    server_.freeze();
    resume();
    const auto result = holder->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_NE(result.err.find("no renewal was confirmed"), std::string::npos) << result.err;
    EXPECT_LT(last_beat(file), boot_time());
    EXPECT_TRUE(eventually_silent(file));
    server_.thaw();
}

}  // namespace
