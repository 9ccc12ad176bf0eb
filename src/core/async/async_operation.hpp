// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a coroutine of the engine for the completion handler of an async operation.
#pragma once

#include "../engine/engine.hpp"
#include "access.hpp"

#include <pawl/detail/initiate.hpp>
#include <pawl/incomplete_list.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace pawl::core {

using detail::operation_handler;
using detail::outcome;

// The handler's cancellation slot cancels the operation on the strand. The slot is not cleared
// afterwards, because only its own thread may use it. The slot may outlive the event loop, so it
// holds no reference to the engine.
template <class Handler>
std::shared_ptr<engine::operation> make_operation(const engine::ptr& engine, Handler& handler) {
    auto operation = std::make_shared<engine::operation>(engine);
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr(operation)](boost::asio::cancellation_type) {
            if (auto locked = weak.lock()) {
                const auto strand = locked->owning_engine().strand();
                boost::asio::post(strand, [alive = std::move(locked)] { alive->cancel(); });
            }
        });
    }
    return operation;
}

// A caller's handler while its coroutine runs. Asio destroys a coroutine, and this with it, when
// there is no memory to begin its next wait: the handler is then called with errc::exhausted. It is
// not called when the event loop itself is destroyed.
template <class... Results>
class pending_completion {
public:
    pending_completion(engine::ptr engine, operation_handler<Results...> handler) noexcept
        : engine_(std::move(engine)), handler_(std::move(handler)) {}
    ~pending_completion() {
        if (!engine_ || engine_->is_abandoned()) return;
        try {
            outcome ended;
            ended.code = make_error_code(errc::exhausted);
            complete(std::move(ended), Results{}...);
        } catch (...) {}
    }
    pending_completion(const pending_completion&) = delete;
    pending_completion& operator=(const pending_completion&) = delete;

    // The caller's code runs on the caller's executor, never inside the strand.
    void complete(outcome ended, Results... results) {
        const auto engine = std::exchange(engine_, nullptr);
        boost::asio::post(
            engine->handler_executor(),
            boost::asio::append(std::move(handler_), std::move(ended), std::move(results)...));
    }

private:
    engine::ptr engine_;
    operation_handler<Results...> handler_;
};

// The caller's form of a result.
template <class Result>
Result to_public(Result result) {
    return result;
}
inline held_lock to_public(lease_handle acquired) noexcept {
    return access::make(std::move(acquired));
}
inline held_locks to_public(std::vector<lease_handle> acquired) {
    return access::make(std::move(acquired));
}

// The coroutine must have a result. If the handler takes none, the result is ignored.
template <class Result, class... Results>
boost::asio::awaitable<void> run_operation(engine::ptr engine,
                                           std::shared_ptr<engine::operation> operation,
                                           boost::asio::awaitable<Result> work,
                                           operation_handler<Results...> handler) {
    pending_completion<Results...> completion(engine, std::move(handler));
    outcome ended;
    Result result{};
    try {
        operation->begin();
        operation.reset();
        result = co_await std::move(work);
    } catch (const incomplete_list& partial) {
        ended = engine->outcome_of(std::current_exception());
        if constexpr (std::is_same_v<Result, std::vector<lock_info>>) result = partial.locks();
    } catch (...) {
        ended = engine->outcome_of(std::current_exception());
    }
    if constexpr (sizeof...(Results) == 0)
        completion.complete(std::move(ended));
    else
        completion.complete(std::move(ended), to_public(std::move(result)));
}

// Asio uses the slot until this is called, so the operation, which has the slot, must live until
// then.
struct end_operation {
    std::shared_ptr<engine::operation> operation;
    void operator()(const std::exception_ptr&) const { operation->end(); }
};

template <class Result, class... Results>
void start_operation(const engine::ptr& engine, boost::asio::awaitable<Result> work,
                     operation_handler<Results...> handler) {
    auto operation = make_operation(engine, handler);
    const auto slot = operation->slot();
    boost::asio::co_spawn(engine->strand(),
                          run_operation(engine, operation, std::move(work), std::move(handler)),
                          boost::asio::bind_cancellation_slot(slot, end_operation{operation}));
}

}  // namespace pawl::core
