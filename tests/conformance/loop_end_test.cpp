// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The end of an event loop, or of a client, while operations or handles are left.
#include "async_fixture.hpp"

#include <pawl/election.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

class LoopEnd : public testing::TestWithParam<tested::service_under_test> {
protected:
    // The options refer to `engine_mark`; the client's engine keeps a copy of them.
    pawl::client_options options() {
        pawl::client_options options_made;
        options_made.log = [alive = engine_mark](std::string_view) {};
        return options_made;
    }
    void drop_marks() {
        engine = engine_mark;
        caller = caller_mark;
        engine_mark.reset();
        caller_mark.reset();
    }

    pawl::service tested_service = GetParam().make_service();
    std::shared_ptr<int> engine_mark = std::make_shared<int>(0);
    std::shared_ptr<int> caller_mark = std::make_shared<int>(0);
    std::weak_ptr<int> engine, caller;
};

// Declared before the event loop, as members or locals often are: it is destroyed after the loop,
// and may be emitted in between.
TEST_P(LoopEnd, ASignalMayOutliveIt) {
    asio::cancellation_signal acquires, waits_lost, waits_change;
    {
        asio::io_context loop;
        const auto named = options();
        pawl::client holder(loop.get_executor(), tested_service, named);
        pawl::client locks(loop.get_executor(), tested_service, named);
        std::optional<pawl::held_lock> own_lock;
        holder.async_acquire("it", {.ttl = 60s}, [&](error_code, pawl::held_lock received) {
            own_lock.emplace(std::move(received));
            own_lock->async_wait_lost(asio::bind_cancellation_slot(
                waits_lost.slot(), [mark = caller_mark](error_code, pawl::loss_reason) {}));
            locks.async_acquire(
                "it", {.ttl = 60s},
                asio::bind_cancellation_slot(
                    acquires.slot(), [mark = caller_mark](error_code, const pawl::held_lock&) {}));
            locks.async_wait_change(
                "it", own_lock->token(), 10s,
                asio::bind_cancellation_slot(
                    waits_change.slot(),
                    [mark = caller_mark](error_code, const pawl::lock_info&) {}));
        });
        while (!own_lock)
            loop.run_one();
        loop.poll();
        drop_marks();
    }
    EXPECT_TRUE(caller.expired()) << "a handler of the caller is still there";
    EXPECT_TRUE(engine.expired()) << "the signal keeps what belongs to the event loop";
    acquires.emit(asio::cancellation_type::terminal);
    waits_lost.emit(asio::cancellation_type::terminal);
    waits_change.emit(asio::cancellation_type::terminal);
}

