// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "token_number.hpp"

#include <pawl/error.hpp>

#include <charconv>
#include <limits>

namespace pawl::guard {
namespace {

constexpr std::uint64_t largest_token = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::int64_t token_number(fencing_token token) {
    if (!token)
        throw error(
            errc::bad_option,
            "The fencing token is empty; acquire the lock with `fenced = true`, or pass the "
            "token of a handle that still exists.");
    if (token.value() > largest_token)
        throw error(errc::bad_option, "The fencing token " + to_string(token) +
                                          " has more than 63 bits; pass a token of Pawl.");
    return static_cast<std::int64_t>(token.value());
}

std::optional<fencing_token> parse_token(std::string_view digits) noexcept {
    if (digits.empty() || digits.front() < '1' || digits.front() > '9') return std::nullopt;
    std::uint64_t number = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [rest, failed] = std::from_chars(digits.data(), end, number);
    if (failed != std::errc{} || rest != end || number > largest_token) return std::nullopt;
    return fencing_token(number);
}

}  // namespace pawl::guard
