// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Callbacks of lost locks: a callback that blocks delays no other.
#include "core/util/loss_notifier.hpp"

#include <support/child.hpp>
#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <future>
#include <list>
#include <stop_token>

namespace pawl {
namespace {

void request_stop(const std::stop_source& lock) { core::loss_notifier::instance().notify({lock}); }

// Its callback waits until the test releases it.
struct blocked_lock {
    explicit blocked_lock(std::shared_future<void> end)
        : callback_(lost.get_token(), [this, end = std::move(end)] {
              began.set_value();
              end.wait();
          }) {}
    std::stop_source lost;
    std::promise<void> began;
    std::stop_callback<std::function<void()>> callback_;
};

// 1. Many locks are lost, and the callback of each blocks. 2. One more is lost. 3. The callbacks
// are not released before the last one's signal was seen.
TEST(LossNotifier, CallbacksThatBlockDelayNoOtherSignal) {
    std::promise<void> end;
    const auto ended = end.get_future().share();
    std::list<blocked_lock> blocked;
    for (int i = 0; i < 20; ++i)
        request_stop(blocked.emplace_back(ended).lost);
    for (auto& each : blocked)
        each.began.get_future().wait();
    std::stop_source last;
    request_stop(last);
    EXPECT_TRUE(support::eventually([&] { return last.stop_requested(); }));
    end.set_value();
}

// As above, when the system starts no more threads: the spare threads are for that.
TEST(LossNotifier, OneBlockedCallbackDelaysNobodyWhereNoThreadCanBeStarted) {
    const auto result = support::run_in_child([] {
        core::loss_notifier::instance().prepare();
        support::forbid_threads();
        std::promise<void> end;
        blocked_lock blocked(end.get_future().share());
        request_stop(blocked.lost);
        blocked.began.get_future().wait();
        std::stop_source last;
        request_stop(last);
        const bool was_told = support::eventually([&] { return last.stop_requested(); });
        end.set_value();
        return was_told ? "told" : "not told";
    });
    EXPECT_EQ(result, "told");
}

// 1. All threads are in callbacks, and no more can be started. 2. Another lock is lost. 3. A
// callback returns: its thread reports that loss.
TEST(LossNotifier, ACallbackThatReturnsMakesRoomWhereNoThreadCanBeStarted) {
    const auto result = support::run_in_child([] {
        core::loss_notifier::instance().prepare();
        support::forbid_threads();
        std::promise<void> end;
        const auto ended = end.get_future().share();
        std::list<blocked_lock> blocked;
        for (int i = 0; i < 2; ++i) {
            request_stop(blocked.emplace_back(ended).lost);
            blocked.back().began.get_future().wait();
        }
        std::stop_source last;
        request_stop(last);
        end.set_value();
        return support::eventually([&] { return last.stop_requested(); }) ? "told" : "not told";
    });
    EXPECT_EQ(result, "told");
}

// A callback may destroy its caller.
TEST(LossNotifier, ACallbackMayDropTheLastReference) {
    auto lock = std::make_unique<std::stop_source>();
    std::promise<void> dropped;
    const std::stop_callback callback(lock->get_token(), [&] {
        lock.reset();
        dropped.set_value();
    });
    request_stop(*lock);
    dropped.get_future().wait();
    EXPECT_EQ(lock, nullptr);
}

}  // namespace
}  // namespace pawl
