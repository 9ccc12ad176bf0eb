// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Headers that clients of a user's HTTP service write, and answers that a record has kept.
#include "targets.hpp"

#include <guard/http/stored_answer.hpp>

#include <pawl/error.hpp>
#include <pawl/guard/fencing_header.hpp>
#include <pawl/guard/idempotency_key.hpp>

#include <algorithm>
#include <string>

namespace fuzz {

namespace {

std::string quoted(const std::string& key) {
    std::string text = "\"";
    for (const char each : key) {
        if (each == '"' || each == '\\') text += '\\';
        text += each;
    }
    return text + '"';
}

void read_key(std::string_view input) {
    const auto key = pawl::guard::parse_idempotency_key(input);
    if (!key) return;
    if (key->empty() || key->size() > 255) fail("a key of a wrong length");
    if (!std::ranges::all_of(*key, [](char each) { return each >= ' ' && each <= '~'; }))
        fail("a key with a character that no header has");
    if (pawl::guard::parse_idempotency_key(quoted(*key)) != key)
        fail("a key that is another one in quotes");
}

void read_token(std::string_view input) {
    const auto token = pawl::guard::parse_fencing_token(input);
    if (!token && pawl::guard::bad_token_problem(input).status < 400)
        fail("a wrong token without a refusal");
    if (token && *token &&
        pawl::guard::parse_fencing_token(pawl::guard::format_fencing_token(*token)) != token)
        fail("a token that is not read as it is written");
}

void read_answer(std::string_view input) {
    const auto answer = pawl::guard::decode_answer(input);
    if (!answer) return;
    std::string bytes;
    try {
        bytes = pawl::guard::encode_answer(*answer);
    } catch (const pawl::error&) {  // a header that no answer could have had
        return;
    }
    const auto again = pawl::guard::decode_answer(bytes);
    if (!again || again->status != answer->status || again->headers != answer->headers ||
        again->body != answer->body)
        fail("an answer that is not read as it is written");
}

}  // namespace

void headers(std::string_view input) {
    read_key(input);
    read_token(input);
    read_answer(input);
}

}  // namespace fuzz
