// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "keys.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace json = boost::json;

namespace pawl::consul {
namespace {

constexpr std::string_view end_of_key = "/.lock";
constexpr std::size_t shown_owner_size = 8;

// The size of the well-formed UTF-8 character at the beginning; 0 if there is none.
std::size_t utf8_size(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool is_surrogate = first == 0xed && byte(1) > 0x9f;
    const bool is_too_large = first == 0xf4 && byte(1) > 0x8f;
    return is_overlong || is_surrogate || is_too_large ? 0 : size;
}

void append_percent(std::string& target, char c) {
    static constexpr char digits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    target += '%';
    target += digits[byte >> 4];
    target += digits[byte & 15];
}

bool is_dots(std::string_view part) noexcept { return part == "." || part == ".."; }

// A part between two slashes of the key.
void append_part(std::string& target, std::string_view part) {
    const bool has_only_dots = is_dots(part);
    while (!part.empty()) {
        const bool is_special = has_only_dots || part.front() == '%' || part.front() == '/';
        const auto size = is_special ? 0 : utf8_size(part);
        if (size == 0)
            append_percent(target, part.front());
        else
            target += part.substr(0, size);
        part.remove_prefix(std::max<std::size_t>(size, 1));
    }
}

// The end of the name's first part: a slash inside the name that leaves no part empty.
std::size_t part_end(std::string_view name) noexcept {
    for (std::size_t i = 1; i + 1 < name.size(); ++i)
        if (name[i] == '/' && name[i + 1] != '/') return i;
    return name.size();
}

int digit_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<json::object> object_in(std::string_view value) {
    boost::system::error_code ec;
    json::parse_options limits;
    limits.max_depth = 8;
    auto parsed = json::parse(value, ec, {}, limits);
    if (ec || !parsed.is_object()) return std::nullopt;
    return std::move(parsed.as_object());
}

std::string text_in(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::int64_t number_in(const json::object& from, std::string_view name) {
    const auto* value = from.if_contains(name);
    return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

// JSON is text, and a command may have any bytes.
std::string to_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const auto size = utf8_size(text);
        valid += size == 0 ? std::string_view("?") : text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return valid;
}

}  // namespace

std::string encode_name(std::string_view name) {
    std::string encoded;
    while (!name.empty()) {
        const auto end = part_end(name);
        append_part(encoded, name.substr(0, end));
        if (end == name.size()) break;
        encoded += '/';
        name.remove_prefix(end + 1);
    }
    return encoded;
}

std::optional<std::string> decode_name(std::string_view encoded) {
    std::string name;
    for (std::size_t i = 0; i < encoded.size(); ++i) {
        if (encoded[i] != '%') {
            name += encoded[i];
            continue;
        }
        if (i + 2 >= encoded.size()) return std::nullopt;
        const int high = digit_value(encoded[i + 1]), low = digit_value(encoded[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        name += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (encode_name(name) != encoded) return std::nullopt;
    return name;
}

// What follows may change how the last part is encoded, but not its plain characters.
std::string encode_prefix(std::string_view prefix) {
    std::string encoded;
    for (auto end = part_end(prefix); end != prefix.size(); end = part_end(prefix)) {
        append_part(encoded, prefix.substr(0, end));
        encoded += '/';
        prefix.remove_prefix(end + 1);
    }
    if (is_dots(prefix.substr(0, prefix.find('/')))) return encoded;
    for (const char c : prefix) {
        if (c == '%' || c == '/' || static_cast<unsigned char>(c) >= 0x80) break;
        encoded += c;
    }
    return encoded;
}

std::optional<std::string> key_scheme::name_in(std::string_view key) const {
    if (!key.starts_with(prefix_) || !key.ends_with(end_of_key)) return std::nullopt;
    key.remove_prefix(prefix_.size());
    if (key.size() <= end_of_key.size()) return std::nullopt;
    key.remove_suffix(end_of_key.size());
    return decode_name(key);
}

std::string make_value(const std::string& owner, const identity& process, std::int64_t since_ms) {
    json::object value;
    value["owner"] = owner;
    value["host"] = to_utf8(process.host);
    value["pid"] = process.pid;
    value["command"] = to_utf8(process.command);
    value["since"] = since_ms;
    return json::serialize(value);
}

std::string owner_in(std::string_view value) {
    const auto read = object_in(value);
    return read ? text_in(*read, "owner") : std::string();
}

holder parse_value(std::string_view value) {
    holder shown;
    const auto read = object_in(value);
    if (!read) return shown;
    shown.owner = text_in(*read, "owner").substr(0, shown_owner_size);
    shown.host = text_in(*read, "host");
    shown.pid = number_in(*read, "pid");
    shown.command = text_in(*read, "command");
    shown.since =
        std::chrono::system_clock::time_point(std::chrono::milliseconds(number_in(*read, "since")));
    return shown;
}

}  // namespace pawl::consul
