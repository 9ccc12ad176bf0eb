// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Handles that hold nothing.
#include <pawl/blocking.hpp>
#include <pawl/blocking/mutex.hpp>
#include <pawl/client.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// As the standard's lock types do, and with a message.
void expect_refused(const std::function<void()>& query) {
    try {
        query();
        ADD_FAILURE() << "an empty handle accepted the call";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), std::errc::operation_not_permitted);
        EXPECT_EQ(refused.reason(), errc::not_held);
        EXPECT_NE(std::string(refused.what()).find("handle is empty"), std::string::npos);
    }
}

template <class Handle>
void expect_empty(Handle& empty) {
    EXPECT_FALSE(empty);
    EXPECT_FALSE(empty.owns_lock());
    expect_refused([&] { (void)empty.state(); });
    expect_refused([&] { (void)empty.why_lost(); });
    expect_refused([&] { (void)empty.safe_until(); });
    expect_refused([&] { (void)empty.lost(); });
}

template <class Handle>
void expect_empty_lock(Handle& empty) {
    expect_empty(empty);
    expect_refused([&] { (void)empty.name(); });
    expect_refused([&] { (void)empty.token(); });
}

TEST(EmptyHandle, OfThreads) {
    blocking::held_lock none;
    expect_empty_lock(none);
    expect_refused([&] { (void)none.release(); });
    expect_refused([&] { none.renew(); });
    expect_refused([&] { none.downgrade(); });
    blocking::held_locks no_set;
    expect_empty(no_set);
    expect_refused([&] { (void)no_set.release(); });
    expect_refused([&] { no_set.renew(); });
    EXPECT_EQ(no_set.token("it"), fencing_token());
}

TEST(EmptyHandle, MovedFromAndOfATryThatFoundItTaken) {
    blocking::client locks(memory::at());
    auto first = locks.acquire("it", {.ttl = 60s});
    auto second = std::move(first);
    expect_empty_lock(first);  // NOLINT: the state after the move is under test
    auto busy = locks.try_acquire("it");
    expect_empty_lock(busy);
    EXPECT_TRUE(second.owns_lock());
    (void)second.release();
    EXPECT_FALSE(second.owns_lock());
    blocking::mutex gate(locks, "gate");
    EXPECT_FALSE(gate.handle().owns_lock());
}

TEST(EmptyHandle, OfAnEventLoop) {
    held_lock none;
    expect_empty_lock(none);
    expect_refused([&] { none.async_release(asio::detached); });
    expect_refused([&] { none.async_renew(asio::detached); });
    expect_refused([&] { none.async_downgrade(asio::detached); });
    expect_refused([&] { none.async_wait_lost(asio::detached); });
    held_locks no_set;
    expect_empty(no_set);
    expect_refused([&] { no_set.async_release(asio::detached); });
    expect_refused([&] { no_set.async_renew(asio::detached); });
}

// 1. The wait is queued on the client's strand. 2. The caller cancels it. 3. The loop runs.
TEST(WaitLost, CanBeCancelledBeforeItBegins) {
    asio::io_context loop;
    client locks(loop.get_executor(), memory::at());
    held_lock lock;
    locks.async_acquire("it", {.ttl = 60s}, [&](boost::system::error_code, held_lock acquired) {
        lock = std::move(acquired);
    });
    while (!lock)
        loop.run_one();
    asio::cancellation_signal cancel;
    std::optional<boost::system::error_code> ended;
    lock.async_wait_lost(asio::bind_cancellation_slot(
        cancel.slot(), [&](boost::system::error_code ec, loss_reason) { ended = ec; }));
    cancel.emit(asio::cancellation_type::terminal);
    loop.run_for(200ms);
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(*ended, asio::error::operation_aborted);
}

TEST(LockOwner, SaysThatItsClientIsClosed) {
    std::optional<blocking::client> locks(std::in_place, memory::at());
    blocking::lock_owner owner(*locks);
    locks.reset();
    try {
        (void)owner.try_acquire("it", {.ttl = 60s});
        ADD_FAILURE() << "a closed client acquired a lock";
    } catch (const error& refused) {
        EXPECT_EQ(refused.reason(), errc::cancelled);
        EXPECT_NE(std::string(refused.what()).find("client is closed"), std::string::npos)
            << refused.what();
    }
}

}  // namespace
}  // namespace pawl
