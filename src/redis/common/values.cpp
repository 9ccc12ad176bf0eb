// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "values.hpp"

#include "../transport/numbers.hpp"

#include <array>
#include <charconv>

namespace pawl::redis {
namespace {

// Replaces separators and control characters, and cuts a long text such as a command line.
std::string sanitized_field(std::string_view text, std::size_t max_size) {
    std::string plain(text.substr(0, max_size));
    for (auto& c : plain) {
        if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return plain;
}

template <class Number>
bool read_number(std::string_view text, Number& result) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), result);
    return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

}  // namespace

std::string make_value_prefix(std::string_view owner, std::string_view client,
                              const identity& process) {
    std::string value(owner);
    value += ';';
    value += client;
    value += ';';
    value += std::to_string(process.pid);
    value += ';';
    value += sanitized_field(process.host, 64);
    value += ';';
    value += sanitized_field(process.command, 64);
    return value;
}

std::string make_value(std::string_view prefix, std::int64_t since_ms) {
    std::string value;
    value.reserve(prefix.size() + 21);
    value += prefix;
    value += ';';
    value += std::to_string(since_ms);
    return value;
}

holder parse_value(std::string_view value) {
    holder result;
    std::array<std::string_view, 6> parts;
    std::size_t count = 0;
    auto rest = value;
    for (; count < parts.size(); ++count) {
        const auto end = count + 1 < parts.size() ? rest.find(';') : rest.size();
        if (end == std::string_view::npos) break;
        parts[count] = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::int64_t since_ms = 0;
    result.owner = std::string(value.substr(0, 8));
    if (count < parts.size() || !read_number(parts[2], result.pid) ||
        !read_number(parts[5], since_ms)) {
        result.pid = 0;
        return result;
    }
    result.host = parts[3];
    result.command = parts[4];
    result.since = std::chrono::system_clock::time_point(milliseconds_of(since_ms));
    return result;
}

// Only `parse_value` for a value of Pawl's sets `since`.
bool is_written_by_pawl(const holder& candidate) noexcept {
    return candidate.since != std::chrono::system_clock::time_point{};
}

}  // namespace pawl::redis
