// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "stored_answer.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <charconv>

namespace pawl::guard {
namespace {

constexpr std::string_view first_word = "HTTP ";

// Removes a line and its end from the text; nothing if there is no end.
std::optional<std::string_view> take_line(std::string_view& text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return line;
}

bool is_one_line(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace

std::string encode_answer(const http_answer& answer) {
    std::string bytes = std::string(first_word) + std::to_string(answer.status) + "\n";
    for (const auto& [name, content] : answer.headers) {
        if (name.empty() || name.find(':') != std::string::npos || !is_one_line(name + content))
            throw error(errc::bad_option,
                        "The answer has a header without a name, or with a line "
                        "break or a colon in it; write one line for a header.");
        bytes += name + ": " + content + "\n";
    }
    return bytes + "\n" + answer.body;
}

std::optional<http_answer> decode_answer(std::string_view bytes) {
    http_answer answer;
    auto line = take_line(bytes);
    if (!line || !line->starts_with(first_word)) return std::nullopt;
    const char* const begin = line->data() + first_word.size();
    const char* const end = line->data() + line->size();
    const auto parsed = std::from_chars(begin, end, answer.status);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    for (line = take_line(bytes); line && !line->empty(); line = take_line(bytes)) {
        const auto colon = line->find(": ");
        if (colon == std::string_view::npos) return std::nullopt;
        answer.headers.emplace_back(line->substr(0, colon), line->substr(colon + 2));
    }
    if (!line) return std::nullopt;
    answer.body = bytes;
    return answer;
}

}  // namespace pawl::guard
