// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A minute in which the server refuses to write, with 12 waiters in each of 4 processes: how many
// requests do they send, and what do they leave behind?
//
//   0      NOREPLICAS: every acquire of every waiter is refused
//   60 s   the server accepts: of each name's four waiters one holds, three are in the queue
//   …      the undo requests of the refused attempts come now; none may end a live lock
#include "process.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <conformance/process.hpp>
#include <pawl/types.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace storm = real::storm;
using pawl::boot_clock;
using pawl::conformance::child;

constexpr int processes = 4;
constexpr int names = 12;
constexpr int waiters = processes * names;

class refusing_server {
public:
    void accept() { configure("0"); }
    [[nodiscard]] std::string url() const { return server_.url(); }

    // Every script that arrived, executed or not.
    [[nodiscard]] long requests() {
        const auto stats = server_.execute({"INFO", "commandstats"}).text;
        long sum = 0;
        for (const auto* line : {"cmdstat_evalsha:calls=", "cmdstat_eval:calls="})
            if (const auto at = stats.find(line); at != stats.npos)
                sum += std::stol(stats.substr(at + std::string_view(line).size()));
        return sum;
    }
    // The owner of each held lock, by the number in its name.
    [[nodiscard]] std::map<int, std::string> holders() {
        std::map<int, std::string> owners;
        for (int i = 0; i < names; ++i) {
            const auto value =
                server_.execute({"GET", "pawl:{lock" + std::to_string(i) + "}"}).text;
            if (!value.empty()) owners[i] = value;
        }
        return owners;
    }

private:
    void configure(const std::string& replicas) {
        ASSERT_EQ(server_.execute({"CONFIG", "SET", "min-replicas-to-write", replicas}).text, "OK");
    }

    support::redis_server server_{{.config = {"min-replicas-to-write 1"}}};
};

TEST(Storm, OfRefusals) {
    refusing_server server;
    std::vector<child> children;
    for (int i = 0; i < processes; ++i)
        children.emplace_back(
            pawl::conformance::launch_as_helper({"refused", server.url(), std::to_string(names)}));
    ASSERT_TRUE(support::eventually([&] { return server.requests() >= waiters; }));
    const auto begin = boot_clock::now();
    std::vector<long> request_counts{server.requests()};
    while (boot_clock::now() < begin + storm::length_or(20s)) {
        std::this_thread::sleep_until(
            std::chrono::steady_clock::now() +
            std::min<pawl::duration>(1s, begin + storm::length_or(20s) - boot_clock::now()));
        request_counts.push_back(server.requests());
    }
    const auto rate = [&](std::size_t second) {
        return static_cast<double>(request_counts[second + 1] - request_counts[second]) / waiters;
    };
    for (std::size_t second = 0; second + 1 < request_counts.size(); ++second)
        EXPECT_LE(rate(second), second < 5 ? 20 : 3) << "of a waiter, in second " << second;
    EXPECT_TRUE(server.holders().empty());
    server.accept();
    ASSERT_TRUE(support::eventually([&] { return server.holders().size() == names; }));
    const auto holders = server.holders();
    // Remaining undo requests are sent now, and waiters refresh every second.
    const auto total_requests = server.requests();
    ASSERT_TRUE(support::eventually(
        [&] { return server.requests() >= total_requests + 4 * waiters; }, 30s));
    EXPECT_EQ(server.holders(), holders) << "a live lock was released";
    std::cout << waiters << " waiters, requests of each: " << rate(0) << " in the first second, "
              << rate(request_counts.size() - 2) << " in the last one; " << request_counts.back()
              << " in all\n";
    for (auto& each : children)
        each.close_input();
    for (auto& each : children)
        EXPECT_EQ(each.wait(30s), std::optional<int>(0));
}

}  // namespace
