// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a coroutine of the engine while the caller waits.
#pragma once

#include "../engine/engine.hpp"
#include "loop.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>

namespace pawl::blocking {

// Throws the exception of a coroutine as a pawl::error.
[[noreturn]] void rethrow(const std::shared_ptr<core::engine>& engine,
                          const std::exception_ptr& exception);

// The completion of a coroutine that a caller waits for. Asio destroys a coroutine, and this with
// it, when there is no memory to begin its next wait: the result is then std::bad_alloc.
class call_completion {
public:
    call_completion(loop::call& call, std::exception_ptr& failure,
                    std::shared_ptr<core::engine::operation> operation) noexcept
        : call_(&call), failure_(&failure), operation_(std::move(operation)) {}
    call_completion(call_completion&& other) noexcept
        : call_(std::exchange(other.call_, nullptr)),
          failure_(other.failure_),
          operation_(std::move(other.operation_)) {}
    call_completion& operator=(call_completion&&) = delete;
    ~call_completion() {
        if (call_ != nullptr) (*this)(std::make_exception_ptr(std::bad_alloc()));
    }

    void operator()(std::exception_ptr exception) {
        if (operation_) operation_->end();
        if (exception) *failure_ = std::move(exception);
        std::exchange(call_, nullptr)->complete();
    }

private:
    loop::call* call_;
    std::exception_ptr* failure_;
    std::shared_ptr<core::engine::operation> operation_;
};

// Runs the coroutine on the loop, and waits for its completion. Without memory to begin, the
// destructor of `completion` completes the call.
template <class Completion>
void run_coroutine(loop::call& call, const core::engine& engine,
                   boost::asio::awaitable<void> coroutine, Completion completion) {
    try {
        call.run([&] {
            boost::asio::co_spawn(engine.inline_strand(), std::move(coroutine),
                                  std::move(completion));
        });
    } catch (...) {}
}

// Runs a coroutine on the engine's strand while the caller waits, and returns its result or throws
// its exception.
template <class Result>
class blocking_wait {
public:
    blocking_wait(loop& loop, std::shared_ptr<core::engine> engine)
        : call_(loop),
          operation_(std::make_shared<core::engine::operation>(engine)),
          engine_(std::move(engine)) {}

    // Without memory for it, the wait is not cancelled: an exception that leaves a callback of a
    // stop token ends the process.
    void cancel() noexcept {
        is_cancelled_ = true;
        try {
            boost::asio::post(engine_->strand(), [operation = operation_] { operation->cancel(); });
        } catch (...) {}
    }

    Result wait_for(boost::asio::awaitable<Result> work) {
        auto coroutine = run(std::move(work));
        // Asio uses the slot until the completion handler is called or destroyed. So the wait lasts
        // until then, also if the coroutine could not begin.
        call_completion completion(call_, failure_, operation_);
        run_coroutine(
            call_, *engine_, std::move(coroutine),
            boost::asio::bind_cancellation_slot(operation_->slot(), std::move(completion)));
        if (failure_) rethrow(engine_, failure_);
        return std::move(*result_);
    }

private:
    boost::asio::awaitable<void> run(boost::asio::awaitable<Result> work) {
        try {
            // The coroutine may begin before the handler that `cancel` has posted.
            if (is_cancelled_) operation_->cancel();
            operation_->begin();
            result_.emplace(co_await std::move(work));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    loop::call call_;
    std::shared_ptr<core::engine::operation> operation_;
    std::shared_ptr<core::engine> engine_;
    std::atomic<bool> is_cancelled_ = false;
    std::optional<Result> result_;
    std::exception_ptr failure_;
};

// Throws errc::unsupported in a fork, and errc::cancelled when `cancel` is stopped.
template <class Result>
Result run_blocking(loop& loop, boost::asio::awaitable<Result> work,
                    const std::stop_token& cancel = {}) {
    loop.throw_if_forked();
    blocking_wait<Result> wait(loop, loop.engine);
    const std::stop_callback on_cancel(cancel, [&wait] { wait.cancel(); });
    return wait.wait_for(std::move(work));
}

}  // namespace pawl::blocking
