// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Six hosts with wrong clocks run one file, while some of them restart and some are stopped.
#include "fleet_host.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/tick_records.hpp>

#include <support/postgres_server.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;
using pawl::guard::tick_record;
using pawl::guard::tick_state;

// 20 ticks in CI, 200 in the long test.
std::size_t wanted_ticks() {
    const char* count = std::getenv("PAWL_FLEET_TICKS");
    return count == nullptr ? 20 : std::stoul(count);
}

class CronFleet : public ::testing::Test {
protected:
    CronFleet() {
        std::ofstream(file_) << "@every 1s  tick  overlap=wait,catch_up=all,late=10h  "
                             << "echo \"$PAWL_TICK\" >>" << log_ << '\n';
        // Half of the ticks are due before the hosts start, and half of them later.
        records_.make_schema();
        static_cast<void>(records_.look("tick"));
        database_->execute({"UPDATE pawl_tick SET settled = settled - " +
                            std::to_string(wanted_ticks() / 2) + " * 1000000"});
    }

    [[nodiscard]] std::map<std::string, int> runs() const { return count_lines(log_); }
    void wait_for_progress(std::chrono::nanoseconds limit) const {
        const auto before = runs().size();
        static_cast<void>(support::eventually([&] { return runs().size() > before; }, limit));
    }

    support::postgres_server server_;
    const test_sandbox sandbox_{server_.url()};
    const std::string file_ = sandbox_.file("schedules");
    const std::string log_ = sandbox_.file("log");
    const std::unique_ptr<pawl::guard::connection> database_ =
        pawl::guard::open_database(server_.url());
    pawl::guard::sql_tick_records records_{*database_};
};

// What must survive: a clock that is 3 s ahead or behind; a host that is stopped between its claim
// and the beginning, or while its command runs; a host that ends while it has a claim.
TEST_F(CronFleet, RunsEachTickExactlyOnce) {
    std::mt19937 random(7);
    const std::array<std::chrono::milliseconds, 6> ahead{-3000ms, -1500ms, 0ms,
                                                         700ms,   1800ms,  3000ms};
    std::vector<std::unique_ptr<fleet_host>> hosts;
    for (const auto each : ahead)
        hosts.push_back(std::make_unique<fleet_host>(sandbox_, words{"cron", file_}, each));
    const auto wanted = wanted_ticks();
    while (runs().size() < wanted) {
        auto& host = *hosts[random() % hosts.size()];
        if (random() % 3 == 0) {
            host.restart();
        } else {
            host.signal_all(SIGSTOP);
            wait_for_progress(std::chrono::milliseconds(random() % 800));
            host.signal_all(SIGCONT);
        }
        wait_for_progress(20s);
    }
    for (auto& each : hosts)
        each->stop();
    for (auto& each : hosts) {
        const auto result = each->wait();
        EXPECT_EQ(result.code, 0) << result.err;
    }
    const auto counts = runs();
    for (const auto& [key, count] : counts)
        EXPECT_EQ(count, 1) << key;
    auto all = records_.history("tick", 10'000);
    EXPECT_EQ(all.size(), counts.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].state, tick_state::done) << all[i].key << ' ' << all[i].reason;
        EXPECT_EQ(all[i].attempts, 1U) << all[i].key;
        EXPECT_EQ(all[i].missed, 0U) << all[i].key;
        EXPECT_GE(all[i].began, all[i].due) << "early by the clock of the database";
        EXPECT_EQ(all[i].due + (i * 1s), all.front().due) << "no tick is missing";
    }
}

}  // namespace
