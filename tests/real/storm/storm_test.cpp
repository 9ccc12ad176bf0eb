// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// 64 waiters in 8 processes want one lock. Every moment a process is killed, or stopped for less or
// more than the ttl and continued; sometimes the holder's, sometimes another.
//
//   waiting | claiming | believing | writing | releasing      <- SIGKILL, SIGSTOP, SIGCONT at each
//
// What the storm must survive above all, with a ttl of 1 s:
//
//   0.000  A holds, token 7; its clock says that it is still safe for 0.9 s
//   0.001  A is stopped, between that check and its write
//   1.000  A's lease is over; B is next in the queue, and belongs to A's process: granted, never
//          claimed
//   2.000  B's claim window is over; C gets the lock, token 9, and writes
//   2.500  C is killed; the lock goes on to D at 3.5, token 10
//   3.000  A continues: its write comes with token 7 and is refused; A checks again and sees that
//          it has lost; its release finds "expired"; no timer of A's fires first to say "renewed"
//
// The lock is never believed to be held twice, every resumed process knows of its loss, the lock
// moves on within ttl + 2 s of every fault, and the resource never accepts a token that goes back.
#include "process.hpp"

#include <real/clients/client_process.hpp>
#include <real/record/checker.hpp>
#include <real/record/journal_counter.hpp>

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <sstream>

#include <fcntl.h>

namespace {

using namespace std::chrono_literals;
using namespace real;
using pawl::boot_clock;
using pawl::conformance::child;

constexpr std::size_t process_count = 8;
constexpr auto ttl_of_clients = 1000ms;
constexpr pawl::duration ttl = ttl_of_clients;
constexpr pawl::duration grace = 2s;

// Whether the process with this journal has a lock that it has not begun to release.
bool has_hold(const std::string& path) {
    constexpr std::streamoff enough = 8192;  // some twenty holds
    std::ifstream file(path, std::ios::ate);
    file.seekg(std::max<std::streamoff>(file.tellg() - enough, 0));
    std::set<std::string> open;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string verb, hold;
        fields >> verb >> hold;
        if (verb == "got") open.insert(hold);
        if (verb == "leave") open.erase(hold);
    }
    return !open.empty();
}

// How often that process found its lock lost.
std::size_t count_told(const std::string& path) {
    std::ifstream file(path);
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("end ") && !line.ends_with(" released")) ++count;
    return count;
}

class storm_run {
public:
    // `blocks_all` tells whether a stopped process keeps all others from proceeding.
    storm_run(std::string url, std::function<bool(pid_t)> blocks_all)
        : url_(std::move(url)), blocks_all_(std::move(blocks_all)) {
        for (std::size_t i = 0; i < process_count; ++i)
            members_.push_back(start_member());
    }

    void run_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        for (unsigned turn = 0; boot_clock::now() < until && !testing::Test::HasFailure(); ++turn) {
            pause(50ms, 900ms);
            switch (turn % 4) {
            case 0: kill_member(likely_holder()); break;
            case 1: stop_a_holder(); break;
            case 2: kill_member(random_member()); break;
            default: stop_anybody(); break;
            }
        }
    }

    // Every process releases its holds and ends by itself.
    void finish() {
        for (member& each : members_)
            each.process.close_input();
        for (member& each : members_)
            EXPECT_EQ(each.process.wait(60s), std::optional<int>(0))
                << "process " << each.number << " ends with an error";
    }

    void check_history() const;

