// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "counter_calls.hpp"
#include "update_call.hpp"

#include <guard/pause.hpp>
#include <pawl/guard/counters.hpp>

namespace pawl::guard {

bool counters::create(std::string_view key, std::int64_t start) {
    return redis::is_created(server_.execute(redis::create_command(key, start)), key);
}

std::int64_t counters::get(std::string_view key) {
    return redis::stored_number(server_.execute(redis::get_command(key)), key);
}

std::optional<std::int64_t> counters::subtract(std::string_view key, std::int64_t n,
                                               const subtract_options& options,
                                               std::string_view id) {
    const auto step = redis::counter_step::subtract(key, n, options, id);
    return step.result(redis::run(server_, step.call()));
}

std::optional<std::int64_t> counters::add(std::string_view key, std::int64_t n,
                                          const add_options& options, std::string_view id) {
    const auto step = redis::counter_step::add(key, n, options, id);
    return step.result(redis::run(server_, step.call()));
}

std::string counters::update(std::string_view key, const change& new_value,
                             const update_options& options) {
    redis::check_update(key, options);
    for (std::uint32_t tries = 0; tries < options.tries; ++tries) {
        if (tries > 0) pause_for(redis::pause_after(tries - 1), {});
        std::string old_value = redis::stored_bytes(server_.execute(redis::get_command(key)), key);
        std::optional<std::string> replacement = new_value(old_value);
        if (!replacement) return old_value;
        redis_reply reply{};
        if (has_conditional_set_) {
            reply = server_.execute(redis::conditional_set(key, old_value, *replacement));
            has_conditional_set_ = !redis::is_unknown_option(reply);
        }
        if (!has_conditional_set_)
            reply = redis::run(server_, redis::replace_call(key, old_value, *replacement));
        if (redis::is_replaced(reply, key)) return *std::move(replacement);
    }
    redis::throw_conflict(key, options.tries);
}

}  // namespace pawl::guard
