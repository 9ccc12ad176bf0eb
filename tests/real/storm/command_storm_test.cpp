// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Many `pawl run` and `pawl elect`, some with several locks, want one lock; their commands leave
// their process group as ordinary scripts do. Again and again, the supervisor or the lock process
// of the holder is killed, or stopped for longer than the ttl, or the server stands still.
//
//   0.0  A's script runs a worker below `timeout`; token 7
//   0.1  A's supervisor is killed, and its script with it: the worker belongs to init now
//   0.1  the lock process kills the worker by its cgroup and releases the lock; or, without a
//        cgroup, by the name of the run in its environment, and lets the lease expire
//   4.1  B's worker begins, token 9. No moment of A's work may be later than this.
//
// Not among the faults: both processes killed at once, or the worker itself stopped. Then only the
// token protects.
#include "process.hpp"

#include <run/descendants.hpp>
#include <run/process_names.hpp>

#include <support/eventually.hpp>
#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <conformance/process.hpp>
#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <random>

#include <poll.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
namespace storm = real::storm;
using pawl::boot_clock;
using pawl::conformance::child;
namespace cli = pawl::cli;

constexpr std::size_t runners = 6;
constexpr const char* ttl_argument = "4s";
constexpr auto longer_than_ttl = 4500ms;
constexpr auto longest_lease = 4s;
constexpr std::size_t enough_work = 10;
constexpr auto longest_start = 6s;  // for a second fault before the next command has begun

struct command_shape {
    const char* shell;
    const char* script;
};
constexpr command_shape command_shapes[]{{"sh", "timeout 100 \"$@\"; true"},
                                         {"sh", "setsid \"$@\" & wait"},
                                         {"bash", "set -m; \"$@\" & wait"},
                                         {"sh", "timeout 100 setsid \"$@\" & wait"},
                                         {"sh", "\"$@\"; true"}};

// All of them have "x".
const std::vector<std::vector<std::string>> requests{
    {"run", "x"}, {"elect", "x"}, {"run", "x", "--also", "y"}, {"run", "y", "--also", "x"}};

class command_storm {
public:
    // `server` may be null: then no fault is a frozen server.
    command_storm(std::string url, support::redis_server* server)
        : url_(std::move(url)), server_(server) {
        for (std::size_t i = 0; i < runners; ++i)
            members_.push_back(start_command());
    }

    // Goes on until enough commands have worked, on a busy machine up to a minute longer.
    void run_for(pawl::duration length) {
        const auto until = boot_clock::now() + length;
        const auto is_over = [&] {
            const auto now = boot_clock::now();
            return now >= until + 60s || (now >= until && worked() > enough_work);
        };
        for (unsigned turn = 0; !is_over() && !testing::Test::HasFailure(); ++turn) {
            for (int i = std::uniform_int_distribution<int>(1, 20)(dice_); i > 0; --i) {
                ::poll(nullptr, 0, 50);  // between two faults
                replace_ended();
            }
            disturb(turn);
        }
    }

    // Every command gets the lock once more and ends. Nothing is left: no worker, no lock, no
    // queue.
    void finish() {
        for (child& each : members_)
            EXPECT_TRUE(each.wait(60s)) << "a pawl process does not end";
        EXPECT_TRUE(support::eventually([&] { return worker_count() == 0; }, 30s));
        pawl::blocking::client locks(pawl::from_url(url_));
        EXPECT_TRUE(support::eventually([&] { return locks.list("").empty(); }, 30s));
    }

    void check_history() const {
        const auto all = storm::read_work(folder_.path().string());
        std::int64_t last = all.empty() ? 0 : all.front().first;
        std::uint64_t token = 0;
        pawl::duration gap{};
        for (const auto& each : all) {
            EXPECT_GE(each.first, last)
                << "work under token " << token << " was seen " << (last - each.first) / 1000
                << " us after the work under token " << each.token << " had begun";
            gap = std::max(gap, pawl::duration(each.first - last));
            if (each.last > last) token = each.token;
            last = std::max(last, each.last);
        }
        EXPECT_GT(all.size(), enough_work);
        EXPECT_LE(gap, longer_than_ttl + longest_lease + longest_start)
            << "the lock did not move on";
        std::cout << all.size() << " commands, " << kills_ << " killed, " << stops_ << " stopped, "
                  << freezes_ << " times a frozen server, longest gap " << gap / 1ms << " ms\n";
    }

private:
    [[nodiscard]] std::size_t worked() const {
        return storm::read_work(folder_.path().string()).size();
    }

    child start_command() {
        const command_shape& launch_shape = command_shapes[started_ % std::size(command_shapes)];
        std::vector<std::string> words;
        // Every second command has no writable cgroup.
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
        words.insert(words.end(), {"--ttl", ttl_argument, "--", launch_shape.shell, "-c",
                                   launch_shape.script, "sh"});
        const auto worker = pawl::conformance::launch_as_helper({"work", folder_.path().string()});
        words.insert(words.end(), worker.arguments.begin(), worker.arguments.end());
        return child({.arguments = words,
                      .environment = {{"PAWL_URL", url_}},
                      .output_file = folder_.file("output"),
                      .folder = {}});
    }

    void replace_ended() {
        for (child& each : members_)
            if (!each.is_running()) each = start_command();
    }

    // The `pawl` whose command runs: it has more descendants than its lock process.
    [[nodiscard]] child* holder() {
        for (child& each : members_)
            if (cli::living_descendants(each.pid()).size() > 1) return &each;
        return nullptr;
    }

    [[nodiscard]] static pid_t lock_process_of(const child& pawl) {
        for (const auto& each : cli::all_processes())
            if (each.parent == pawl.pid() && each.name == cli::lock_process_name) return each.pid;
        return 0;
    }

    void disturb(unsigned turn) {
        if (turn % 7 == 6 && server_ != nullptr) {
            server_->freeze();
            wait_for_end_of_ttl();
            server_->thaw();
            ++freezes_;
            return;
        }
        child* victim = holder();
        if (victim == nullptr) return;
        const pid_t lock_process = lock_process_of(*victim);
        if (lock_process == 0) return;
        const bool hits_lock_process = turn % 2 == 1;
        if (turn % 7 < 4) {
            hits_lock_process ? void(::kill(lock_process, SIGKILL)) : victim->kill_and_reap();
            ++kills_;
            return;
        }
        const pid_t stopped = hits_lock_process ? lock_process : victim->pid();
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

    [[nodiscard]] std::size_t worker_count() const {
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
    std::vector<child> members_;
    unsigned started_ = 0;
    int kills_ = 0;
    int stops_ = 0;
    int freezes_ = 0;
};

TEST(CommandStorm, Redis) {
    support::redis_server server;
    command_storm storm(server.url(), &server);
    storm.run_for(storm::length_or(20s));
    storm.finish();
    storm.check_history();
}

TEST(CommandStorm, Sqlite) {
    const support::temp_folder folder;
    command_storm storm("sqlite:" + folder.file("locks.db"), nullptr);
    storm.run_for(storm::length_or(20s));
    storm.finish();
    storm.check_history();
}

}  // namespace
