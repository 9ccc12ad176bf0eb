// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs that run out of a resource, step by step, in virtual time.
#include "kernel/process_resources.hpp"
#include "world/simulated_program.hpp"

#include <redis/common/keys.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Two programs and a server.
class Shortage : public testing::Test {
protected:
    ~Shortage() override {
        for (auto* each : {&holder_, &other_}) {
            each->process.resources().recover();
            each->process.post([each] { each->locks.reset(); });
        }
        loop_.run_for(10s);
    }

    struct pending_acquire {
        std::optional<boost::system::error_code> error;
        held_lock lock;
        asio::cancellation_signal cancel;
    };

    void start_acquire(single_client_process& program, pending_acquire& pending,
                       const lock_options& options) {
        program.process.post([&program, &pending, options] {
            const uncounted_allocations uncounted;
            auto handler = [&pending](const boost::system::error_code& ec, held_lock lock) {
                const uncounted_allocations also_uncounted;
                pending.error = ec;
                pending.lock = std::move(lock);
            };
            program.locks->async_acquire(
                "it", options,
                asio::bind_cancellation_slot(
                    pending.cancel.slot(),
                    asio::bind_executor(program.process.get_executor(), handler)));
        });
    }
    void release(single_client_process& program, pending_acquire& pending) {
        program.process.post([&pending] { pending.lock = {}; });
        loop_.run_ready();
    }
    void expect_acquires(single_client_process& program, duration ttl) {
        pending_acquire pending;
        start_acquire(program, pending, {.ttl = ttl});
        loop_.run_for(1s);
        EXPECT_TRUE(pending.lock.owns_lock());
        release(program, pending);
    }
    [[nodiscard]] std::size_t waiter_count() {
        const auto keys = redis::key_scheme(options_.name_space, options_.key).keys_of("it");
        const auto* const waiters = network_.server().data().peek<store::hash>(keys.waiters());
        return waiters == nullptr ? 0 : waiters->size();
    }

    scheduler loop_;
    const redis::options options_;
    simulated_network network_{loop_, prng(1), network_faults{}};
    single_client_process holder_{loop_, network_, options_, prng(2)};
    single_client_process other_{loop_, network_, options_, prng(3)};
};

// A waiter gives up while its program has no memory. It leaves the queue with resources that were
// allocated before it joined the queue.
TEST_F(Shortage, AWaiterWithoutMemoryLeavesItsPlace) {
    pending_acquire held, waiting;
    start_acquire(holder_, held, {.ttl = 5s});
    loop_.run_for(50ms);
    start_acquire(other_, waiting, {.ttl = 5s});
    loop_.run_for(50ms);
    ASSERT_EQ(waiter_count(), 1u);
    other_.process.resources().run_out_of(resource::memory);
    other_.process.post([&] {
        const uncounted_allocations uncounted;
        waiting.cancel.emit(asio::cancellation_type::terminal);
    });
    loop_.run_for(20ms);
    EXPECT_TRUE(waiting.error.has_value());
    other_.process.resources().recover();
    loop_.run_for(300ms);
    EXPECT_EQ(waiter_count(), 0u);
    release(holder_, held);
}

// Without memory, the keeper continues and reports the holds that it cannot renew.
TEST_F(Shortage, AHolderWithoutMemoryIsToldOfItsLossInTime) {
    pending_acquire held;
    start_acquire(holder_, held, {.ttl = 300ms});
    loop_.run_for(50ms);
    ASSERT_TRUE(held.lock.owns_lock());
    const auto lost = held.lock.lost();
    holder_.process.resources().run_out_of(resource::memory);
    loop_.run_for(300ms);
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(held.lock.state(), lock_state::lost);
    holder_.process.resources().recover();
    release(holder_, held);
    loop_.run_for(1s);
    expect_acquires(holder_, 300ms);
}

TEST_F(Shortage, AProgramWithoutTimersIsToldSo) {
    pending_acquire held, waiting;
    start_acquire(holder_, held, {.ttl = 5s});
    loop_.run_for(50ms);
    other_.process.resources().run_out_of(resource::timers);
    start_acquire(other_, waiting, {.ttl = 5s});
    loop_.run_for(100ms);
    ASSERT_TRUE(waiting.error.has_value());
    EXPECT_EQ(*waiting.error, make_error_code(errc::exhausted));
    other_.process.resources().recover();
    release(holder_, held);
    expect_acquires(other_, 5s);
}

TEST_F(Shortage, AProgramWithoutDescriptorsConnectsLater) {
    pending_acquire held;
    holder_.process.resources().run_out_of(resource::descriptors);
    start_acquire(holder_, held, {.ttl = 5s, .wait = 10s});
    loop_.run_for(3s);
    EXPECT_FALSE(held.lock.owns_lock());
    holder_.process.resources().recover();
    loop_.run_for(3s);
    EXPECT_TRUE(held.lock.owns_lock());
    release(holder_, held);
}

// A client frees the memory of its holds with the holds.
TEST_F(Shortage, AClientGivesItsMemoryBack) {
    const auto bytes = [this] { return holder_.process.resources().memory().bytes(); };
    for (int turn = 0; turn < 2; ++turn) {
        pending_acquire held;
        start_acquire(holder_, held, {.ttl = 5s});
        loop_.run_for(50ms);
        release(holder_, held);
        loop_.run_for(10s);
    }
    const auto idle = bytes();
    for (int turn = 0; turn < 20; ++turn) {
        pending_acquire held;
        start_acquire(holder_, held, {.ttl = 5s});
        loop_.run_for(50ms);
        EXPECT_GT(bytes(), idle);
        release(holder_, held);
        loop_.run_for(10s);
    }
    EXPECT_EQ(bytes(), idle);
}

// Called as functions, because a compiler may omit a pair of new and delete expressions.
bool can_allocate() {
    try {
        ::operator delete(::operator new(1000));
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

TEST(MemoryAccount, CountsAndRefuses) {
    const auto account = memory_account::make(prng(1));
    std::unique_ptr<std::string> kept;
    bool refused = false;
    bool own_refused = true;
    {
        const allocation_scope it(account.get());
        kept = std::make_unique<std::string>();
        account->refuse(1);
        refused = !can_allocate();
        const uncounted_allocations uncounted;
        own_refused = !can_allocate();
    }
    EXPECT_EQ(account->bytes(), sizeof(std::string));
    EXPECT_TRUE(refused);
    EXPECT_FALSE(own_refused);
    EXPECT_EQ(account->refusals(), 1u);
    EXPECT_TRUE(can_allocate());
    kept.reset();
    EXPECT_EQ(account->bytes(), 0u);
}

}  // namespace
}  // namespace pawl::simulation
