// Callbacks of lost locks: one that blocks delays nobody else's.
#include "core/loss_notifier.hpp"

#include <support/child.hpp>
#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <future>
#include <list>
#include <stop_token>

namespace pawl {
namespace {

void lose(const std::stop_source& lock) { core::loss_notifier::instance().notify({lock}); }

// Its callback waits until the test lets it go.
struct blocked_lock {
    explicit blocked_lock(std::shared_future<void> end)
        : told(lost.get_token(), [this, end = std::move(end)] {
              began.set_value();
              end.wait();
          }) {}
    std::stop_source lost;
    std::promise<void> began;
    std::stop_callback<std::function<void()>> told;
};

// 1. Many locks are lost, and the callback of each blocks. 2. One more is lost. 3. Nobody lets the
// callbacks go before the last one's signal was seen.
TEST(LossNotifier, CallbacksThatBlockDelayNoOtherSignal) {
    std::promise<void> end;
    const auto ended = end.get_future().share();
    std::list<blocked_lock> blocked;
    for (int i = 0; i < 20; ++i)
        lose(blocked.emplace_back(ended).lost);
    for (auto& each : blocked)
        each.began.get_future().wait();
    std::stop_source last;
    lose(last);
    EXPECT_TRUE(support::eventually([&] { return last.stop_requested(); }));
    end.set_value();
}

// As above, where the system starts no thread any more: the spare ones are for that.
TEST(LossNotifier, OneBlockedCallbackDelaysNobodyWhereNoThreadCanBeStarted) {
    const auto found = support::in_child([] {
        core::loss_notifier::instance().prepare();
        support::forbid_threads();
        std::promise<void> end;
        blocked_lock blocked(end.get_future().share());
        lose(blocked.lost);
        blocked.began.get_future().wait();
        std::stop_source last;
        lose(last);
        const bool told = support::eventually([&] { return last.stop_requested(); });
        end.set_value();
        return told ? "told" : "not told";
    });
    EXPECT_EQ(found, "told");
}

// 1. All threads are in callbacks, and no more can be started. 2. Another lock is lost. 3. A
// callback returns: its thread tells of that loss.
TEST(LossNotifier, ACallbackThatReturnsMakesRoomWhereNoThreadCanBeStarted) {
    const auto found = support::in_child([] {
        core::loss_notifier::instance().prepare();
        support::forbid_threads();
        std::promise<void> end;
        const auto ended = end.get_future().share();
        std::list<blocked_lock> blocked;
        for (int i = 0; i < 2; ++i) {
            lose(blocked.emplace_back(ended).lost);
            blocked.back().began.get_future().wait();
        }
        std::stop_source last;
        lose(last);
        end.set_value();
        return support::eventually([&] { return last.stop_requested(); }) ? "told" : "not told";
    });
    EXPECT_EQ(found, "told");
}

// A callback may destroy what called it.
TEST(LossNotifier, ACallbackMayDropTheLastReference) {
    auto lock = std::make_unique<std::stop_source>();
    std::promise<void> dropped;
    const std::stop_callback told(lock->get_token(), [&] {
        lock.reset();
        dropped.set_value();
    });
    lose(*lock);
    dropped.get_future().wait();
    EXPECT_EQ(lock, nullptr);
}

}  // namespace
}  // namespace pawl
