// Many `pawl run` and `pawl elect`, some with several locks, want one lock; their commands leave
// their process group as ordinary scripts do. Again and again the supervisor or the keeper of the
// holder is killed, or stopped for longer than the ttl, or the server stands still.
//
//   0.0  A's script runs a worker below `timeout`; token 7
//   0.1  A's supervisor is killed, and its script with it: the worker belongs to init now
//   0.1  the keeper kills the worker by its cgroup and gives the lock back; or, without a cgroup,
//        by the name of the run in its environment, and lets the lease run out
//   4.1  B's worker begins, token 9. No moment of A's work may be later than this.
//
// Not among the faults: both processes killed at once, or the worker itself stopped. Then only the
// token protects.
#include "work.hpp"

#include <descendants.hpp>
#include <keeper.hpp>

#include <support/eventually.hpp>
#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <conformance/process.hpp>
#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>

#include <poll.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::conformance::child;
namespace cli = pawl::cli;

constexpr std::size_t runners = 6;
constexpr const char* ttl = "4s";
constexpr auto longer_than_ttl = 4500ms;
constexpr auto longest_lease = 4s;
constexpr auto grace = 6s;  // for a second fault before the next command has begun

pawl::duration length_of_storm() {
    const char* told = std::getenv("PAWL_STORM_SECONDS");
    return std::chrono::seconds(told == nullptr ? 20 : std::atoi(told));
}

struct shape {
    const char* shell;
    const char* script;
};
constexpr shape shapes[]{{"sh", "timeout 100 \"$@\"; true"},
                         {"sh", "setsid \"$@\" & wait"},
                         {"bash", "set -m; \"$@\" & wait"},
                         {"sh", "timeout 100 setsid \"$@\" & wait"},
                         {"sh", "\"$@\"; true"}};

// All of them have "x".
const std::vector<std::vector<std::string>> requests{
    {"run", "x"}, {"elect", "x"}, {"run", "x", "--also", "y"}, {"run", "y", "--also", "x"}};

class command_storm {
public:
    // Without a server nothing can freeze.
    command_storm(std::string url, support::redis_server* server)
        : url_(std::move(url)), server_(server) {
        for (std::size_t i = 0; i < runners; ++i)
            crowd_.push_back(next());
    }

    void rage_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        for (unsigned turn = 0; boot_clock::now() < until && !testing::Test::HasFailure(); ++turn) {
            for (int i = std::uniform_int_distribution<int>(1, 20)(dice_); i > 0; --i) {
                ::poll(nullptr, 0, 50);  // between two faults
                replace_ended();
            }
            strike(turn);
        }
    }

    // Everybody comes to the lock once more and ends. Nothing stays: no worker, no lock, no line.
    void calm_down() {
        for (child& each : crowd_)
            EXPECT_TRUE(each.wait(60s)) << "a pawl does not end";
        EXPECT_TRUE(support::eventually([&] { return workers() == 0; }, 30s));
        pawl::blocking::client locks(pawl::from_url(url_));
        EXPECT_TRUE(support::eventually([&] { return locks.list("").empty(); }, 30s));
    }

    void judge() const {
        const auto all = storm::read_work(folder_.path().string());
        std::int64_t last = all.empty() ? 0 : all.front().first;
        std::uint64_t of = 0;
        pawl::duration gap{};
        for (const auto& each : all) {
            EXPECT_GE(each.first, last)
                << "work under token " << of << " was seen " << (last - each.first) / 1000
                << " us after the work under token " << each.token << " had begun";
            gap = std::max(gap, pawl::duration(each.first - last));
            if (each.last > last) of = each.token;
            last = std::max(last, each.last);
        }
        EXPECT_GT(all.size(), 10U);
        EXPECT_LE(gap, longer_than_ttl + longest_lease + grace) << "the lock did not move on";
        std::cout << all.size() << " commands, " << kills_ << " killed, " << stops_ << " stopped, "
                  << freezes_ << " times a frozen server, longest gap " << gap / 1ms << " ms\n";
    }

private:
    child next() {
        const shape& how = shapes[started_ % std::size(shapes)];
        std::vector<std::string> words;
        // Every second one finds no cgroup where it may write.
        if (++started_ % 2 == 0 && ::geteuid() == 0)
            words = {"unshare",
                     "--mount",
                     "sh",
                     "-c",
                     "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"",
                     "sh"};
        words.emplace_back(PAWL_COMMAND);
        const auto& request = requests[started_ % requests.size()];
        words.insert(words.end(), request.begin(), request.end());
        words.insert(words.end(), {"--ttl", ttl, "--", how.shell, "-c", how.script, "sh"});
        const auto worker = pawl::conformance::myself_as_helper({"work", folder_.path().string()});
        words.insert(words.end(), worker.words.begin(), worker.words.end());
        return child({.words = words,
                      .environment = {{"PAWL_URL", url_}},
                      .output_file = folder_.file("output"),
                      .folder = {}});
    }

    void replace_ended() {
        for (child& each : crowd_)
            if (!each.running()) each = next();
    }

    // The one below whom something works.
    [[nodiscard]] child* holder() {
        for (child& each : crowd_)
            if (cli::living_descendants(each.pid()).size() > 1) return &each;
        return nullptr;
    }

    [[nodiscard]] static pid_t keeper_of(const child& pawl) {
        for (const auto& each : cli::all_processes())
            if (each.parent == pawl.pid() && each.name == cli::keeper_name) return each.pid;
        return 0;
    }

    void strike(unsigned turn) {
        if (turn % 7 == 6 && server_ != nullptr) {
            server_->freeze();
            wait_for_end_of_ttl();
            server_->thaw();
            ++freezes_;
            return;
        }
        child* victim = holder();
        if (victim == nullptr) return;
        const pid_t keeper = keeper_of(*victim);
        if (keeper == 0) return;
        const bool of_keeper = turn % 2 == 1;
        if (turn % 7 < 4) {
            of_keeper ? void(::kill(keeper, SIGKILL)) : victim->kill9();
            ++kills_;
            return;
        }
        const pid_t stopped = of_keeper ? keeper : victim->pid();
        ::kill(stopped, SIGSTOP);
        wait_for_end_of_ttl();
        ::kill(stopped, SIGCONT);
        ++stops_;
    }

    void wait_for_end_of_ttl() {
        const auto until = boot_clock::now() + longer_than_ttl;
        while (boot_clock::now() < until)
            ::poll(nullptr, 0, 50);
    }

    [[nodiscard]] std::size_t workers() const {
        std::size_t count = 0;
        for (const auto& each : cli::all_processes()) {
            if (each.zombie || !cli::has_variable(each.pid, "PAWL_URL", url_)) continue;
            const auto words = cli::content_of("/proc/" + std::to_string(each.pid) + "/cmdline");
            if (words.find(folder_.path().string()) != std::string::npos) ++count;
        }
        return count;
    }

    std::string url_;
    support::redis_server* server_;
    support::temp_folder folder_;
    std::minstd_rand dice_{std::random_device{}()};
    std::vector<child> crowd_;
    unsigned started_ = 0;
    int kills_ = 0;
    int stops_ = 0;
    int freezes_ = 0;
};

TEST(CommandStorm, Redis) {
    support::redis_server server;
    command_storm storm(server.url(), &server);
    storm.rage_for(length_of_storm());
    storm.calm_down();
    storm.judge();
}

TEST(CommandStorm, Sqlite) {
    const support::temp_folder place;
    command_storm storm("sqlite:" + place.file("locks.db"), nullptr);
    storm.rage_for(length_of_storm());
    storm.calm_down();
    storm.judge();
}

}  // namespace
