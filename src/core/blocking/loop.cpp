// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "loop.hpp"

#include "../engine/engine.hpp"
#include "../util/start_thread.hpp"

#include <chrono>

namespace pawl::blocking {

// For this time after a call, the loop's thread leaves the loop to the callers.
constexpr duration takeover_delay = std::chrono::milliseconds(5);

loop::loop()
    : thread_(core::start_thread("the event loop of a client", [this] { run_thread(); })) {}

// The engine must be destroyed before the loop.
loop::~loop() {
    stop();
    engine.reset();
}

void loop::set_engine(std::shared_ptr<core::engine> client_engine) {
    engine = std::move(client_engine);
    engine_ptr_ = engine.get();
}

void loop::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(is_stopped_, true)) return;
        thread_wakeup_.notify_one();
    }
    context_.stop();
    if (thread_.joinable()) thread_.join();
}

bool loop::is_stopped() {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
}

void loop::call::complete() {
    const std::lock_guard lock(loop_.mutex_);
    is_complete_ = true;
    if (is_driving_)
        loop_.context_.stop();
    else
        wakeup_.notify_one();
}

void loop::call::wait() {
    std::unique_lock lock(loop_.mutex_);
    ++loop_.callers_;
    ++loop_.activity_count_;
    if (loop_.is_driven_by_thread_) loop_.context_.stop();  // makes the thread stop driving
    while (!is_complete_) {
        if (loop_.is_driven_) {
            loop_.waiting_calls_.push_back(*this);
            wakeup_.wait(lock);
            loop_.waiting_calls_.erase(loop_.waiting_calls_.iterator_to(*this));
            continue;
        }
        loop_.is_driven_ = is_driving_ = true;
        lock.unlock();
        loop_.drive();
        lock.lock();
        loop_.context_.restart();
        loop_.is_driven_ = is_driving_ = false;
    }
    --loop_.callers_;
    loop_.wake_next_driver();
}

// An exception that leaves a handler, such as std::bad_alloc in Asio, ends that handler only. The
// operations that depend on it complete with an error, or begin anew, in the destructors of their
// completion handlers, such as call_completion and engine::keeper_run.
void loop::drive() noexcept {
    for (;;) {
        try {
            context_.run();
            return;
        } catch (...) {
            log_unhandled();
        }
    }
}

void loop::log_unhandled() noexcept {
    const auto* client_engine = engine_ptr_.load();
    if (client_engine != nullptr)
        engine->log_failure("an exception left a handler of the event loop",
                            std::current_exception());
}

// Called under the mutex, when another thread should drive the loop.
void loop::wake_next_driver() {
    if (is_driven_) return;
    if (!waiting_calls_.empty()) {
        waiting_calls_.front().wakeup_.notify_one();
    } else if (callers_ == 0 && (is_thread_parked_ || is_renewal_near())) {
        thread_wakeup_.notify_one();
    }
}

// True if a renewal is due before the thread would notice that no caller comes.
bool loop::is_renewal_near() const noexcept {
    const auto* client_engine = engine_ptr_.load();
    return client_engine != nullptr &&
           client_engine->next_run() <= client_engine->time().now() + 2 * takeover_delay;
}

void loop::run_ready() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (is_driven_ || is_stopped_) return;
        is_driven_ = true;
    }
    try {
        context_.poll();
    } catch (...) {
        log_unhandled();
    }
    const std::lock_guard lock(mutex_);
    is_driven_ = false;
    ++activity_count_;
    wake_next_driver();
}

// Drives the loop when no caller has come for some milliseconds, so that callers in a tight loop
// need not wait for the thread; or earlier, when a lease must be renewed.
void loop::run_thread() {
    std::unique_lock lock(mutex_);
    auto seen_activity = activity_count_;
    while (!is_stopped_) {
        if (callers_ > 0 && activity_count_ == seen_activity) {
            is_thread_parked_ = true;
            thread_wakeup_.wait(lock, [this] { return is_stopped_ || callers_ == 0; });
            is_thread_parked_ = false;
        }
        if (is_driven_ || callers_ > 0 ||
            (activity_count_ != seen_activity && !is_renewal_near())) {
            seen_activity = activity_count_;
            thread_wakeup_.wait_for(lock, takeover_delay);
            continue;
        }
        is_driven_ = is_driven_by_thread_ = true;
        lock.unlock();
        drive();
        lock.lock();
        context_.restart();
        is_driven_ = is_driven_by_thread_ = false;
        wake_next_driver();
    }
}

}  // namespace pawl::blocking
