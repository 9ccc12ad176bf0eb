// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fencing tokens in HTTP requests, without an HTTP library: docs/guide/fenced-writes.md. The client
// sends the field Fencing-Token, and the server compares the token in the transaction of the write.
// Standard headers only. Thread-safe.
#pragma once

#include <pawl/guard/fence_result.hpp>
#include <pawl/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::guard {

// The name of the field. Its value is a String of RFC 9651: the integers of that standard have 15
// digits, and tokens have up to 19.
inline constexpr std::string_view fencing_token_field = "Fencing-Token";

// The value of the field: "123", with the quotes. Throws errc::bad_option for the empty token.
[[nodiscard]] std::string format_fencing_token(fencing_token token);
// The token in a value of the field; nothing for any other text, such as a number without quotes,
// or the values of two fields.
[[nodiscard]] std::optional<fencing_token> parse_fencing_token(std::string_view value) noexcept;

// A response for a request that was refused (RFC 9457): `status`, with `body` in the media type
// `problem_media_type`.
struct http_problem {
    unsigned status = 0;  // of the response, and in the body
    std::string body;     // JSON
};
inline constexpr std::string_view problem_media_type = "application/problem+json";

// 412, type `stale-token`: a larger token has written. The client must stop: it lost its lock. Do
// not repeat the request. The body has the newest token as a string.
[[nodiscard]] http_problem stale_token_problem(const fence_result& result);
// For a request whose field has no token: 428 if it is missing (`value` is empty), otherwise 400.
[[nodiscard]] http_problem bad_token_problem(std::string_view value);

}  // namespace pawl::guard
