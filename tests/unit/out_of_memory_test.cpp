// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Memory fails when a handle is dropped: no lock stays behind without a handle. Memory fails when a
// client is destroyed: its destructor returns.
#include "failing_memory.hpp"
#include "manual_time.hpp"

#include <pawl/blocking.hpp>
#include <pawl/client.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class OutOfMemory : public ::testing::Test {
protected:
    OutOfMemory() {
        client_options named;
        named.time = &time_;
        service lock_service = memory::at();
        locks_.emplace(loop_.get_executor(), lock_service, named);
        other_.emplace(loop_.get_executor(), lock_service, named);
    }
    ~OutOfMemory() override {
        locks_.reset();
        other_.reset();
        run();
    }

    void run() {
        loop_.restart();
        loop_.poll();
    }

    bool is_free() {
        bool free = false;
        other_->async_inspect("it", [&](const boost::system::error_code& ec, const lock_info& at) {
            free = !ec && !at.held_by;
        });
        run();
        return free;
    }

    asio::io_context loop_;
    manual_time time_;
    std::optional<client> locks_, other_;
};

// The handle cannot announce its end: the keeper sees it at the next renewal.
TEST_F(OutOfMemory, ADroppedHandleIsNoticedAtTheNextRenewal) {
    std::optional<held_lock> held;
    locks_->async_acquire(
        "it", {.ttl = 10s},
        [&](const boost::system::error_code&, held_lock lock) { held.emplace(std::move(lock)); });
    run();
    ASSERT_TRUE(held && held->owns_lock());
    {
        const failing_memory::no_memory_in_thread none;
        held.reset();
    }
    run();
    EXPECT_FALSE(is_free()) << "nothing has run since";
    time_.advance(5s);
    run();
    EXPECT_TRUE(is_free());
}

// Every allocation of the destructor fails once. The call just before it keeps the client's own
// thread from driving the event loop, so the test's thread drives it.
TEST(OutOfMemorySync, AClientIsDestroyed) {
    bool has_failed = true;
    for (long number = 0; has_failed; ++number) {
        auto locks = std::make_unique<blocking::client>(memory::at());
        const auto lock = locks->try_acquire("it");
        ASSERT_TRUE(lock);
        failing_memory::fail_once_at(number);
        locks.reset();
        has_failed = failing_memory::stop_failing();
    }
}

}  // namespace
}  // namespace pawl
