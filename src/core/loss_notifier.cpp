#include "loss_notifier.hpp"

#include "quiet_thread.hpp"

#include <pthread.h>

#include <atomic>

namespace pawl::core {
namespace {

std::atomic<loss_notifier*> current{nullptr};
std::mutex making;

// The child has the list but not the threads; it starts again with neither. The mutex is held over
// the fork, so that no other thread's lock of it is copied.
const int watching_forks = ::pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                                            [] {
                                                current.store(nullptr);
                                                making.unlock();
                                            });

}  // namespace

loss_notifier& loss_notifier::instance() {
    if (auto* notifier = current.load(std::memory_order_acquire)) return *notifier;
    const std::lock_guard lock(making);
    if (auto* notifier = current.load(std::memory_order_acquire)) return *notifier;
    auto* notifier = new loss_notifier;  // its threads may run until the very end
    current.store(notifier, std::memory_order_release);
    return *notifier;
}

void loss_notifier::prepare() {
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (idle_ >= spare_threads) return;
        }
        add_thread();
    }
}

void loss_notifier::notify(std::list<std::stop_source> lost) noexcept {
    bool nobody_ready = false;
    {
        const std::lock_guard lock(mutex_);
        due_.splice(due_.end(), lost);
        nobody_ready = idle_ == 0;
    }
    due_came_.notify_one();
    if (nobody_ready) try_add_thread();
}

void loss_notifier::add_thread() {
    {
        const std::lock_guard lock(mutex_);
        ++idle_;
    }
    try {
        start_thread("the callbacks of lost locks", [this] { run(); }).detach();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        --idle_;
        throw;
    }
}

bool loss_notifier::try_add_thread() noexcept {
    try {
        add_thread();
        return true;
    } catch (...) {
        return false;
    }
}

void loss_notifier::run() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
        due_came_.wait(lock, [this] { return !due_.empty(); });
        std::list<std::stop_source> lost;
        lost.splice(lost.end(), due_, due_.begin());
        const bool last = --idle_ == 0;
        lock.unlock();
        if (last) try_add_thread();
        lost.front().request_stop();
        lost.clear();
        lock.lock();
        if (idle_ >= spare_threads) return;
        ++idle_;
    }
}

}  // namespace pawl::core
