// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The clock of the server is set while it runs. Tokens rise in any case. A step forward ends leases
// early, and their holders learn of it with the next renewal.
#include "postgres_fixture.hpp"

#include <support/moved_clock.hpp>

namespace {

using namespace chaos;

struct with_postgres_clock {
    support::moved_clock clock;
};

class PostgresClock : public testing::Test, with_postgres_clock, protected postgres_fixture {
protected:
    PostgresClock()
        : postgres_fixture(
              {.config = {}, .access = {}, .runs_on = {.environment = clock.environment()}}) {}

    // In s, compared with the clock of this program.
    [[nodiscard]] std::int64_t server_ahead() const {
        const auto here = std::chrono::system_clock::now().time_since_epoch();
        return number("SELECT floor(extract(epoch FROM clock_timestamp()))") - here / 1s;
    }
    using with_postgres_clock::clock;
};

//   A holds (6 s) | forward by a minute: the server has forgotten A | B has the lock, with a larger
//   token | A's next renewal is refused, and A is told
TEST_F(PostgresClock, AStepForwardEndsALeaseAndItsHolderIsTold) {
    client holder = direct_client(), other = direct_client();
    auto lock = holder.acquire("it", {.ttl = 6s, .wait = patience});
    const loss_recorder loss(lock);
    clock.step(1min);
    ASSERT_GT(server_ahead(), 50);
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_TRUE(loss.is_told_within(patience));
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds (3 s) | back by an hour | A's renewals count, and B waits | A releases: B has the lock,
//   with a larger token, and so have the next holders
TEST_F(PostgresClock, AStepBackCostsNoLockAndNoToken) {
    client holder = direct_client(), other = direct_client();
    auto lock = holder.acquire("it", {.ttl = 3s, .wait = patience});
    clock.step(-1h);
    ASSERT_LT(server_ahead(), -3000);
    const auto first = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > first + 3s; }));
    held_lock acquired;
    background_task waiter(
        [&] { acquired = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    auto next = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), acquired.token());
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
