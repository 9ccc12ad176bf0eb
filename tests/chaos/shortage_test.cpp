// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program that runs out of threads before its client has connected: it gets an error, and the
// client works as soon as threads are available again.
#include <support/child.hpp>
#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/redis.hpp>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using pawl::blocking::client;

class Shortage : public testing::Test {
protected:
    // "held", or the error.
    static std::string try_to_acquire(client& locks) {
        try {
            return locks.try_acquire("it", {.ttl = 60s}).owns_lock() ? "held" : "somebody else's";
        } catch (const pawl::error& failed) {
            return failed.reason() == pawl::errc::exhausted ? "exhausted" : failed.what();
        }
    }

    support::redis_server server;
};

// Resolving a name needs a thread of its own.
//   no thread can be started | A's first request: an error, twice | threads can be started | A's
//   request: served by the same client
TEST_F(Shortage, OfThreadsAtTheFirstConnectionIsSaidAndPasses) {
    const auto result = support::run_in_child([this] {
        client locks(pawl::redis::at("redis://localhost:" + std::to_string(server.port())));
        support::forbid_threads();
        auto outcome = try_to_acquire(locks) + ", " + try_to_acquire(locks);
        support::allow_threads();
        const bool served = support::eventually([&] { return try_to_acquire(locks) == "held"; });
        return outcome + (served ? ", then held" : ", then " + try_to_acquire(locks));
    });
    EXPECT_EQ(result, "exhausted, exhausted, then held");
}

// A numeric address needs no thread.
TEST_F(Shortage, OfThreadsDoesNotTouchANumericAddress) {
    const auto result = support::run_in_child([this] {
        client locks(pawl::redis::at(server.url()));
        support::forbid_threads();
        return try_to_acquire(locks);
    });
    EXPECT_EQ(result, "held");
}

}  // namespace
