// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Interleavings with ShedLock's table in which the simulation found errors.
#include "services/shedlock/shedlock_server.hpp"
#include "world/single_client_process.hpp"

#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// A claims a lock for 10 s, but the network keeps the request back | A gives up, and undoes the
// claim for a ttl | 15 s later the network goes on: the request arrives, and A must still undo it.
TEST(ShedLockInterleavings, AClaimThatArrivesLateIsUndone) {
    scheduler loop;
    shedlock_server database(loop, prng(1), shedlock_bug::none);
    simulated_process process(loop, time_point(1h), 1.0);
    virtual_runtime time(process, prng(2));
    const auto named = client_options_for("A", time);
    const shedlock_table table{.others_use_database_time = true};
    std::optional<client> locks;
    locks.emplace(process.get_executor(), database.connect(process, table), named);
    held_lock held;
    boost::system::error_code failure;
    const auto acquire = [&] {
        process.post([&] {
            auto handler = [&](const boost::system::error_code& ec, held_lock lock) {
                failure = ec;
                held = std::move(lock);
            };
            locks->async_acquire(
                "it", {.ttl = 10s, .wait = 6s},
                boost::asio::bind_executor(process.get_executor(), std::move(handler)));
        });
    };
    acquire();
    loop.run_for(1s);
    ASSERT_TRUE(held);
    process.post([&] { held = {}; });
    loop.run_for(1s);

    database.cut_off(process);
    acquire();
    loop.run_for(15s);
    EXPECT_TRUE(failure);
    database.reconnect(process);
    loop.run_for(1ms);
    EXPECT_NE(database.held_row("it"), nullptr) << "the request has arrived";
    loop.run_for(4s);
    EXPECT_EQ(database.held_row("it"), nullptr);

    process.post([&] { locks.reset(); });
    loop.run_for(1min);
}

}  // namespace
}  // namespace pawl::simulation
