// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "update_call.hpp"

#include "refusals.hpp"

#include <guard_redis_scripts.hpp>
#include <pawl/error.hpp>
#include <pawl/guard/connection.hpp>
#include <pawl/spi/runtime.hpp>

#include <algorithm>
#include <span>

namespace pawl::guard::redis {

using namespace std::chrono_literals;

void check_update(std::string_view key, const update_options& options) {
    if (options.tries < 1 || options.tries > 1000)
        throw error(errc::bad_option, std::string(key) + ": the option tries is " +
                                          std::to_string(options.tries) +
                                          "; it must be between 1 and 1000.");
}

redis_command conditional_set(std::string_view key, const std::string& expected,
                              const std::string& replacement) {
    return {"SET", std::string(key), replacement, "IFEQ", expected, "KEEPTTL"};
}

script_call replace_call(std::string_view key, const std::string& expected,
                         const std::string& replacement) {
    return {scripts::replace, {std::string(key)}, {expected, replacement}};
}

bool is_unknown_option(const redis_reply& reply) {
    return reply.type == redis_reply::kind::error && reply.text.starts_with("ERR syntax error");
}

bool is_replaced(const redis_reply& reply, std::string_view key) {
    throw_if_refused(reply, key);
    if (reply.type == redis_reply::kind::integer) return reply.integer == 1;
    return reply.type != redis_reply::kind::nil;
}

void throw_conflict(std::string_view key, std::uint32_t tries) {
    throw conflict(std::string(key) + ": other callers changed the value during each of " +
                   std::to_string(tries) +
                   " tries. Repeat the update later; for many callers of one key, use a script.");
}

// A random time up to 1 ms, doubled after each try.
duration pause_after(std::uint32_t tries) {
    const duration limit = std::min<duration>(50ms, 1ms * (1 << std::min(tries, 10U)));
    std::uint32_t random = 0;
    spi::real_runtime().random(std::as_writable_bytes(std::span(&random, 1)));
    return limit / 1024 * (random % 1025);
}

}  // namespace pawl::guard::redis
