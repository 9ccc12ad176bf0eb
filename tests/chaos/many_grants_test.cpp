// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One release that admits thousands of readers, or of waiters for permits.
#include "redis_fixture.hpp"

#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace {

using namespace chaos;
namespace asio = boost::asio;

class ManyGrants : public testing::Test, protected redis_fixture {
protected:
    static constexpr std::size_t count = 4000;

    ManyGrants() {
        for (auto& each : locks)
            each =
                std::make_unique<pawl::client>(loop.get_executor(), pawl::from_url(server.url()));
    }
    template <class Condition>
    bool run_until(Condition reached) {
        const auto end = boot_clock::now() + 4 * patience;
        while (!reached() && boot_clock::now() < end)
            loop.run_one_for(10ms);
        return reached();
    }
    // Queues the waiters, as many in each client. The reply to the last one says that all are.
    void add_waiters(const pawl::lock_options& options) {
        holds.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            locks[i % locks.size()]->async_acquire(
                "it", options, [this](boost::system::error_code ec, pawl::held_lock lock) {
                    if (ec)
                        ++failures;
                    else
                        holds.push_back(std::move(lock));
                });
        ASSERT_TRUE(run_until([&] { return waiting() == static_cast<std::int64_t>(count); }));
    }
    std::int64_t waiting() { return server.execute({"ZCARD", "pawl:{it}:q"}).number(); }
    // All waiters are granted the lock, and keep it: after the claim windows each was renewed.
    void expect_all_granted() {
        EXPECT_TRUE(run_until([&] { return holds.size() + failures == count; }));
        EXPECT_EQ(failures, 0U);
        const auto renewals = [&] {
            std::uint64_t sum = 0;
            for (const auto& each : locks)
                sum += each->statistics().renewals;
            return sum;
        };
        const auto is_confirmed = [](const pawl::held_lock& each) {
            return each.state() != lock_state::held || each.safe_until() > boot_clock::now() + 10s;
        };
        EXPECT_TRUE(run_until([&] { return std::ranges::all_of(holds, is_confirmed); }));
        const auto is_lost = [](const pawl::held_lock& each) {
            return each.state() == lock_state::lost;
        };
        EXPECT_EQ(std::ranges::count_if(holds, is_lost), 0);
        // In batches, and not one request for each.
        EXPECT_LT(renewals(), count / 4);
        EXPECT_EQ(server.execute({"ZCARD", "pawl:{it}:h"}).number(),
                  static_cast<std::int64_t>(count));
    }

    asio::io_context loop;
    std::array<std::unique_ptr<pawl::client>, 2> locks;
    std::vector<pawl::held_lock> holds;
    std::size_t failures = 0;
};

// W holds, thousands of readers wait | W releases: 256 readers are admitted, and the next one is
// told to refresh | its refresh admits 256 more, and so on | each client reads thousands of
// messages before the reply to its first renewals: only a longer claim window keeps the grants
// until then
TEST_F(ManyGrants, ToReadersAreAllConfirmed) {
    client writers = direct_client();
    auto writer = writers.acquire("it", {.ttl = long_ttl});
    add_waiters({.ttl = long_ttl, .mode = pawl::lock_mode::shared});
    EXPECT_EQ(writer.release(), release_result::released);
    expect_all_granted();
}

TEST_F(ManyGrants, ToWaitersForPermitsAreAllConfirmed) {
    client others = direct_client();
    auto all = others.acquire("it", {.ttl = long_ttl,
                                     .mode = pawl::lock_mode::permits,
                                     .permits = count,
                                     .total_permits = count});
    add_waiters({.ttl = long_ttl, .mode = pawl::lock_mode::permits, .total_permits = count});
    EXPECT_EQ(all.release(), release_result::released);
    expect_all_granted();
}

}  // namespace
