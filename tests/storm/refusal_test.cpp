// A minute in which the server refuses to write, with 12 waiters in each of 4 processes: how often
// do they ask, and what do they leave behind?
//
//   0      NOREPLICAS: every acquire of every waiter is refused
//   60 s   the server accepts: of each name's four waiters one holds, three stand in line
//   …      whatever the refused attempts left behind comes now; no live lock may go by it
#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>
#include <pawl/types.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::conformance::child;

constexpr int processes = 4;
constexpr int names = 12;
constexpr int waiters = processes * names;

// A minute, or PAWL_STORM_SECONDS.
pawl::duration length_of_refusal() {
    const char* told = std::getenv("PAWL_STORM_SECONDS");
    return std::chrono::seconds(told == nullptr ? 60 : std::atoi(told));
}

class refusing_server {
public:
    void accept() { configure("0"); }
    [[nodiscard]] std::string url() const { return server_.url(); }

    // Every script that came, carried out or not.
    [[nodiscard]] long requests() {
        const auto stats = server_.ask({"INFO", "commandstats"}).text;
        long sum = 0;
        for (const auto* line : {"cmdstat_evalsha:calls=", "cmdstat_eval:calls="})
            if (const auto at = stats.find(line); at != stats.npos)
                sum += std::stol(stats.substr(at + std::string_view(line).size()));
        return sum;
    }
    [[nodiscard]] std::map<int, std::string> holders() {
        std::map<int, std::string> found;
        for (int i = 0; i < names; ++i) {
            const auto value = server_.ask({"GET", "pawl:{lock" + std::to_string(i) + "}"}).text;
            if (!value.empty()) found[i] = value;
        }
        return found;
    }

private:
    void configure(const std::string& replicas) {
        ASSERT_EQ(server_.ask({"CONFIG", "SET", "min-replicas-to-write", replicas}).text, "OK");
    }

    support::redis_server server_{{.config = {"min-replicas-to-write 1"}}};
};

TEST(Storm, OfRefusals) {
    refusing_server server;
    std::vector<child> crowd;
    for (int i = 0; i < processes; ++i)
        crowd.emplace_back(
            pawl::conformance::myself_as_helper({"refused", server.url(), std::to_string(names)}));
    ASSERT_TRUE(support::eventually([&] { return server.requests() >= waiters; }));
    const auto begin = boot_clock::now();
    std::vector<long> seen{server.requests()};
    while (boot_clock::now() < begin + length_of_refusal()) {
        std::this_thread::sleep_until(
            std::chrono::steady_clock::now() +
            std::min<pawl::duration>(1s, begin + length_of_refusal() - boot_clock::now()));
        seen.push_back(server.requests());
    }
    const auto rate = [&](std::size_t second) {
        return static_cast<double>(seen[second + 1] - seen[second]) / waiters;
    };
    for (std::size_t second = 0; second + 1 < seen.size(); ++second)
        EXPECT_LE(rate(second), second < 5 ? 20 : 3) << "of a waiter, in second " << second;
    EXPECT_TRUE(server.holders().empty());
    server.accept();
    ASSERT_TRUE(support::eventually([&] { return server.holders().size() == names; }));
    const auto holders = server.holders();
    // Whatever is still to be undone is undone now, and looks of those who wait come every second.
    const auto asked = server.requests();
    ASSERT_TRUE(support::eventually([&] { return server.requests() >= asked + 4 * waiters; }, 30s));
    EXPECT_EQ(server.holders(), holders) << "a live lock was given away";
    std::cout << waiters << " waiters, requests of each: " << rate(0) << " in the first second, "
              << rate(seen.size() - 2) << " in the last one; " << seen.back() << " in all\n";
    for (auto& each : crowd)
        each.close_input();
    for (auto& each : crowd)
        EXPECT_EQ(each.wait(30s), std::optional<int>(0));
}

}  // namespace
