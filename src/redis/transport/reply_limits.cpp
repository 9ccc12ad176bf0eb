// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "reply_limits.hpp"

#include <boost/redis/error.hpp>

#include <charconv>
#include <optional>

using boost::system::error_code;
using failure = boost::redis::error;

namespace pawl::redis {
namespace {

constexpr std::string_view strings = "$=!";
constexpr std::string_view aggregates = "*~>%|";
constexpr std::string_view lines = ":+-_,#(";

bool contains_type(std::string_view types, char type) noexcept {
    return types.find(type) != std::string_view::npos;
}

// Accepts only digits. An empty length, or that of a streamed string or aggregate ('?'), makes
// Boost.Redis' parser write past its stack of sizes, or end the program; no Redis sends them. A
// RESP2 null (-1) does not exist in RESP3.
std::optional<std::size_t> read_length(std::string_view text) noexcept {
    std::size_t value = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
}

}  // namespace

error_code reply_checker::check_head(std::string_view rest, std::size_t offset) {
    if (rest.empty()) return {};
    const char type = rest.front();
    const bool string = contains_type(strings, type);
    const bool aggregate = contains_type(aggregates, type);
    if (!string && !aggregate && !contains_type(lines, type)) return failure::invalid_data_type;
    // The parser would count an attribute within a message as an element.
    if (type == '|' && offset != 0) return failure::invalid_data_type;
    const auto end = rest.substr(0, line_limit).find("\r\n");
    if (end == std::string_view::npos)
        return rest.size() < line_limit ? error_code{} : failure::exceeds_maximum_read_buffer_size;
    std::size_t body = 0;
    if (announced_ == 0) announced_ = 1;
    if (string || aggregate) {
        const auto length = read_length(rest.substr(1, end - 1));
        if (!length) return failure::not_a_number;
        // Compare before any addition or multiplication, which could overflow.
        if (*length > (string ? limits_.bytes : limits_.nodes))
            return failure::exceeds_maximum_read_buffer_size;
        if (string) body = *length + 2;
        if (aggregate) announced_ += *length * (type == '%' || type == '|' ? 2 : 1);
    }
    if (announced_ > limits_.nodes || offset + end + 2 + body > limits_.bytes)
        return failure::exceeds_maximum_read_buffer_size;
    return {};
}

}  // namespace pawl::redis
