// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "counter_calls.hpp"
#include "update_call.hpp"

#include <guard/async_pause.hpp>
#include <pawl/guard/async_counters.hpp>

#include <utility>

namespace pawl::guard {

using boost::asio::awaitable;

awaitable<bool> async_counters::create(std::string key, std::int64_t start) {
    const auto command = redis::create_command(key, start);
    const auto reply = co_await server_.execute(command);
    co_return redis::is_created(reply, key);
}

awaitable<std::int64_t> async_counters::get(std::string key) {
    const auto command = redis::get_command(key);
    const auto reply = co_await server_.execute(command);
    co_return redis::stored_number(reply, key);
}

awaitable<std::optional<std::int64_t>> async_counters::subtract(std::string key, std::int64_t n,
                                                                subtract_options options,
                                                                std::string id) {
    const auto step = redis::counter_step::subtract(key, n, options, id);
    const auto reply = co_await redis::run(server_, step.call());
    co_return step.result(reply);
}

awaitable<std::optional<std::int64_t>> async_counters::add(std::string key, std::int64_t n,
                                                           add_options options, std::string id) {
    const auto step = redis::counter_step::add(key, n, options, id);
    const auto reply = co_await redis::run(server_, step.call());
    co_return step.result(reply);
}

awaitable<std::string> async_counters::update(std::string key, change new_value,
                                              update_options options) {
    redis::check_update(key, options);
    const auto get = redis::get_command(key);
    for (std::uint32_t tries = 0; tries < options.tries; ++tries) {
        if (tries > 0) co_await async_pause(spi::real_runtime(), redis::pause_after(tries - 1));
        const auto present = co_await server_.execute(get);
        const std::string old_value = redis::stored_bytes(present, key);
        std::optional<std::string> replacement = new_value(old_value);
        if (!replacement) co_return old_value;
        redis_reply reply{};
        if (has_conditional_set_) {
            const auto set = redis::conditional_set(key, old_value, *replacement);
            reply = co_await server_.execute(set);
            has_conditional_set_ = !redis::is_unknown_option(reply);
        }
        if (!has_conditional_set_) {
            const auto call = redis::replace_call(key, old_value, *replacement);
            reply = co_await redis::run(server_, call);
        }
        if (redis::is_replaced(reply, key)) co_return *std::move(replacement);
    }
    redis::throw_conflict(key, options.tries);
}

}  // namespace pawl::guard
