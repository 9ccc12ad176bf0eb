// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "json.hpp"

#include "utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace pawl::cli {

namespace {

void escape_unit(std::string& out, unsigned unit) {
    static constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += digits[(unit >> static_cast<unsigned>(shift)) & 15U];
}

// Escapes a character so that a JSON reader gets the same text, and a terminal does not interpret
// the character.
void escape(std::string& out, char32_t value) {
    switch (value) {
    case U'"': out += "\\\""; return;
    case U'\\': out += "\\\\"; return;
    case U'\n': out += "\\n"; return;
    case U'\r': out += "\\r"; return;
    case U'\t': out += "\\t"; return;
    default: break;
    }
    const auto number = static_cast<unsigned>(value);
    if (number < 0x10000U) {
        escape_unit(out, number);
    } else {
        escape_unit(out, 0xD800U + ((number - 0x10000U) >> 10U));
        escape_unit(out, 0xDC00U + (number & 0x3FFU));
    }
}

}  // namespace

void json::separate() {
    if (comma_) out_ += ',';
    comma_ = true;
}

json& json::open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
    return *this;
}

json& json::close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
}

void json::quote(std::string_view value) {
    out_ += '"';
    while (!value.empty()) {
        const auto [each, bytes] = first_code_point(value);
        if (bytes == 0) {
            out_ += "\xEF\xBF\xBD";
        } else if (each == U'"' || each == U'\\' || is_deceptive(each)) {
            escape(out_, each);
        } else {
            out_.append(value.substr(0, bytes));
        }
        value.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    out_ += '"';
}

json& json::key(std::string_view name) {
    separate();
    quote(name);
    out_ += ':';
    comma_ = false;
    return *this;
}

json& json::text(std::string_view value) {
    separate();
    quote(value);
    return *this;
}

json& json::number(std::int64_t value) {
    separate();
    out_ += std::to_string(value);
    return *this;
}

json& json::number(double value, int digits) {
    if (!std::isfinite(value)) return null();
    separate();
    std::array<char, 400> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::fixed, digits);
    out_.append(text.data(), end.ptr);
    return *this;
}

json& json::boolean(bool value) {
    separate();
    out_ += value ? "true" : "false";
    return *this;
}

json& json::null() {
    separate();
    out_ += "null";
    return *this;
}

}  // namespace pawl::cli
