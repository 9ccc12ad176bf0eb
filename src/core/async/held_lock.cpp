// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/held_lock.hpp>

#include "async_operation.hpp"

#include <boost/asio/dispatch.hpp>

namespace asio = boost::asio;

namespace pawl {
namespace {

using core::engine;

// Runs without cancellation, because the answer must not be missed.
asio::awaitable<void> run_hold_operation(engine::ptr engine, asio::awaitable<void> work,
                                         detail::operation_handler<> handler) {
    core::pending_completion<> completion(engine, std::move(handler));
    detail::outcome ended;
    try {
        co_await std::move(work);
    } catch (...) {
        ended = engine->outcome_of(std::current_exception());
    }
    completion.complete(std::move(ended));
}

asio::awaitable<void> renew_each(std::vector<core::handle_id> handles) {
    for (const auto& each : handles)
        co_await each.lease->owning_engine()->renew(each.lease);
}

}  // namespace

held_lock& held_lock::operator=(held_lock&& other) noexcept {
    if (this != &other) {
        const held_lock old(std::move(*this));
        held_lock_base::operator=(std::move(other));
    }
    return *this;
}

held_lock::~held_lock() {
    if (lease_) core::release_handle({std::move(lease_), number_});
}

namespace detail {

asio::any_io_executor executor_of(const lease_ptr& lease) noexcept {
    return lease ? lease->owning_engine()->handler_executor() : asio::any_io_executor();
}

void start_release(release_handler handler, lease_ptr lease, std::uint32_t number) {
    const auto engine = lease->owning_engine();
    asio::dispatch(engine->strand(), [released = core::handle_id{std::move(lease), number},
                                      handler = std::move(handler)]() mutable {
        released.lease->owning_engine()->release(released, std::move(handler));
    });
}

void start_wait_lost(operation_handler<loss_reason> handler, lease_ptr lease) {
    lease->owning_engine()->begin_wait_lost(lease, std::move(handler));
}

void start_renew(operation_handler<> handler, lease_ptr lease) {
    const auto engine = lease->owning_engine();
    asio::co_spawn(engine->strand(),
                   run_hold_operation(engine, engine->renew(std::move(lease)), std::move(handler)),
                   asio::detached);
}

void start_renew_all(operation_handler<> handler, lease_ptr first,
                     std::vector<core::handle_id> handles) {
    const auto& engine = first->owning_engine();
    asio::co_spawn(engine->strand(),
                   run_hold_operation(engine, renew_each(std::move(handles)), std::move(handler)),
                   asio::detached);
}

void start_downgrade(operation_handler<> handler, lease_ptr lease) {
    const auto engine = lease->owning_engine();
    asio::co_spawn(
        engine->strand(),
        run_hold_operation(engine, engine->downgrade(std::move(lease)), std::move(handler)),
        asio::detached);
}

}  // namespace detail
}  // namespace pawl