// The operation is over, the client is gone, and the signal is emitted again.
TEST_P(LoopEnd, ASignalMayOutliveItsOperation) {
    asio::cancellation_signal signal;
    asio::io_context loop;
    {
        const auto named = options();
        pawl::client locks(loop.get_executor(), tested_service, named);
        locks.async_acquire(
            "it", {.ttl = 60s},
            asio::bind_cancellation_slot(signal.slot(), [](error_code, const pawl::held_lock&) {}));
        locks.async_close(asio::detached);
        loop.run();
        drop_marks();
    }
    loop.restart();
    loop.run();
    EXPECT_TRUE(engine.expired());
    signal.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> wait_for_the_loss(pawl::client locks, std::shared_ptr<int> mark) {
    auto lock = co_await locks.async_acquire("it", {}, asio::deferred);
    *mark = 1;
    co_await lock.async_wait_lost(asio::deferred);
}

// The frame holds handle and client, and the lease holds the frame.
TEST_P(LoopEnd, FreesACallerWhoWaitsForALoss) {
    {
        asio::io_context loop;
        const auto named = options();
        asio::co_spawn(loop,
                       wait_for_the_loss(pawl::client(loop.get_executor(), tested_service, named),
                                         caller_mark),
                       asio::detached);
        while (*caller_mark == 0)
            loop.run_one();
        loop.poll();
        drop_marks();
    }
    EXPECT_TRUE(caller.expired());
    EXPECT_TRUE(engine.expired());
}

// A hold at the end of the loop is not renewed any more: that is a loss.
TEST_P(LoopEnd, TellsOfTheLossOfWhatIsHeld) {
    std::stop_token lost;
    {
        asio::io_context loop;
        pawl::client locks(loop.get_executor(), tested_service);
        std::optional<pawl::held_lock> own_lock;
        locks.async_acquire("it", {.ttl = 60s}, [&](error_code, pawl::held_lock received) {
            own_lock.emplace(std::move(received));
        });
        while (!own_lock)
            loop.run_one();
        lost = own_lock->lost();
        EXPECT_FALSE(lost.stop_requested());
    }
    std::promise<void> loss_promise;
    const std::stop_callback on_loss(lost, [&] { loss_promise.set_value(); });
    loss_promise.get_future().wait();
}

// `run` returns when the client was closed and there is no other work.
TEST_P(LoopEnd, ComesByItselfWhenTheClientWasClosed) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), tested_service);
    std::optional<pawl::held_lock> own_lock;
    std::optional<error_code> too_late;
    int closed = 0;
    const auto count = [&] { ++closed; };
    locks.async_acquire("it", {.ttl = 60s}, [&](error_code, pawl::held_lock received) {
        own_lock.emplace(std::move(received));
        locks.async_close(count);
        locks.async_close(count);
    });
    loop.run();
    EXPECT_EQ(closed, 2);
    ASSERT_TRUE(own_lock && *own_lock);
    EXPECT_EQ(own_lock->why_lost(), pawl::loss_reason::client_closed);
    loop.restart();
    locks.async_try_acquire("it", pawl::try_options{},
                            [&](error_code ec, const pawl::held_lock&) { too_late = ec; });
    locks.async_close(count);
    loop.run();
    EXPECT_EQ(closed, 3);
    EXPECT_EQ(std::error_code(too_late.value()), pawl::errc::cancelled);
    loop.restart();
    pawl::client after(loop.get_executor(), tested_service);
    bool free = false;
    after.async_try_acquire("it", pawl::try_options{},
                            [&](error_code, const pawl::held_lock& received) {
                                free = static_cast<bool>(received);
                                after.async_close(count);
                            });
    loop.run();
    EXPECT_TRUE(free) << "what was held was given back";
}

// A new client is no work for the loop. A client that has requested a lock is, even if it holds
// none.
TEST_P(LoopEnd, WaitsForAClientFromItsFirstLockUntilItIsClosed) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), tested_service);
    loop.run();
    loop.restart();
    bool released = false;
    locks.async_try_acquire("it", pawl::try_options{}, [&](error_code, pawl::held_lock received) {
        received.async_release([&](pawl::release_result) { released = true; });
    });
    while (!released && !loop.stopped())
        loop.run_one();
    EXPECT_TRUE(released);
    loop.poll();
    EXPECT_FALSE(loop.stopped());
    locks.async_close(asio::detached);
    loop.run();
}

// The exception leaves `run`, as in any program with Asio, and takes nothing with it.
TEST_P(LoopEnd, AnExceptionOfAHandlerDoesNotEndTheClient) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), tested_service);
    pawl::held_lock own_lock;
    locks.async_acquire("it", {.ttl = 60s}, [&](error_code, pawl::held_lock received) {
        own_lock = std::move(received);
        throw std::runtime_error("of the caller");
    });
    EXPECT_THROW(loop.run(), std::runtime_error);
    EXPECT_TRUE(own_lock.owns_lock());
    std::optional<pawl::release_result> result;
    own_lock.async_release([&](pawl::release_result received) {
        result = received;
        locks.async_close(asio::detached);
    });
    loop.run();
    EXPECT_EQ(result, pawl::release_result::released);
}

INSTANTIATE_TEST_SUITE_P(Backend, LoopEnd, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
