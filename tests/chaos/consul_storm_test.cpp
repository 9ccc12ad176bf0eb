// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Eight processes contend for a lock in a cluster of Consul. Processes, mostly the holder, and
// leaders are killed. No two holds overlap, and tokens grow. PAWL_STORM_SECONDS is its length.
#include <support/consul_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_workers = 8;
constexpr auto kill_pause = 12s, leader_pause = 35s, restart_pause = 3s;

// The begin or the end of a hold. A pipe keeps such small records whole.
struct record {
    std::size_t worker;
    std::uint64_t token;
    pawl::time_point at;
    bool is_begin;
};

struct hold_interval {
    std::uint64_t token;
    pawl::time_point begin, end;
};

void write_record(int pipe, const record& written) {
    if (::write(pipe, &written, sizeof written) != sizeof written) std::_Exit(1);
}

// Most holds are short; some need a renewal.
[[noreturn]] void contend(const std::string& url, std::size_t number, int pipe) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::minstd_rand random_numbers(static_cast<unsigned>(::getpid()));
    pawl::blocking::client locks(pawl::consul::at(url), {.try_limit = 5s});
    for (;;) {
        try {
            auto held = locks.acquire("it", {.ttl = 10s, .wait = 300s});
            const auto token = held.token().value();
            write_record(pipe, {number, token, pawl::boot_clock::now(), true});
            const bool is_long = random_numbers() % 200 == 0;
            const auto work = std::chrono::milliseconds(is_long ? 5000 : random_numbers() % 10);
            std::this_thread::sleep_for(work);  // the work
            const auto end = std::min(pawl::boot_clock::now(), held.safe_until());
            write_record(pipe, {number, token, end, false});
            (void)held.release();
        } catch (const pawl::error&) {}  // Consul is away
    }
}

class storm {
public:
    storm() {
        if (::pipe(pipe_.data()) != 0) throw std::runtime_error("no pipe");
        for (std::size_t i = 0; i < most_workers; ++i)
            start(i);
    }
    ~storm() {
        for (std::size_t i = 0; i < most_workers; ++i)
            kill(i);
    }
    storm(const storm&) = delete;
    storm& operator=(const storm&) = delete;

    void run(std::chrono::seconds length) {
        const auto end = pawl::boot_clock::now() + length;
        auto next_kill = pawl::boot_clock::now() + kill_pause;
        auto next_leader = pawl::boot_clock::now() + leader_pause;
        while (pawl::boot_clock::now() < end) {
            read_records();
            const auto now = pawl::boot_clock::now();
            if (now >= next_kill) {
                replace_a_worker();
                next_kill = now + kill_pause;
            }
            if (now >= next_leader) {
                replace_the_leader();
                next_leader = pawl::boot_clock::now() + leader_pause;
            }
        }
    }
    [[nodiscard]] std::vector<hold_interval> intervals() const {
        auto sorted = intervals_;
        std::ranges::sort(sorted, {}, &hold_interval::begin);
        return sorted;
    }
    [[nodiscard]] int kills() const noexcept { return kills_; }
    [[nodiscard]] int killed_holders() const noexcept { return killed_holders_; }
    [[nodiscard]] int leaders() const noexcept { return leaders_; }

private:
    void start(std::size_t number) {
        const auto process = ::fork();
        if (process == 0) contend(cluster_.url(), number, pipe_[1]);
        workers_[number] = process;
    }
    // The end of its hold, if it has one, is that of the process.
    void kill(std::size_t number) {
        ::kill(workers_[number], SIGKILL);
        ::waitpid(workers_[number], nullptr, 0);
        while (read_records()) {}
        if (!open_[number]) return;
        intervals_.push_back({open_[number]->token, open_[number]->at, pawl::boot_clock::now()});
        open_[number].reset();
        ++killed_holders_;
    }
    void replace_a_worker() {
        auto victim = random_numbers_() % most_workers;
        for (std::size_t i = 0; i < most_workers; ++i)
            if (open_[i] && random_numbers_() % 4 != 0) victim = i;
        kill(victim);
        ++kills_;
        start(victim);
    }
    void replace_the_leader() {
        auto& leader = cluster_.server(cluster_.leader());
        leader.kill9();
        ++leaders_;
        const auto until = pawl::boot_clock::now() + restart_pause;
        while (pawl::boot_clock::now() < until)
            read_records();
        leader.start();
    }
    // False: none came for a short time.
    bool read_records() {
        pollfd readable{pipe_[0], POLLIN, 0};
        if (::poll(&readable, 1, 20) <= 0) return false;
        record received{};
        if (::read(pipe_[0], &received, sizeof received) != sizeof received) return false;
        auto& open = open_[received.worker];
        if (received.is_begin) {
            open = received;
        } else if (open) {
            intervals_.push_back({received.token, open->at, received.at});
            open.reset();
        }
        return true;
    }

    support::consul_cluster cluster_;
    std::array<int, 2> pipe_{};
    std::array<pid_t, most_workers> workers_{};
    std::array<std::optional<record>, most_workers> open_{};
    std::vector<hold_interval> intervals_;
    std::minstd_rand random_numbers_{7};
    int kills_ = 0, killed_holders_ = 0, leaders_ = 0;
};

TEST(ConsulStorm, NoHoldsOverlapAndTokensGrow) {
    const char* seconds = std::getenv("PAWL_STORM_SECONDS");
    storm all;
    all.run(std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 60));
    const auto intervals = all.intervals();
    int overlaps = 0, regressions = 0;
    for (std::size_t i = 1; i < intervals.size(); ++i) {
        if (intervals[i].begin < intervals[i - 1].end) ++overlaps;
        if (intervals[i].token <= intervals[i - 1].token) ++regressions;
    }
    std::cout << intervals.size() << " holds, " << all.kills() << " kills (" << all.killed_holders()
              << " of holders), " << all.leaders() << " leaders\n";
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(regressions, 0);
    EXPECT_GT(intervals.size(), 20U);
    EXPECT_GT(all.kills(), 0);
}

}  // namespace
