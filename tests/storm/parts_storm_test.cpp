// Storms for the other ways to hold: the stripes of a lock, taken together, and a hold that passes
// from process to process by its value.
#include "journal.hpp"
#include "process.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>
#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include <poll.h>

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::conformance::child;

constexpr pawl::duration ttl = 1s;
constexpr pawl::duration longest_stop = 1800ms;
// One that holds may have been stopped, and the next one as well.
constexpr pawl::duration grace = 5s;

pawl::duration length_of_storm() {
    const char* told = std::getenv("PAWL_STORM_SECONDS");
    return std::chrono::seconds(told == nullptr ? 20 : std::atoi(told));
}

void expect_no_violation(const std::string& folder) {
    const auto told = storm::read_testimony(folder);
    for (const auto& each : support::check(told.history))
        ADD_FAILURE() << each.rule << ": " << each.what;
    EXPECT_GT(told.history.holds.size(), 10U);
    const auto gap = pawl::duration(support::longest_gap(told.history));
    EXPECT_LE(gap, ttl + longest_stop + grace) << "the lock did not move on";
    std::cout << told.history.holds.size() << " holds, " << told.late << " late, " << told.refused
              << " writes refused, longest gap " << gap / 1ms << " ms\n";
}

class part_storm {
public:
    part_storm(std::string url, std::string role) : url_(std::move(url)), role_(std::move(role)) {}

    [[nodiscard]] child next(const std::string& kind) {
        return child(pawl::conformance::myself_as_helper(
            {role_, url_, folder_.path().string(), kind + std::to_string(started_++)}));
    }

    // One of them is killed, or stopped for less or more than the ttl of 1 s.
    void strike(child& victim, const std::string& kind) {
        if (dice_() % 2 == 0) {
            victim.kill9();
            victim = next(kind);
        } else {
            victim.stop();
            pause(100, 1800);
            victim.proceed();
        }
    }
    void pause(int at_least, int at_most) {
        ::poll(nullptr, 0, std::uniform_int_distribution<int>(at_least, at_most)(dice_));
    }
    [[nodiscard]] std::size_t any_of(std::size_t count) { return dice_() % count; }
    [[nodiscard]] std::string folder() const { return folder_.path().string(); }

    void expect_nothing_left() const {
        pawl::blocking::client locks(pawl::from_url(url_));
        EXPECT_TRUE(support::eventually([&] { return locks.list("").empty(); }));
    }

private:
    std::string url_;
    std::string role_;
    support::temp_folder folder_;
    std::minstd_rand dice_{std::random_device{}()};
    int started_ = 0;
};

void stripes_in_storm(const std::string& url) {
    part_storm storm(url, "stripes");
    for (std::size_t i = 0; i < storm::stripes; ++i)
        std::filesystem::create_directory(storm::folder_of_stripe(storm.folder(), i));
    std::vector<child> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(storm.next("p"));
    const auto until = boot_clock::now() + length_of_storm();
    while (boot_clock::now() < until) {
        storm.pause(50, 700);
        storm.strike(crowd[storm.any_of(crowd.size())], "p");
    }
    for (child& each : crowd)
        each.close_input();
    for (child& each : crowd)
        EXPECT_EQ(each.wait(60s), std::optional<int>(0));
    for (std::size_t i = 0; i < storm::stripes; ++i)
        expect_no_violation(storm::folder_of_stripe(storm.folder(), i));
    storm.expect_nothing_left();
}

TEST(StripesStorm, Redis) {
    support::redis_server server;
    stripes_in_storm(server.url());
}
TEST(StripesStorm, Sqlite) {
    const support::temp_folder place;
    stripes_in_storm("sqlite:" + place.file("locks.db"));
}

// The next of the chain begins when the one before it is dead: it finds its value, and adopts
// within the lease or begins anew. Two others want the lock for themselves.
TEST(AdoptStorm, Redis) {
    support::redis_server server;
    part_storm storm(server.url() + "?key={name}", "adopt");
    child chain = storm.next("chain");
    std::vector<child> others;
    for (int i = 0; i < 2; ++i)
        others.push_back(storm.next("other"));
    const auto until = boot_clock::now() + length_of_storm();
    while (boot_clock::now() < until) {
        storm.pause(20, 1500);
        chain.kill9();
        storm.pause(0, 1500);  // also until its lease is over
        chain = storm.next("chain");
        if (storm.any_of(3) == 0) storm.strike(others[storm.any_of(2)], "other");
    }
    chain.kill9();
    for (child& each : others)
        each.kill9();
    expect_no_violation(storm.folder());
    EXPECT_TRUE(support::eventually([&] { return server.ask({"EXISTS", "it"}).number() == 0; }));
}

}  // namespace
