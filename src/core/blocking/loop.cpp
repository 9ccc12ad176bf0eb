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

// The call's own thread needs no mutex: while it drives, no other thread completes the call.
void loop::call::complete() noexcept {
    if (is_driving_) {
        is_complete_ = true;
        return;
    }
    const std::lock_guard lock(loop_.mutex_);
    is_complete_ = true;
    wakeup_.notify_one();
}

// Drives the loop from now on, unless another thread does. Handlers that a thread has posted before
// its call also run before the call.
void loop::call::enter() noexcept {
    bool must_poll = false;
    {
        const std::lock_guard lock(loop_.mutex_);
        ++loop_.callers_;
        ++loop_.activity_count_;
        if (loop_.is_driven_by_thread_) loop_.context_.stop();  // makes the thread stop driving
        if (loop_.is_driven_) return;
        loop_.is_driven_ = is_driving_ = true;
        must_poll = std::exchange(loop_.must_poll_, false);
    }
    if (must_poll) loop_.run_handler([this] { loop_.context_.poll(); });
}

// One handler at a time, because stopping the loop is dearer than to look after each handler.
void loop::call::drive() noexcept {
    while (!is_complete_) {
        loop_.run_handler([this] {
            if (loop_.context_.run_one() == 0) loop_.context_.restart();
        });
    }
}

void loop::call::wait() noexcept {
    if (is_driving_) drive();
    std::unique_lock lock(loop_.mutex_);
    while (!is_complete_) {
        if (loop_.is_driven_) {
            loop_.waiting_calls_.push_back(*this);
            wakeup_.wait(lock);
            loop_.waiting_calls_.erase(loop_.waiting_calls_.iterator_to(*this));
            continue;
        }
        loop_.is_driven_ = is_driving_ = true;
        lock.unlock();
        drive();
        lock.lock();
    }
    lock.unlock();
    leave();
}

void loop::call::leave() noexcept {
    const std::lock_guard lock(loop_.mutex_);
    if (std::exchange(is_driving_, false)) loop_.is_driven_ = false;
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
        is_thread_parked_ = false;
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
        if (is_driven_) must_poll_ = true;
        if (is_driven_ || is_stopped_) return;
        is_driven_ = true;
    }
    run_handler([this] { context_.poll(); });
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
            // Not until `callers_` is 0: the next caller may come before the thread has the mutex,
            // and then every later call would wake it in vain.
            thread_wakeup_.wait(lock, [this] { return is_stopped_ || !is_thread_parked_; });
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
