// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The end of a process with static clients, handles and event loops, in each order, and with exit()
// in a callback.
#include "service_test.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>

#include <cstdlib>
#include <future>
#include <optional>
#include <stop_token>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;
using testing::ExitedWithCode;

class ProcessEnd : public lifetimes::service_test {};

[[noreturn]] void exit_in_a_callback(const pawl::service& service) {
    static pawl::blocking::client locks(service);
    static auto lock = locks.acquire("it", {.ttl = 10s});
    const std::stop_callback on_loss(lock.lost(), [] { std::exit(3); });
    pawl::blocking::client other(service);
    other.force_release("it");
    for (;;)
        ::pause();
}

TEST_P(ProcessEnd, ExitInACallbackEndsStaticClients) {
    EXPECT_EXIT(exit_in_a_callback(tested_->service()), ExitedWithCode(3), "");
}

// Acquires with a static event loop and a static client, of which the second one made ends first.
struct static_holder {
    void acquire(asio::io_context& loop, pawl::client& locks) {
        locks.async_acquire("it", {.ttl = 10s}, [this](error_code, pawl::held_lock received) {
            lock = std::move(received);
        });
        locks.async_acquire("it", {.ttl = 10s}, [](error_code, const pawl::held_lock&) {});
        while (!lock)
            loop.run_one();
        loop.poll();
    }
    pawl::held_lock lock;
};

[[noreturn]] void end_loop_first(const pawl::service& service) {
    static std::optional<pawl::client> locks;
    static static_holder holder;
    static asio::io_context loop;
    locks.emplace(loop.get_executor(), service);
    holder.acquire(loop, *locks);
    std::exit(4);
}

[[noreturn]] void end_loop_last(const pawl::service& service) {
    static asio::io_context loop;
    static static_holder holder;
    static pawl::client locks(loop.get_executor(), service);
    holder.acquire(loop, locks);
    std::exit(5);
}

TEST_P(ProcessEnd, AStaticLoopMayEndBeforeItsClientAndItsHandle) {
    EXPECT_EXIT(end_loop_first(tested_->service()), ExitedWithCode(4), "");
}

TEST_P(ProcessEnd, AStaticLoopMayEndAfterItsClientAndItsHandle) {
    EXPECT_EXIT(end_loop_last(tested_->service()), ExitedWithCode(5), "");
}

INSTANTIATE_TEST_SUITE_P(On, ProcessEnd, testing::ValuesIn(lifetimes::all_service_kinds()),
                         [](const auto& each) { return each.param.name; });

class AfterTheLoop : public testing::Test {
protected:
    // A hold whose event loop has ended.
    pawl::held_lock outlive_loop(std::optional<pawl::client>& locks) {
        asio::io_context loop;
        locks.emplace(loop.get_executor(), pawl::from_url("memory:"));
        static_holder holder;
        holder.acquire(loop, *locks);
        return std::move(holder.lock);
    }
};

TEST_F(AfterTheLoop, AHandleIsLost) {
    std::optional<pawl::client> locks;
    const auto lock = outlive_loop(locks);
    EXPECT_EQ(lock.state(), pawl::lock_state::lost);
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::client_closed);
    EXPECT_EQ(lock.name(), "it");
    EXPECT_TRUE(lock.token());
}

TEST_F(AfterTheLoop, TheClientMayEndBeforeOrAfterItsHandle) {
    for (const bool client_first : {true, false}) {
        std::optional<pawl::client> locks;
        std::optional<pawl::held_lock> lock(outlive_loop(locks));
        if (client_first) locks.reset();
        lock.reset();
    }
}

// The end of the loop is the loss, so the callback runs while the loop is being destroyed.
TEST_F(AfterTheLoop, ACallbackMayDestroyItsHandleWhileTheLoopEnds) {
    for (int i = 0; i < 50; ++i) {
        std::optional<pawl::client> locks;
        std::optional<asio::io_context> loop(std::in_place);
        locks.emplace(loop->get_executor(), pawl::from_url("memory:"));
        static_holder holder;
        holder.acquire(*loop, *locks);
        std::promise<void> destroyed;
        const std::stop_callback on_loss(holder.lock.lost(), [&] {
            holder.lock = {};
            destroyed.set_value();
        });
        loop.reset();
        destroyed.get_future().wait();
    }
}

}  // namespace
