// 64 waiters in 8 processes want one lock. Every moment a process is killed, or stopped for less or
// more than the ttl and let go on; now the holder's, now any other.
//
//   waiting | claiming | believing | writing | releasing      <- SIGKILL, SIGSTOP, SIGCONT at each
//
// What it must survive above all, with a ttl of 1 s:
//
//   0.000  A holds, token 7; its watch says that it is still safe for 0.9 s
//   0.001  A is stopped, between that look and its write
//   1.000  A's lease is over; B is next in line, and belongs to A's process: given, never claimed
//   2.000  B's claim window is over; C gets the lock, token 9, and writes
//   2.500  C is killed; the lock goes on to D at 3.5, token 10
//   3.000  A goes on: its write comes with token 7 and is refused; A looks again and sees that it
//          has lost; its release finds "expired"; no timer of A's fires first to say "renewed"
//
// The lock is never believed to be held twice, whoever wakes knows, the lock moves on within ttl +
// 2 s of every fault, and the resource never takes a token that goes back.
#include "journal.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>
#include <pawl/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <random>

#include <fcntl.h>

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::conformance::child;

constexpr std::size_t processes = 8;
constexpr pawl::duration ttl = 1s;
constexpr pawl::duration grace = 2s;

// A minute, or PAWL_STORM_SECONDS.
pawl::duration length_of_storm() {
    const char* told = std::getenv("PAWL_STORM_SECONDS");
    return std::chrono::seconds(told == nullptr ? 60 : std::atoi(told));
}

class weather {
public:
    // `blocks_all` says of a process that stands still whether nobody can get on without it.
    weather(std::string url, std::function<bool(pid_t)> blocks_all)
        : url_(std::move(url)), blocks_all_(std::move(blocks_all)) {
        for (std::size_t i = 0; i < processes; ++i)
            crowd_.push_back(one_more());
    }

    void rage_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        for (unsigned turn = 0; boot_clock::now() < until && !testing::Test::HasFailure(); ++turn) {
            pause(50ms, 900ms);
            switch (turn % 4) {
            case 0: kill(newest()); break;
            case 1: stop_a_holder(); break;
            case 2: kill(any()); break;
            default: stop_anybody(); break;
            }
        }
    }

    // Every process gives back what it holds and ends by itself.
    void calm_down() {
        for (member& each : crowd_)
            each.process.close_input();
        for (member& each : crowd_)
            EXPECT_EQ(each.process.wait(60s), std::optional<int>(0))
                << each.name << " does not end well";
    }

    void judge() const;

