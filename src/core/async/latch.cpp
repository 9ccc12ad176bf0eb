// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/latch.hpp>

#include "../engine/latch.hpp"
#include "async_operation.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::detail {
namespace {

asio::awaitable<bool> throw_if_late(std::string name, asio::awaitable<bool> wait) {
    const bool is_open = co_await std::move(wait);
    if (!is_open) throw core::latch_timeout_error(name);
    co_return true;
}

asio::awaitable<bool> arrive_and_wait(engine_ptr engine, std::string name, std::uint32_t parties,
                                      latch_options options, duration wait) {
    core::check_wait(wait);
    const auto give_up_at = core::plus(engine->time().now(), wait);
    const auto arrival = co_await core::arrive(engine, name, parties, options);
    const auto remaining =
        wait == forever ? wait : std::max(duration{}, give_up_at - engine->time().now());
    co_return co_await core::wait_latch(engine, name, arrival, remaining);
}

}  // namespace

void start_set_latch(operation_handler<bool> handler, engine_ptr engine, std::string name,
                     std::uint32_t count, latch_options options) {
    core::start_operation(engine, core::set_latch(engine, std::move(name), count, options),
                          std::move(handler));
}

void start_count_down(operation_handler<std::uint64_t> handler, engine_ptr engine, std::string name,
                      std::uint32_t steps) {
    core::start_operation(engine, core::count_down(engine, std::move(name), steps),
                          std::move(handler));
}

void start_try_wait(operation_handler<bool> handler, engine_ptr engine, std::string name) {
    core::start_operation(engine, core::latch_is_open(engine, std::move(name)), std::move(handler));
}

void start_wait_latch(operation_handler<> handler, engine_ptr engine, std::string name,
                      phase arrival, duration wait) {
    core::start_operation(engine,
                          throw_if_late(name, core::wait_latch(engine, name, arrival, wait)),
                          std::move(handler));
}

void start_count_down_and_wait(operation_handler<> handler, engine_ptr engine, std::string name,
                               duration wait) {
    core::start_operation(engine,
                          throw_if_late(name, core::count_down_and_wait(engine, name, wait)),
                          std::move(handler));
}

void start_inspect_latch(operation_handler<latch_info> handler, engine_ptr engine,
                         std::string name) {
    core::start_operation(engine, core::inspect_latch(engine, std::move(name)), std::move(handler));
}

void start_reset_latch(operation_handler<bool> handler, engine_ptr engine, std::string name) {
    core::start_operation(engine, core::reset_latch(engine, std::move(name)), std::move(handler));
}

void start_arrive(operation_handler<phase> handler, engine_ptr engine, std::string name,
                  std::uint32_t parties, latch_options options) {
    core::start_operation(engine, core::arrive(engine, std::move(name), parties, options),
                          std::move(handler));
}

void start_arrive_and_wait(operation_handler<> handler, engine_ptr engine, std::string name,
                           std::uint32_t parties, latch_options options, duration wait) {
    core::start_operation(
        engine, throw_if_late(name, arrive_and_wait(engine, name, parties, options, wait)),
        std::move(handler));
}

}  // namespace pawl::detail
