// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "dialect_text.hpp"

#include <charconv>

namespace pawl::guard {
namespace {

std::string_view word_of(dialect spoken, std::string_view word) {
    if (word == "clock") return clock_of(spoken);
    return spoken == dialect::sqlite ? "max" : "greatest";
}

}  // namespace

statement in_dialect(dialect spoken, std::string_view text, std::vector<value> parameters) {
    statement made{.is_binary = true};
    while (!text.empty()) {
        const auto at = text.find_first_of("${");
        made.text += text.substr(0, at);
        if (at == std::string_view::npos) break;
        text.remove_prefix(at);
        if (text.front() == '{') {
            made.text += word_of(spoken, text.substr(1, text.find('}') - 1));
            text.remove_prefix(text.find('}') + 1);
            continue;
        }
        std::size_t number = 0;
        const auto* end = std::from_chars(text.data() + 1, text.data() + text.size(), number).ptr;
        // MySQL takes its parameters in the order of their places.
        if (spoken == dialect::mysql)
            made.parameters.push_back(parameters.at(number - 1)), made.text += '?';
        else
            made.text += (spoken == dialect::sqlite ? '?' : '$') + std::to_string(number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    if (spoken != dialect::mysql) made.parameters = std::move(parameters);
    return made;
}

}  // namespace pawl::guard
