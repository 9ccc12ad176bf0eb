// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Threads that run the callbacks of lost locks, and nothing else.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <stop_token>

namespace pawl::core {

// One object for the process, never destroyed; a fork gets a new one. Thread-safe.
//
// Before a thread runs callbacks, it makes sure that another thread is ready for the next loss. So
// a callback that blocks delays no other lock's signal, and costs a thread. If the system has no
// more threads, the next signals wait until a callback returns or a thread can be started, which is
// tried at every loss.
class loss_notifier {
public:
    static loss_notifier& instance();

    // Starts the threads that the first losses need. Throws errc::exhausted.
    void prepare();
    // Stops the sources soon; each stop runs its callbacks. Never waits for a callback.
    void notify(std::list<std::stop_source> sources) noexcept;

private:
    // Threads that are kept ready, so that the callbacks of one lock may block also if no more
    // threads can be started.
    static constexpr std::size_t spare_threads = 2;

    void run() noexcept;
    void add_thread();
    bool try_add_thread() noexcept;

    std::mutex mutex_;
    std::condition_variable due_changed_;
    std::list<std::stop_source> due_sources_;
    std::size_t idle_ = 0;  // threads that wait for a loss, or that are being started
};

}  // namespace pawl::core