private:
    struct member {
        std::string name;
        child process;
    };

    member one_more() {
        const std::string name = "p" + std::to_string(started_++);
        return {name, child(pawl::conformance::myself_as_helper(
                          {"storm", url_, folder_.path().string(), name}))};
    }

    void kill(std::size_t victim) {
        crowd_[victim].process.kill9();
        crowd_[victim] = one_more();
        ++kills_;
    }

    // A holder that sleeps longer than its lease wakes up late, and must know it.
    void stop_a_holder() {
        std::size_t victim = newest();
        for (int tries = 0; !stopped_well(victim, true); victim = newest())
            if (++tries == 2000) return;  // then the lock has not moved, and the judge will say so
        ++overslept_;
        expect_to_move_on(victim, "its holder was stopped");
        if (any() % 2 == 0) {
            kill((victim + 1) % processes);
            expect_to_move_on(victim, "one was stopped and another one killed");
        }
        pause(0ms, 1200ms);
        const std::string journal = journal_of(crowd_[victim].name);
        const int before = storm::late_ones(journal);
        crowd_[victim].process.proceed();
        EXPECT_TRUE(support::eventually([&] { return storm::late_ones(journal) > before; }))
            << "a holder woke up and did not see that it had lost";
    }

    // For less than the ttl: whoever it is may find that it still holds the lock.
    void stop_anybody() {
        const std::size_t victim = any();
        if (!stopped_well(victim, false)) return;
        ++naps_;
        pause(1ms, 900ms);
        crowd_[victim].process.proceed();
    }

    // Stops it, unless it turns out to be at another point than wanted: then it goes on.
    bool stopped_well(std::size_t victim, bool holding) {
        child& process = crowd_[victim].process;
        process.stop();
        if ((!holding || storm::holds(journal_of(crowd_[victim].name))) &&
            !blocks_all_(process.pid()))
            return true;
        process.proceed();
        pause(1ms, 5ms);
        return false;
    }

    void expect_to_move_on(std::size_t without, const char* after) {
        // At least a "got": who woke up late writes less.
        const auto enough = written_by_others(without) + 60;
        EXPECT_TRUE(
            support::eventually([&] { return written_by_others(without) > enough; }, ttl + grace))
            << "the lock did not move on after " << after;
    }

    void pause(pawl::duration at_least, pawl::duration at_most) {
        std::uniform_int_distribution<pawl::duration::rep> length(at_least.count(),
                                                                  at_most.count());
        std::this_thread::sleep_for(pawl::duration(length(dice_)));  // between two faults
    }

    [[nodiscard]] std::size_t any() {
        return std::uniform_int_distribution<std::size_t>(0, processes - 1)(dice_);
    }

    [[nodiscard]] std::string journal_of(const std::string& name) const {
        return folder_.file(name + ".journal");
    }

    [[nodiscard]] std::uintmax_t written_by_others(std::size_t than) const {
        std::uintmax_t bytes = 0;
        for (const member& each : crowd_) {
            std::error_code missing;
            const auto size = std::filesystem::file_size(journal_of(each.name), missing);
            if (&each != &crowd_[than] && !missing) bytes += size;
        }
        return bytes;
    }

    // The process whose journal was written last: it holds the lock, or did a moment ago.
    [[nodiscard]] std::size_t newest() const {
        const auto written = [this](const member& each) {
            std::error_code missing;
            return std::filesystem::last_write_time(journal_of(each.name), missing);
        };
        const auto newest = std::max_element(
            crowd_.begin(), crowd_.end(),
            [&](const member& a, const member& b) { return written(a) < written(b); });
        return static_cast<std::size_t>(newest - crowd_.begin());
    }

    std::string url_;
    std::function<bool(pid_t)> blocks_all_;
    support::temp_folder folder_;
    std::vector<member> crowd_;
    std::minstd_rand dice_{std::random_device{}()};
    int started_ = 0;
    int kills_ = 0;
    int overslept_ = 0;  // holders that were stopped for longer than the ttl
    int naps_ = 0;
};

void weather::judge() const {
    const auto told = storm::read_testimony(folder_.path().string());
    const auto found = support::check(told.history);
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 10); ++i)
        ADD_FAILURE() << found[i].rule << ": " << found[i].what;
    // The last hold before a fault ends with its lease; a hold itself is a few ms long.
    const auto gap = pawl::duration(support::longest_gap(told.history));
    EXPECT_LE(gap, ttl + grace) << "the lock did not move on";
    const auto holds = told.history.holds.size(), writes = told.history.writes.size();
    EXPECT_GT(holds, 50U);
    EXPECT_GT(writes, holds / 2);
    std::cout << holds << " holds, " << writes << " writes, " << kills_ << " killed, " << overslept_
              << " holders overslept, " << naps_ << " naps, " << told.late << " late, "
              << told.refused << " writes refused, longest gap " << gap / 1ms << " ms\n";
}

TEST(Storm, Redis) {
    support::redis_server server;
    weather storm(server.url(), [](pid_t) { return false; });
    storm.rage_for(length_of_storm());
    storm.calm_down();
    storm.judge();
    // What the killed had is gone with its lease; nothing else stays.
    EXPECT_TRUE(support::eventually([&] {
        auto keys = server.keys();
        std::erase_if(keys, [](const std::string& key) { return key.ends_with(":f"); });
        return keys.empty();
    }));
}

// Who is stopped in the middle of a transaction keeps the file for itself: docs/sqlite.md says so.
// These are SQLite's locks for writing, for a checkpoint and for recovery, in the -shm file.
bool in_a_transaction(const std::string& shared_memory, pid_t process) {
    const int file = ::open(shared_memory.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return true;  // it is being made
    bool locked = false;
    for (const int byte : {120, 121, 122}) {
        struct flock asked {};
        asked.l_type = F_WRLCK;
        asked.l_whence = SEEK_SET;
        asked.l_start = byte;
        asked.l_len = 1;
        locked = locked || ::fcntl(file, F_GETLK, &asked) != 0 ||
                 (asked.l_type != F_UNLCK && asked.l_pid == process);
    }
    ::close(file);
    return locked;
}

TEST(Storm, Sqlite) {
    const support::temp_folder place;
    const std::string path = place.file("locks.db");
    weather storm("sqlite:" + path,
                  [&](pid_t process) { return in_a_transaction(path + "-shm", process); });
    storm.rage_for(length_of_storm());
    storm.calm_down();
    storm.judge();
}

}  // namespace
