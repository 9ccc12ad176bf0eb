// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "refusals.hpp"
#include "script_call.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/async_script.hpp>

#include <boost/hash2/sha1.hpp>

#include <charconv>

namespace pawl::detail {

using guard::redis_reply;

namespace {

constexpr std::int64_t largest_exact = std::int64_t{1} << 53;

guard::redis::script view_of(const script_base& code) {
    return {.name = "script", .text = code.text, .sha1 = code.sha1};
}

void check_keys(const script_base& code, const std::vector<std::string>& keys) {
    if (keys.size() == code.key_count) return;
    throw error(errc::bad_option, "The script has " + std::to_string(code.key_count) +
                                      " keys, and this call names " + std::to_string(keys.size()) +
                                      "; name each key of the script once.");
}

const char* name_of(redis_reply::kind kind) {
    switch (kind) {
    case redis_reply::kind::nil: return "nil";
    case redis_reply::kind::integer: return "an integer";
    case redis_reply::kind::bytes: return "a string";
    case redis_reply::kind::error: return "an error";
    case redis_reply::kind::array: return "a table";
    }
    return "unknown";
}

}  // namespace

script_base::script_base(std::string script_text, std::size_t keys)
    : text(std::move(script_text)), key_count(keys) {
    boost::hash2::sha1_160 hash;
    hash.update(text.data(), text.size());
    sha1 = to_string(hash.result());
}

redis_reply script_base::run(guard::redis_connection& server, std::vector<std::string> keys,
                             std::vector<std::string> arguments) const {
    check_keys(*this, keys);
    const auto code = view_of(*this);
    return guard::redis::run(server, {code, std::move(keys), std::move(arguments)});
}

boost::asio::awaitable<redis_reply> async_run(guard::async_redis_connection& server,
                                              const script_base& code,
                                              std::vector<std::string> keys,
                                              std::vector<std::string> arguments) {
    check_keys(code, keys);
    const auto view = view_of(code);
    const guard::redis::script_call call{view, std::move(keys), std::move(arguments)};
    co_return co_await guard::redis::run(server, call);
}

void reply_item::fail(const std::string& expected) const {
    std::string actual = name_of(reply_.type);
    if (reply_.type == redis_reply::kind::error) actual += " (" + reply_.text + ")";
    throw error(errc::protocol, std::string(key_) + ": " + place_ + " of the script is " + actual +
                                    "; the program expects " + expected + ".");
}

std::int64_t reply_item::integer() const {
    std::int64_t value = reply_.integer;
    if (reply_.type == redis_reply::kind::integer) {
        if (value >= -largest_exact && value <= largest_exact) return value;
        throw error(errc::protocol, std::string(key_) + ": " + place_ + " of the script is " +
                                        std::to_string(value) +
                                        ", which Lua may have rounded; return numbers above 2^53 "
                                        "as strings.");
    }
    const std::string& digits = bytes();
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) fail("an integer of 64 bits");
    return value;
}

bool reply_item::flag() const {
    if (is_nil()) return false;
    const auto value = integer();
    if (value != 0 && value != 1) fail("0, 1 or false");
    return value == 1;
}

const std::string& reply_item::bytes() const {
    if (reply_.type != redis_reply::kind::bytes) fail("a string");
    return reply_.text;
}

std::size_t reply_item::size() const {
    if (reply_.type != redis_reply::kind::array) fail("a table");
    return reply_.items.size();
}

void reply_item::expect_size(std::size_t expected) const {
    if (size() != expected)
        fail("a table of " + std::to_string(expected) + " and not " + std::to_string(size()));
}

reply_item reply_item::at(std::size_t index) const {
    return {reply_.items.at(index), key_, "item " + std::to_string(index + 1) + " of " + place_};
}

}  // namespace pawl::detail
