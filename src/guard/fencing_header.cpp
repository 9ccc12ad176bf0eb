// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/fencing_header.hpp>

#include "token_number.hpp"

namespace pawl::guard {
namespace {

// No part of the text comes from the request, so nothing needs an escape.
http_problem problem_of(unsigned status, const std::string& type, const std::string& title,
                        const std::string& more) {
    return {status, "{\"type\":\"" + type + "\",\"title\":\"" + title +
                        "\",\"status\":" + std::to_string(status) + more + '}'};
}

std::string_view without_blanks(std::string_view text) noexcept {
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

}  // namespace

std::string format_fencing_token(fencing_token token) {
    return '"' + std::to_string(token_number(token)) + '"';
}

std::optional<fencing_token> parse_fencing_token(std::string_view value) noexcept {
    value = without_blanks(value);
    if (value.size() < 2 || !value.starts_with('"') || !value.ends_with('"')) return std::nullopt;
    return parse_token(value.substr(1, value.size() - 2));
}

http_problem stale_token_problem(const fence_result& result) {
    return problem_of(412, "urn:pawl:stale-token", "A later holder of the lock has written.",
                      ",\"newest\":\"" + to_string(result.newest) + '"');
}

http_problem bad_token_problem(std::string_view value) {
    if (without_blanks(value).empty())
        return problem_of(428, "urn:pawl:missing-token",
                          "This request needs the field Fencing-Token.", {});
    return problem_of(400, "urn:pawl:bad-token",
                      "The value of Fencing-Token must be a token in quotes.", {});
}

}  // namespace pawl::guard
