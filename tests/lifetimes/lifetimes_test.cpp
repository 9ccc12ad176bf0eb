// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs that end their event loop, clients and handles in any order, with requests under way,
// while servers freeze and die. A program that crashes, or that leaves something behind, fails.
// PAWL_LIFETIMES=N runs N programs on each service, PAWL_LIFETIME_SEED=N only the one with that
// seed.
#include "service_test.hpp"

#include <cstdlib>
#include <iostream>

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Lifetimes : public lifetimes::service_test {
protected:
    // `loop_threads` as for a program.
    void run_program(std::uint64_t seed, std::size_t loop_threads) {
        std::clog << "seed " << seed << std::endl;  // a crash ends the test
        lifetimes::program program(
            tested_->service(), [this](auto& random) { tested_->disturb(random); }, seed,
            loop_threads);
        program.act(20);
        program.end();
        EXPECT_TRUE(program.left_nothing()) << "seed " << seed;
        tested_->repair();
    }
    void run_programs(std::size_t loop_threads) {
        const auto single_seed = number_of("PAWL_LIFETIME_SEED", 0);
        if (single_seed > 0) return run_program(single_seed, loop_threads);
        for (std::uint64_t seed = 1; seed <= number_of("PAWL_LIFETIMES", 30); ++seed)
            run_program(seed, loop_threads);
    }
};

TEST_P(Lifetimes, EndInAnyOrder) { run_programs(0); }

TEST_P(Lifetimes, EndInAnyOrderAfterThreadsRanTheLoop) { run_programs(2); }

// Of an acquire, and of a second one that waits for the lock, after each number of handlers.
TEST_P(Lifetimes, TheLoopMayEndDuringAnAcquire) {
    for (std::size_t handlers = 0; handlers < 60; ++handlers) {
        boost::asio::io_context loop;
        pawl::client locks(loop.get_executor(), tested_->service());
        for (const auto* name : {"it", "it", "other"})
            locks.async_acquire(name, {.ttl = std::chrono::seconds(10)},
                                [](boost::system::error_code, const pawl::held_lock&) {});
        for (std::size_t i = 0; i < handlers; ++i)
            loop.run_one_for(std::chrono::milliseconds(1));
    }
}

INSTANTIATE_TEST_SUITE_P(On, Lifetimes, testing::ValuesIn(lifetimes::all_service_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