private:
    struct member {
        std::size_t number;  // of the process
        child process;
    };

    member start_member() {
        const client_options client{.access = {.url = url_, .has_readers = false},
                                    .folder = folder(),
                                    .process = started_,
                                    .locks = 1,
                                    .longest_ttl = ttl_of_clients,
                                    .threads = 8,
                                    .has_long_holds = false};
        return {started_++, child(pawl::conformance::launch_as_helper(client_words(client)))};
    }

    void kill_member(std::size_t victim) {
        members_[victim].process.kill_and_reap();
        members_[victim] = start_member();
        ++kills_;
    }

    // A holder that is stopped for longer than its lease resumes late, and must know it.
    void stop_a_holder() {
        std::size_t victim = likely_holder();
        for (int tries = 0; !stop_if(stop_condition::holding, victim); victim = likely_holder())
            if (++tries == 2000) return;  // the checker reports that the lock has not moved
        ++long_stops_;
        expect_progress("its holder was stopped");
        if (random_member() % 2 == 0) {
            kill_member((victim + 1) % process_count);
            expect_progress("one was stopped and another one killed");
        }
        pause(0ms, 1200ms);
        const std::string journal = journal_of(victim);
        const auto before = count_told(journal);
        members_[victim].process.resume();
        EXPECT_TRUE(support::eventually([&] { return count_told(journal) > before; }))
            << "a resumed holder did not see its loss";
    }

    // For less than the ttl: the process may find that it still holds the lock.
    void stop_anybody() {
        const std::size_t victim = random_member();
        if (!stop_if(stop_condition::none, victim)) return;
        ++short_stops_;
        pause(1ms, 900ms);
        members_[victim].process.resume();
    }

    enum class stop_condition { none, holding };

    // Stops the process. Continues it and returns false if the condition is not met, or if the
    // stopped process would block all others.
    bool stop_if(stop_condition condition, std::size_t victim) {
        child& process = members_[victim].process;
        process.stop();
        const bool is_met = condition == stop_condition::none || has_hold(journal_of(victim));
        if (is_met && !is_in_an_access() && !blocks_all_(process.pid())) return true;
        process.resume();
        pause(1ms, 5ms);
        return false;
    }

    // Not the access of another process, which ends in the meantime.
    [[nodiscard]] bool is_in_an_access() const {
        return !support::eventually([&] { return !resource::is_busy(resource_path(folder(), 0)); },
                                    20ms);
    }

    // Another process must get the lock: the one that has it is stopped.
    void expect_progress(const char* after) {
        const auto before = counter_.update(started_).holds;
        EXPECT_TRUE(support::eventually([&] { return counter_.update(started_).holds > before; },
                                        ttl + grace))
            << "the lock did not move on after " << after;
    }

    void pause(pawl::duration at_least, pawl::duration at_most) {
        std::uniform_int_distribution<pawl::duration::rep> length(at_least.count(),
                                                                  at_most.count());
        std::this_thread::sleep_for(pawl::duration(length(dice_)));  // between two faults
    }

    [[nodiscard]] std::size_t random_member() {
        return std::uniform_int_distribution<std::size_t>(0, process_count - 1)(dice_);
    }

    [[nodiscard]] std::string folder() const { return folder_.path().string(); }
    [[nodiscard]] std::string journal_of(std::size_t index) const {
        return journal_path(folder(), members_[index].number);
    }

    // The process whose journal was written last: it holds the lock, or did a moment ago.
    [[nodiscard]] std::size_t likely_holder() const {
        const auto written = [this](const member& each) {
            std::error_code missing;
            return std::filesystem::last_write_time(journal_path(folder(), each.number), missing);
        };
        const auto last_writer = std::max_element(
            members_.begin(), members_.end(),
            [&](const member& a, const member& b) { return written(a) < written(b); });
        return static_cast<std::size_t>(last_writer - members_.begin());
    }

    std::string url_;
    std::function<bool(pid_t)> blocks_all_;
    support::temp_folder folder_;
    journal_counter counter_{folder_.path().string()};
    std::vector<member> members_;
    std::minstd_rand dice_{std::random_device{}()};
    std::size_t started_ = 0;
    int kills_ = 0;
    int long_stops_ = 0;  // holders that were stopped for longer than the ttl
    int short_stops_ = 0;
};

void storm_run::check_history() const {
    const auto records = read_records(folder(), started_, 1);
    const auto outcome = check(records);
    EXPECT_EQ(outcome.violations(), 0U);
    for (const auto& each : outcome.details)
        ADD_FAILURE() << each;
    // The last hold before a fault ends with its lease; a hold itself is a few ms long.
    const auto gap = pawl::duration(longest_gap(records.locks[0]));
    EXPECT_LE(gap, ttl + grace) << "the lock did not move on";
    EXPECT_GT(outcome.holds, 50U);
    EXPECT_GT(outcome.writes, outcome.holds / 2);
    std::cout << outcome.holds << " holds, " << outcome.writes << " writes, " << kills_
              << " killed, " << long_stops_ << " holders stopped too long, " << short_stops_
              << " naps, " << outcome.told << " told of their loss, " << outcome.refused
              << " refused, " << records.errors.size() << " errors, longest gap " << gap / 1ms
              << " ms\n";
}

TEST(Storm, Redis) {
    support::redis_server server;
    storm_run storm(server.url(), [](pid_t) { return false; });
    storm.run_for(storm::length_or(20s));
    storm.finish();
    storm.check_history();
    // What the killed processes held is gone with its lease. Only the counters of tokens stay, in
    // keys that end in ":f".
    EXPECT_TRUE(support::eventually([&] {
        auto keys = server.keys();
        std::erase_if(keys, [](const std::string& key) { return key.ends_with(":f"); });
        return keys.empty();
    }));
}

// A process that is stopped in the middle of a transaction keeps the file locked, as
// docs/backends/sqlite.md says. These are SQLite's locks for writing, for a checkpoint and for
// recovery, in the -shm file.
bool in_a_transaction(const std::string& shared_memory, pid_t process) {
    const int file = ::open(shared_memory.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return true;  // it is being made
    bool locked = false;
    for (const int byte : {120, 121, 122}) {
        struct flock lock_request {};
        lock_request.l_type = F_WRLCK;
        lock_request.l_whence = SEEK_SET;
        lock_request.l_start = byte;
        lock_request.l_len = 1;
        locked = locked || ::fcntl(file, F_GETLK, &lock_request) != 0 ||
                 (lock_request.l_type != F_UNLCK && lock_request.l_pid == process);
    }
    ::close(file);
    return locked;
}

TEST(Storm, Sqlite) {
    const support::temp_folder folder;
    const std::string path = folder.file("locks.db");
    storm_run storm("sqlite:" + path,
                    [&](pid_t process) { return in_a_transaction(path + "-shm", process); });
    storm.run_for(storm::length_or(20s));
    storm.finish();
    storm.check_history();
}

}  // namespace
