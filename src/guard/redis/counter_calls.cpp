// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "counter_calls.hpp"

#include "keys.hpp"
#include "refusals.hpp"

#include <guard_redis_scripts.hpp>
#include <pawl/error.hpp>

#include <charconv>
#include <limits>
#include <utility>

namespace pawl::guard::redis {
namespace {

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t longest_id = 255;

constexpr duration longest_keep = std::chrono::hours(24 * 366);

void check_amount(std::string_view key, std::int64_t n) {
    if (n >= 1) return;
    throw error(errc::bad_option, std::string(key) + ": the step is " + std::to_string(n) +
                                      "; it must be 1 or more. `add` and `subtract` are the two "
                                      "directions.");
}

std::int64_t to_number(const std::string& digits, std::string_view key) {
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    // INCRBY accepts only the usual form: no "07".
    if (parsed.ec == std::errc{} && parsed.ptr == end && std::to_string(value) == digits)
        return value;
    throw error(errc::wrong_type, std::string(key) +
                                      ": the value is no decimal integer of 64 bits; use another "
                                      "key for the counter.");
}

[[noreturn]] void throw_missing(std::string_view key) {
    throw error(errc::lost, std::string(key) +
                                ": there is no such key: it was never created, or the server has "
                                "lost its data. Create it with its right value.");
}

}  // namespace

// The script compares the old value with a bound that the step has moved, and computes nothing. A
// moved bound outside of 64 bits refuses every value.
counter_step counter_step::subtract(std::string_view key, std::int64_t n,
                                    const subtract_options& options, std::string_view id) {
    check_amount(key, n);
    const bool is_possible = options.floor <= largest - n;
    return {key,     -n, is_possible ? std::to_string(options.floor + n) : "9223372036854775808",
            "floor", id, options.keep};
}

counter_step counter_step::add(std::string_view key, std::int64_t n, const add_options& options,
                               std::string_view id) {
    check_amount(key, n);
    const bool is_possible = options.ceiling >= smallest + n;
    return {
        key,       n,  is_possible ? std::to_string(options.ceiling - n) : "-9223372036854775809",
        "ceiling", id, options.keep};
}

counter_step::counter_step(std::string_view key, std::int64_t amount, std::string bound,
                           const char* side, std::string_view id, duration keep)
    : call_{scripts::step, {std::string(key)}, {std::to_string(amount), std::move(bound), side}} {
    if (key.empty()) throw error(errc::bad_name, "The key is empty; a key has 1 byte or more.");
    if (id.empty()) return;
    const auto keep_ms = std::chrono::ceil<std::chrono::milliseconds>(keep).count();
    if (id.size() > longest_id || keep_ms < 1 || keep > longest_keep)
        throw error(errc::bad_option,
                    std::string(key) + ": the id has " + std::to_string(id.size()) +
                        " bytes, and is kept for " + std::to_string(keep_ms) +
                        " ms; an id has at most 255 bytes, and is kept for 1 ms to 366 days.");
    call_.keys.push_back(companion_key(key, "step:" + std::string(id)));
    call_.arguments.push_back(std::to_string(keep_ms));
}

std::optional<std::int64_t> counter_step::result(const redis_reply& reply) const {
    const std::string& key = call_.keys.front();
    if (reply.type == redis_reply::kind::nil) throw_missing(key);
    if (reply.items.size() != 2) throw_unexpected(key, "the script step");
    const std::string& verdict = reply.items[0].text;
    const std::string& number = reply.items[1].text;
    if (verdict == "other")
        throw error(errc::bad_option, key + ": the id of this step was used for a step of " +
                                          number + "; give each step an id of its own.");
    if (verdict == "refused") return std::nullopt;
    if (verdict != "counted" && verdict != "repeated") throw_unexpected(key, "the script step");
    return to_number(number, key);
}

redis_command create_command(std::string_view key, std::int64_t value) {
    if (key.empty()) throw error(errc::bad_name, "The key is empty; a key has 1 byte or more.");
    return {"SET", std::string(key), std::to_string(value), "NX"};
}

bool is_created(const redis_reply& reply, std::string_view key) {
    throw_if_refused(reply, key);
    return reply.type != redis_reply::kind::nil;
}

redis_command get_command(std::string_view key) { return {"GET", std::string(key)}; }

std::string stored_bytes(const redis_reply& reply, std::string_view key) {
    throw_if_refused(reply, key);
    if (reply.type == redis_reply::kind::nil) throw_missing(key);
    if (reply.type != redis_reply::kind::bytes) throw_unexpected(key, "GET");
    return reply.text;
}

std::int64_t stored_number(const redis_reply& reply, std::string_view key) {
    return to_number(stored_bytes(reply, key), key);
}

}  // namespace pawl::guard::redis
