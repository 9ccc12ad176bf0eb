// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// HTTP requests that clients may repeat: the header Idempotency-Key, as in the draft of the IETF
// (draft-ietf-httpapi-idempotency-key-header) and as deployed clients send it. Over a `once` of any
// store. pawl/guard/beast.hpp has the same for Boost.Beast. Standard headers only.
#pragma once

#include <pawl/guard/once.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::guard {

// What counts of a request.
struct idempotent_request {
    // The client, as this server knows it, such as an account's number: never a text that the
    // client chose freely. The same key of two principals is two keys.
    std::string principal{};
    std::string method{};  // such as POST
    std::string route{};   // the pattern of the path, such as /orders/{id}/refund
    std::string target{};  // the path with its query, as it was sent
    std::optional<std::string> key_header{};  // the value; of several headers, joined by commas
    std::string body{};                       // as it was sent
};

// An answer of the server. The headers are stored and replayed with it, so leave out what belongs
// to one connection or one moment, such as Date, Connection and Set-Cookie.
struct http_answer {
    unsigned status = 200;                                       // of HTTP
    std::vector<std::pair<std::string, std::string>> headers{};  // names and values
    std::string body{};                                          // empty: none
};

// How a route uses the key.
struct idempotency_options {
    bool is_required = true;  // false: a request without a key runs each time
};

// A `once` over the server's store, such as
//   [&](const auto& key, const auto& work) { return once(db, key, {}, work); }
using http_once = std::function<once_result(const once_key&, const once_work&)>;
// Handles a request: its writes are the effect of `once`.
using http_handler = std::function<http_answer(const attempt&)>;

// The key in a header's value, of 1 to 255 characters. "8e03978e" in quotes, which the draft has,
// and 8e03978e without are the same key. Nothing: it is no key, or there are several.
[[nodiscard]] std::optional<std::string> parse_idempotency_key(std::string_view header);

// Runs the handler once for a key, and answers each repetition:
//   200 to 499  the handler's answer. It is stored, and replayed with Idempotent-Replayed: true.
//               A 4xx is stored as `rejected`: what the handler wrote in the transaction is rolled
//               back. 408, 425 and 429 ask for a repetition, so they are given up as a 5xx is.
//   5xx         the handler's answer. It is not stored: a repetition runs the handler again, up to
//               once_options::attempts.
//   400         no key where it is required, or what is no key
//   409         the first request still runs; Retry-After says when to repeat
//   422         the key was used with another target or body
//   500         the answer is larger than once_options::largest_result, and nothing was
//               committed; or the operation has failed for good, or its answer was too large to be
//               kept
// Answers of its own are application/problem+json, with the member `code`. An exception of the
// handler gives the key up and passes; so do the errors of `once`. The request of a key is
// recognised by the SHA-256 of target and body. Thread-safe if `once` and the handler are.
http_answer idempotent(const idempotent_request& request, const idempotency_options& options,
                       const http_once& run_once, const http_handler& handler);

}  // namespace pawl::guard
