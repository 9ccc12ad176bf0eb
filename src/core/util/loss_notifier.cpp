// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "loss_notifier.hpp"

#include "start_thread.hpp"

#include <pthread.h>

#include <atomic>

namespace pawl::core {
namespace {

std::atomic<loss_notifier*> current_notifier{nullptr};
std::mutex notifier_creation;

// The child of a fork has the list but not the threads, so it starts with neither. The mutex is
// held during the fork, so the child does not copy it while another thread holds it.
const int threads_survive_forks =
    ::pthread_atfork([] { notifier_creation.lock(); }, [] { notifier_creation.unlock(); },
                     [] {
                         current_notifier.store(nullptr);
                         notifier_creation.unlock();
                     });

}  // namespace

loss_notifier& loss_notifier::instance() {
    if (auto* notifier = current_notifier.load(std::memory_order_acquire)) return *notifier;
    const std::lock_guard lock(notifier_creation);
    if (auto* notifier = current_notifier.load(std::memory_order_acquire)) return *notifier;
    // Never destroyed: its threads may run until the process ends
    auto* notifier = new loss_notifier;
    current_notifier.store(notifier, std::memory_order_release);
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

void loss_notifier::notify(std::list<std::stop_source> sources) noexcept {
    bool none_idle = false;
    {
        const std::lock_guard lock(mutex_);
        due_sources_.splice(due_sources_.end(), sources);
        none_idle = idle_ == 0;
    }
    due_changed_.notify_all();
    if (none_idle) try_add_thread();
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
        due_changed_.wait(lock, [this] { return !due_sources_.empty(); });
        std::list<std::stop_source> source;
        source.splice(source.end(), due_sources_, due_sources_.begin());
        const bool last = --idle_ == 0;
        lock.unlock();
        if (last) try_add_thread();
        source.front().request_stop();
        source.clear();
        lock.lock();
        if (idle_ >= spare_threads) return;
        ++idle_;
    }
}

}  // namespace pawl::core
