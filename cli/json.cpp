#include "json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace pawl::cli {

namespace {

// The length of the well-formed UTF-8 sequence at the front; 0 where there is none (RFC 3629).
std::size_t sequence(std::string_view text) {
    const auto at = [text](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto tail = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80U) return 1;
    if (first >= 0xC2U && first <= 0xDFU) return tail(1) ? 2 : 0;
    if (first >= 0xE0U && first <= 0xEFU) {
        const bool overlong = first == 0xE0U && at(1) < 0xA0U;
        const bool surrogate = first == 0xEDU && at(1) > 0x9FU;
        return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0U && first <= 0xF4U) {
        const bool overlong = first == 0xF0U && at(1) < 0x90U;
        const bool beyond = first == 0xF4U && at(1) > 0x8FU;
        return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

void escape(std::string& out, char c) {
    switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20U) {
        out += c;
        return;
    }
    static constexpr std::string_view digits = "0123456789abcdef";
    out.append("\\u00").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
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
        const std::size_t length = sequence(value);
        if (length == 1) {
            escape(out_, value.front());
        } else if (length == 0) {
            out_ += "\xEF\xBF\xBD";
        } else {
            out_.append(value.substr(0, length));
        }
        value.remove_prefix(length == 0 ? 1 : length);
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
