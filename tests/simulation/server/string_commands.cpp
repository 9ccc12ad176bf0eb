// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_functions.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <limits>

namespace pawl::simulation::command_functions {
namespace {

struct set_options {
    bool nx = false, xx = false, get = false, keep_ttl = false;
    bool in_seconds = false, is_absolute = false;
    std::optional<std::string_view> expiry;
    std::optional<std::string_view> expected;  // IFEQ, of Valkey 8.1 and Redis 8.4
};

// The options that name an expiry: their unit, and whether they count from now.
bool read_expiry(std::string_view word, std::string_view value, set_options& options) {
    constexpr struct {
        std::string_view name;
        bool in_seconds, is_absolute;
    } kinds[] = {
        {"EX", true, false}, {"PX", false, false}, {"EXAT", true, true}, {"PXAT", false, true}};
    for (const auto& kind : kinds) {
        if (!is_option(word, kind.name)) continue;
        options.in_seconds = kind.in_seconds;
        options.is_absolute = kind.is_absolute;
        options.expiry = value;
        return true;
    }
    return false;
}

set_options read_set_options(std::span<const std::string_view> words) {
    set_options options;
    std::string_view expiry_option;
    for (std::size_t i = 3; i < words.size(); ++i) {
        const auto word = words[i];
        // The same option may be repeated.
        const bool may_expire = !options.keep_ttl && i + 1 < words.size() &&
                                (expiry_option.empty() || is_option(word, expiry_option));
        const bool may_compare = !options.nx && !options.xx && !options.expected;
        if (is_option(word, "NX") && !options.xx && !options.expected) {
            options.nx = true;
        } else if (is_option(word, "XX") && !options.nx && !options.expected) {
            options.xx = true;
        } else if (is_option(word, "IFEQ") && may_compare && i + 1 < words.size()) {
            options.expected = words[++i];
        } else if (is_option(word, "GET")) {
            options.get = true;
        } else if (is_option(word, "KEEPTTL") && !options.expiry) {
            options.keep_ttl = true;
        } else if (may_expire && read_expiry(word, words[i + 1], options)) {
            expiry_option = options.is_absolute  ? options.in_seconds ? "EXAT" : "PXAT"
                            : options.in_seconds ? "EX"
                                                 : "PX";
            ++i;
        } else {
            throw_syntax_error();
        }
    }
    return options;
}

std::optional<std::int64_t> expiry_of(const set_options& options, std::int64_t now_ms) {
    if (!options.expiry) return std::nullopt;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    auto when = to_integer(*options.expiry);
    bool is_valid = when > 0 && !(options.in_seconds && when > most / 1000);
    if (is_valid && options.in_seconds) when *= 1000;
    if (is_valid && !options.is_absolute) is_valid = !__builtin_add_overflow(when, now_ms, &when);
    if (!is_valid) throw command_error("ERR invalid expire time in 'set' command");
    return when;
}

void increment(const command_call& call, std::int64_t by) {
    const auto key = call.words[1];
    auto* const text = call.data.find_as<std::string>(key);
    const auto number = sum_of(text == nullptr ? 0 : to_integer(*text), by);
    if (text != nullptr) {
        *text = std::to_string(number);
        call.data.note_written(key);
    } else {
        call.data.assign(key, std::to_string(number), std::nullopt);
    }
    call.reply.integer(number);
}

}  // namespace

void get(const command_call& call) {
    const auto* const text = call.data.find_as<std::string>(call.words[1]);
    if (text == nullptr) return call.reply.nil();
    call.reply.bulk(*text);
}

void getrange(const command_call& call) {
    const auto first = to_integer(call.words[2]), last = to_integer(call.words[3]);
    const auto* const text = call.data.find_as<std::string>(call.words[1]);
    if (text == nullptr) return call.reply.bulk("");
    const auto size = static_cast<std::int64_t>(text->size());
    const auto begin = std::max<std::int64_t>(first < 0 ? first + size : first, 0);
    const auto end = std::min(std::max<std::int64_t>(last < 0 ? last + size : last, 0), size - 1);
    if (begin > end || (first < 0 && last < 0 && first > last)) return call.reply.bulk("");
    call.reply.bulk(std::string_view(*text).substr(static_cast<std::size_t>(begin),
                                                   static_cast<std::size_t>(end - begin + 1)));
}

void set(const command_call& call) {
    const auto options = read_set_options(call.words);
    auto expires_ms = expiry_of(options, call.data.now_ms());
    if (options.get) get(call);
    const auto key = call.words[1];
    const auto* const stored = call.data.find(key);
    const auto* const text = options.expected ? call.data.find_as<std::string>(key) : nullptr;
    const bool differs = options.expected && (text == nullptr || *text != *options.expected);
    if (differs || (stored != nullptr ? options.nx : options.xx)) {
        if (!options.get) call.reply.nil();
        return;
    }
    if (options.keep_ttl && stored != nullptr) expires_ms = stored->expires_ms;
    call.data.assign(key, call.words[2], expires_ms);
    if (!options.get) call.reply.status("OK");
}

void incr(const command_call& call) { increment(call, 1); }

void decr(const command_call& call) { increment(call, -1); }

void incrby(const command_call& call) { increment(call, to_integer(call.words[2])); }

void decrby(const command_call& call) {
    const auto by = to_integer(call.words[2]);
    if (by == std::numeric_limits<std::int64_t>::min())
        throw command_error("ERR decrement would overflow");
    increment(call, -by);
}

}  // namespace pawl::simulation::command_functions
