// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "keys.hpp"

#include <array>
#include <charconv>

namespace pawl::etcd {
namespace {

// With this, no name's line is a part of another's. A prefix of a name stays one.
std::string encoded_name(std::string_view name) {
    std::string result;
    for (const char each : name) {
        if (each == '/')
            result += "%2F";
        else if (each == '%')
            result += "%25";
        else
            result += each;
    }
    return result;
}

std::string decoded_name(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        result += text.substr(i, 3) == "%2F" ? '/' : '%';
        i += 2;
    }
    return result;
}

}  // namespace

std::string key_scheme::line(std::string_view name) const { return lines(name) + "/"; }

std::string key_scheme::lines(std::string_view name_prefix) const {
    if (layout_ == key_layout::concurrency) return std::string(name_prefix);
    return name_space_ + "/l/" + encoded_name(name_prefix);
}

std::optional<std::string> key_scheme::name_of(std::string_view key) const {
    const auto slash = key.rfind('/');
    if (slash == std::string_view::npos) return std::nullopt;
    key = key.substr(0, slash);
    if (layout_ == key_layout::concurrency) {
        if (key.empty() || key == name_space_ + "/g" || key == name_space_ + "/t")
            return std::nullopt;
        return std::string(key);
    }
    const auto beginning = name_space_ + "/l/";
    if (!key.starts_with(beginning)) return std::nullopt;
    return decoded_name(key.substr(beginning.size()));
}

std::string_view key_scheme::owner_of(std::string_view key) noexcept {
    return key.substr(key.rfind('/') + 1);
}

bool key_scheme::is_in_line(std::string_view key, std::string_view line) noexcept {
    return key.starts_with(line) && key.find('/', line.size()) == std::string_view::npos;
}

std::string key_scheme::total(std::string_view name) const {
    return name_space_ + "/t/" + encoded_name(name);
}

std::string key_scheme::guard(std::string_view session) const {
    return name_space_ + "/g/" + std::string(session);
}

std::string session_id(std::int64_t lease) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<std::uint64_t>(lease), 16)
                         .ptr;
    return {digits.data(), end};
}

std::int64_t lease_of(std::string_view session) noexcept {
    std::uint64_t lease = 0;
    std::from_chars(session.data(), session.data() + session.size(), lease, 16);
    return static_cast<std::int64_t>(lease);
}

}  // namespace pawl::etcd
