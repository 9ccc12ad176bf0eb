// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Interleavings with ShedLock's table in which the simulation found errors.
#include "services/shedlock/shedlock_server.hpp"
#include "world/simulated_program.hpp"

#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// A claims a lock for 10 s, but the network keeps the request back | A gives up, and undoes the
// claim for a ttl | 15 s later the network goes on: the request arrives, and A must still undo it.
TEST(ShedLockInterleavings, AClaimThatArrivesLateIsUndone) {
    scheduler loop;
    shedlock_server database(loop, prng(1), shedlock_bug::none);
    simulated_program program(loop, "A", prng(2));
    auto& process = program.process;
    const shedlock_table table{.others_use_database_time = true};
    program.connect(database.connect(process, table));
    held_lock held;
    boost::system::error_code failure;
    const auto acquire = [&] {
        process.post([&] {
            auto handler = [&](const boost::system::error_code& ec, held_lock lock) {
                failure = ec;
                held = std::move(lock);
            };
            program.locks->async_acquire("it", {.ttl = 10s, .wait = 6s},
                                         program.run_in_process(std::move(handler)));
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

    process.post([&] { program.locks.reset(); });
    loop.run_for(1min);
}

}  // namespace
}  // namespace pawl::simulation
