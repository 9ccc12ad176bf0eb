// 64 waiters in 8 processes want one lock; every moment a process is killed with SIGKILL, now the
// holder's, now any other, and a new one takes its place.
//
//   waiting | claiming | holding | showing its token | releasing     <- SIGKILL at any of these
//
// The lock is never held twice, moves on within ttl + 2 s, and the resource never sees a token go
// back.
#include "journal.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>
#include <pawl/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

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
    explicit weather(std::string url) : url_(std::move(url)) {
        for (std::size_t i = 0; i < processes; ++i)
            crowd_.push_back(one_more());
    }

    void rage_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        std::uniform_int_distribution<int> milliseconds(50, 900);
        std::uniform_int_distribution<std::size_t> any(0, processes - 1);
        while (boot_clock::now() < until) {
            // Between two kills.
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(dice_)));
            const std::size_t victim = kills_++ % 2 == 0 ? holder() : any(dice_);
            crowd_[victim].process.kill9();
            crowd_[victim] = one_more();
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

    [[nodiscard]] support::history history() const {
        return storm::read_history(folder_.path().string());
    }
    [[nodiscard]] int kills() const noexcept { return kills_; }

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

    // The process whose journal was written last: it holds the lock, or did a moment ago.
    [[nodiscard]] std::size_t holder() const {
        const auto written = [this](const member& each) {
            std::error_code missing;
            return std::filesystem::last_write_time(folder_.file(each.name + ".journal"), missing);
        };
        const auto newest = std::max_element(
            crowd_.begin(), crowd_.end(),
            [&](const member& a, const member& b) { return written(a) < written(b); });
        return static_cast<std::size_t>(newest - crowd_.begin());
    }

    std::string url_;
    support::temp_folder folder_;
    std::vector<member> crowd_;
    std::minstd_rand dice_{std::random_device{}()};
    int started_ = 0;
    int kills_ = 0;
};

void judge(const support::history& what, int kills) {
    const auto found = support::check(what);
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 10); ++i)
        ADD_FAILURE() << found[i].rule << ": " << found[i].what;
    // The last hold before a kill ends with its lease; a hold itself is a few ms long.
    const auto gap = pawl::duration(support::longest_gap(what));
    EXPECT_LE(gap, ttl + grace) << "the lock did not move on";
    EXPECT_GT(what.holds.size(), 50U);
    EXPECT_GT(what.writes.size(), what.holds.size() / 2);
    std::cout << what.holds.size() << " holds, " << what.writes.size() << " writes, " << kills
              << " kills, longest gap "
              << std::chrono::duration_cast<std::chrono::milliseconds>(gap).count() << " ms\n";
}

TEST(Storm, Redis) {
    support::redis_server server;
    weather storm(server.url());
    storm.rage_for(length_of_storm());
    storm.calm_down();
    judge(storm.history(), storm.kills());
    // What the killed had is gone with its lease; nothing else stays.
    EXPECT_TRUE(support::eventually([&] {
        auto keys = server.keys();
        std::erase_if(keys, [](const std::string& key) { return key.ends_with(":f"); });
        return keys.empty();
    }));
}

TEST(Storm, Sqlite) {
    const support::temp_folder place;
    weather storm("sqlite:" + place.file("locks.db"));
    storm.rage_for(length_of_storm());
    storm.calm_down();
    judge(storm.history(), storm.kills());
}

}  // namespace
