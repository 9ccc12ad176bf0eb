// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Storms for the other ways to hold: the stripes of a lock, acquired together, and a hold that
// passes from process to process by its value.
#include "process.hpp"

#include <real/record/checker.hpp>

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>
#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include <poll.h>

namespace {

using namespace std::chrono_literals;
using namespace real;
using pawl::boot_clock;
using pawl::conformance::child;

constexpr pawl::duration ttl_of_parts = 1s;
constexpr pawl::duration longest_stop = 1800ms;
// One holder may have been stopped, and the next one as well.
constexpr pawl::duration grace_of_parts = 5s;

class part_storm {
public:
    part_storm(std::string url, std::string role, std::size_t locks)
        : url_(std::move(url)), role_(std::move(role)), locks_(locks) {}

    [[nodiscard]] child start_process(const std::string& kind) {
        return child(pawl::conformance::launch_as_helper(
            {role_, url_, folder(), std::to_string(started_++), kind}));
    }

    // Kills and replaces the process, or stops it for less or more than the ttl of 1 s.
    void disturb(child& victim, const std::string& kind) {
        if (dice_() % 2 == 0) {
            victim.kill_and_reap();
            victim = start_process(kind);
        } else {
            victim.stop();
            if (!is_in_an_access()) pause(100, 1800);
            victim.resume();
        }
    }
    void pause(int at_least, int at_most) {
        ::poll(nullptr, 0, std::uniform_int_distribution<int>(at_least, at_most)(dice_));
    }
    [[nodiscard]] std::size_t random_index(std::size_t count) { return dice_() % count; }

    void expect_no_violation() const {
        const auto records = read_records(folder(), started_, locks_);
        const auto outcome = check(records);
        EXPECT_EQ(outcome.violations(), 0U);
        for (const auto& each : outcome.details)
            ADD_FAILURE() << each;
        for (const auto& each : records.locks) {
            EXPECT_GT(each.holds.size(), 10U);
            const auto gap = pawl::duration(longest_gap(each));
            EXPECT_LE(gap, ttl_of_parts + longest_stop + grace_of_parts)
                << "the lock did not move on";
            std::cout << each.holds.size() << " holds, longest gap " << gap / 1ms << " ms\n";
        }
        std::cout << outcome.told << " told of their loss, " << outcome.refused << " refused, "
                  << records.errors.size() << " errors\n";
    }

    void expect_nothing_left() const {
        pawl::blocking::client locks(pawl::from_url(url_));
        EXPECT_TRUE(support::eventually([&] { return locks.list("").empty(); }));
    }

private:
    [[nodiscard]] std::string folder() const { return folder_.path().string(); }

    // Others would wait for it; their own accesses end in the meantime.
    [[nodiscard]] bool is_in_an_access() const {
        for (std::size_t i = 0; i < locks_; ++i)
            if (!support::eventually([&] { return !resource::is_busy(resource_path(folder(), i)); },
                                     20ms))
                return true;
        return false;
    }

    std::string url_;
    std::string role_;
    const std::size_t locks_;
    support::temp_folder folder_;
    std::minstd_rand dice_{std::random_device{}()};
    std::size_t started_ = 0;
};

void stripes_in_storm(const std::string& url) {
    part_storm storm(url, "stripes", storm::stripes);
    std::vector<child> children;
    for (int i = 0; i < 5; ++i)
        children.push_back(storm.start_process("p"));
    const auto until = boot_clock::now() + storm::length_or(20s);
    while (boot_clock::now() < until) {
        storm.pause(50, 700);
        storm.disturb(children[storm.random_index(children.size())], "p");
    }
    for (child& each : children)
        each.close_input();
    for (child& each : children)
        EXPECT_EQ(each.wait(60s), std::optional<int>(0));
    storm.expect_no_violation();
    storm.expect_nothing_left();
}

TEST(StripesStorm, Redis) {
    support::redis_server server;
    stripes_in_storm(server.url());
}
TEST(StripesStorm, Sqlite) {
    const support::temp_folder folder;
    stripes_in_storm("sqlite:" + folder.file("locks.db"));
}

// The next process of the chain starts when the one before it is dead: it finds the value, and
// adopts within the lease or acquires anew. Two others want the lock for themselves.
TEST(AdoptStorm, Redis) {
    support::redis_server server;
    part_storm storm(server.url() + "?key={name}", "adopt", 1);
    child chain = storm.start_process("chain");
    std::vector<child> others;
    for (int i = 0; i < 2; ++i)
        others.push_back(storm.start_process("other"));
    const auto until = boot_clock::now() + storm::length_or(20s);
    while (boot_clock::now() < until) {
        storm.pause(20, 1500);
        chain.kill_and_reap();
        storm.pause(0, 1500);  // sometimes until the lease of the dead process is over
        chain = storm.start_process("chain");
        if (storm.random_index(3) == 0) storm.disturb(others[storm.random_index(2)], "other");
    }
    chain.kill_and_reap();
    for (child& each : others)
        each.kill_and_reap();
    storm.expect_no_violation();
    EXPECT_TRUE(support::eventually([&] {
        return server.execute({"EXISTS", "it"}).number() == 0;
    }));
}

}  // namespace
