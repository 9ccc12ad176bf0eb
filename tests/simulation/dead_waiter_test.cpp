// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A dead or frozen waiter delays the next waiter by at most two seconds of virtual time.
#include "world/simulated_program.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

enum class waiter_failure : std::uint8_t { killed, stopped, cut_off };

// The requests of the holder, the first waiter and the next waiter.
struct queue_case {
    const char* name;
    lock_options holder, first, next;
    // What the holder does after the first waiter failed.
    enum class action : std::uint8_t { none, release, downgrade } then;
};

constexpr lock_options fair{.ttl = 3s, .fair = true};
constexpr lock_options brief_read{.ttl = 3s, .mode = lock_mode::shared};
constexpr lock_options brief_write{.ttl = 3s};

constexpr lock_options permits_of(std::uint32_t permits) {
    return {.ttl = 3s, .mode = lock_mode::permits, .permits = permits, .total_permits = 3};
}

const queue_case queue_cases[] = {
    {"fair", fair, fair, fair, queue_case::action::release},
    {"writer_before_reader", brief_read, brief_write, brief_read, queue_case::action::none},
    {"writer_before_writer", brief_read, brief_write, brief_write, queue_case::action::release},
    {"many_permits_before_one", permits_of(2), permits_of(3), permits_of(1),
     queue_case::action::none},
    // The first waiter had a long lease, since it delayed nobody behind an exclusive holder.
    {"writer_before_reader_of_a_downgrade", brief_write, brief_write, brief_read,
     queue_case::action::downgrade},
};

class queue_scenario {
public:
    explicit queue_scenario(std::uint64_t seed)
        : random_(seed),
          network_(loop_, random_.fork(), network_faults{}),
          holder_(loop_, network_, options_, random_.fork()),
          first_(loop_, network_, options_, random_.fork()),
          next_(loop_, network_, options_, random_.fork()) {}

    ~queue_scenario() {
        network_.reconnect(first_.process);
        for (auto* each : {&holder_, &first_, &next_})
            each->close();
        loop_.run_for(10s);
    }
    queue_scenario(const queue_scenario&) = delete;
    queue_scenario& operator=(const queue_scenario&) = delete;

    // Returns how long the next waiter waits after the failure of the first.
    instant play(const queue_case& test_case, waiter_failure failure) {
        holder_.acquire(test_case.holder);
        loop_.run_for(100ms);
        EXPECT_TRUE(holder_.held.owns_lock());
        first_.acquire(test_case.first);
        loop_.run_for(10ms);
        const bool asks_before_failure = random_.happens(0.5);
        if (asks_before_failure) next_.acquire(test_case.next);
        loop_.run_for(random_.between(0ns, instant(4s)));
        fail_first_waiter(failure);
        const auto failed_at = loop_.now();
        if (!asks_before_failure) next_.acquire(test_case.next);
        if (test_case.then != queue_case::action::none) loop_.run_for(10ms);
        if (test_case.then == queue_case::action::release) holder_.release();
        if (test_case.then == queue_case::action::downgrade) downgrade();
        while (!next_.held.owns_lock() && loop_.now() < failed_at + 10s)
            loop_.run_for(5ms);
        EXPECT_FALSE(first_.held.owns_lock());
        return loop_.now() - failed_at;
    }

private:
    void downgrade() {
        holder_.process.post([this] {
            holder_.held.async_downgrade(holder_.run_in_process(
                [](const boost::system::error_code& ec) { EXPECT_FALSE(ec) << ec.message(); }));
        });
    }
    void fail_first_waiter(waiter_failure failure) {
        if (failure == waiter_failure::cut_off) return network_.cut_off(first_.process);
        first_.process.pause();
        if (failure == waiter_failure::killed) network_.ban(first_.process);
    }

    scheduler loop_;
    prng random_;
    simulated_network network_;
    const redis::options options_;
    single_user holder_, first_, next_;
};

class DeadWaiter : public testing::TestWithParam<queue_case> {};

// The holder keeps the lock. The first waiter, which cannot share it, fails at any time between two
// of its refreshes. Its place must expire and the next waiter must notice, although nothing else
// occurs at the server. Or the holder releases the lock, and the failed waiter never confirms it.
// Or the holder downgrades, and the failed waiter's long lease is shortened.
TEST_P(DeadWaiter, DelaysTheNextByTwoSecondsAtMost) {
    for (const auto failure :
         {waiter_failure::killed, waiter_failure::stopped, waiter_failure::cut_off}) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            SCOPED_TRACE(std::to_string(seed) + ", death " +
                         std::to_string(static_cast<int>(failure)));
            const auto waited = queue_scenario(seed).play(GetParam(), failure);
            EXPECT_LE(std::chrono::duration_cast<std::chrono::milliseconds>(waited), 2000ms);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Line, DeadWaiter, testing::ValuesIn(queue_cases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace pawl::simulation
