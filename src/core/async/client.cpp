// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/client.hpp>

#include "../engine/acquire.hpp"
#include "async_operation.hpp"

namespace asio = boost::asio;

namespace pawl {

using core::engine;
using core::start_operation;

client::client(asio::any_io_executor executor, service service)
    : io_object(engine::make(executor, service, client_options())) {}

client::client(asio::any_io_executor executor, service service, const client_options& options)
    : io_object(engine::make(executor, service, options)) {}

client::~client() {
    if (!engine_) return;
    try {
        engine_->close({});
    } catch (...) {}  // no memory to close it: the holds end with their handles
}

statistics client::statistics() const noexcept { return engine_->statistics(); }

namespace detail {

asio::any_io_executor executor_of(const engine_ptr& engine) noexcept {
    return engine ? engine->handler_executor() : asio::any_io_executor();
}

owner_ptr make_owner(const engine_ptr& engine) {
    return std::make_shared<core::lock_owner_state>(*engine);
}

void start_acquire(operation_handler<held_lock> handler, engine_ptr engine, owner_ptr owner,
                   std::string name, lock_options options, std::optional<polling> try_policy) {
    start_operation(
        engine,
        engine->acquire(std::move(name), core::request(options, try_policy), std::move(owner)),
        std::move(handler));
}

void start_try_acquire_for(operation_handler<held_lock> handler, engine_ptr engine, owner_ptr owner,
                           std::string name, duration wait, lock_options options) {
    start_operation(engine,
                    core::try_acquire_for(engine, std::move(owner), std::move(name), wait, options),
                    std::move(handler));
}

void start_acquire_as(operation_handler<held_lock> handler, engine_ptr engine, std::string name,
                      caller_value value, lock_options options, std::optional<polling> try_policy) {
    core::request request(options, try_policy, std::move(value.value), value.is_adopting);
    start_operation(engine, engine->acquire(std::move(name), std::move(request)),
                    std::move(handler));
}

void start_acquire_all(operation_handler<held_locks> handler, engine_ptr engine, owner_ptr owner,
                       std::vector<std::string> names, lock_options options,
                       std::optional<polling> try_policy) {
    start_operation(engine,
                    core::acquire_all(engine, std::move(owner), std::move(names),
                                      core::request(options, try_policy)),
                    std::move(handler));
}

void start_inspect(operation_handler<lock_info> handler, engine_ptr engine, std::string name) {
    start_operation(engine, engine->inspect(std::move(name)), std::move(handler));
}

void start_wait_change(operation_handler<lock_info> handler, engine_ptr engine, std::string name,
                       fencing_token seen, duration interval) {
    start_operation(engine, core::wait_change(engine, std::move(name), seen, interval),
                    std::move(handler));
}

void start_list(operation_handler<std::vector<lock_info>> handler, engine_ptr engine,
                std::string prefix) {
    start_operation(engine, engine->list(std::move(prefix)), std::move(handler));
}

void start_force_release(operation_handler<bool> handler, engine_ptr engine, std::string name,
                         fencing_token expected) {
    start_operation(engine, engine->force_release(std::move(name), expected), std::move(handler));
}

void start_resize(operation_handler<> handler, engine_ptr engine, std::string name,
                  std::uint32_t permits) {
    start_operation(engine, engine->resize(std::move(name), permits), std::move(handler));
}

void start_examine(operation_handler<examination> handler, engine_ptr engine) {
    start_operation(engine, engine->examine(), std::move(handler));
}

void start_close(asio::any_completion_handler<void()> handler, engine_ptr engine) {
    const auto executor = engine->handler_executor();
    engine->close([executor, handler = std::move(handler)]() mutable {
        asio::post(executor, std::move(handler));
    });
}

}  // namespace detail
}  // namespace pawl
