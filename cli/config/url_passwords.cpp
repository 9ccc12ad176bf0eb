// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "url_passwords.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace pawl::cli {

namespace {

// The parts of a URL, divided where pawl::from_url divides them. Together they are the whole text.
struct url_parts {
    std::string_view beginning;  // the scheme with "://"; empty if the URL has no authority
    std::string_view user_info;  // with its '@'
    std::string_view hosts;
    std::string_view path;     // without an authority, with the scheme
    std::string_view options;  // with the '?'
};

std::string_view take(std::string_view& rest, std::size_t size) {
    const auto head = rest.substr(0, size);
    rest.remove_prefix(head.size());
    return head;
}

url_parts split(std::string_view url) {
    url_parts parts;
    const auto colon = url.find(':');
    if (colon != std::string_view::npos && url.substr(colon).starts_with("://")) {
        parts.beginning = take(url, colon + 3);
        parts.hosts = take(url, url.find_first_of("/?"));
        if (const auto at = parts.hosts.rfind('@'); at != std::string_view::npos)
            parts.user_info = take(parts.hosts, at + 1);
    }
    parts.path = take(url, url.find('?'));
    parts.options = url;
    return parts;
}

// Removes and returns the first option of "?NAME=VALUE&…".
std::string_view take_option(std::string_view& options) {
    options.remove_prefix(1);
    return take(options, options.find('&'));
}

bool contains(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// HOST, HOST:PORT or [ADDRESS]:PORT.
bool is_host(std::string_view text) {
    if (text.starts_with('[')) take(text, text.find(']') + 1);
    const auto colon = text.find(':');
    return colon == std::string_view::npos || is_number(text.substr(colon + 1));
}

// An unescaped '/' or '?' in a password ends the authority early. The rest of the password is then
// in the path or in the options, and is no valid part of a URL.
bool may_have_split_password(const url_parts& parts) {
    if (!contains(parts.user_info, ':') && !contains(parts.hosts, ':')) return false;
    if (!contains(parts.path, '@') && !contains(parts.options, '@')) return false;
    if (!is_host(parts.hosts)) return true;
    const bool is_redis = parts.beginning == "redis://" || parts.beginning == "rediss://";
    if (is_redis && parts.path.size() > 1 && !is_number(parts.path.substr(1))) return true;
    for (auto options = parts.options; !options.empty();) {
        const auto option = take_option(options);
        if (!option.empty() && !contains(option, '=')) return true;
    }
    return false;
}

bool is_secret(std::string_view option) {
    const auto name = option.substr(0, option.find('='));
    return name == "password" || name == "sslpassword" || name == "secret" || name == "token";
}

int hex_digit(char digit) {
    const auto position = std::string_view("0123456789abcdefABCDEF").find(digit);
    if (position == std::string_view::npos) return -1;
    return static_cast<int>(position < 16 ? position : position - 6);
}

std::string decode(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low < 0) {
            plain += text[i];
            continue;
        }
        plain += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return plain;
}

}  // namespace

namespace {

// Also without the options for which the predicate is true.
template <class Predicate>
std::string strip(std::string_view url, const Predicate& is_left_out) {
    const auto parts = split(url);
    std::string clean_url(parts.beginning);
    const auto colon = parts.user_info.find(':');
    if (colon == std::string_view::npos)
        clean_url += parts.user_info;
    else if (colon > 0)
        clean_url.append(parts.user_info.substr(0, colon)).append(1, '@');
    clean_url.append(parts.hosts).append(parts.path);
    char separator = '?';
    for (auto options = parts.options; !options.empty();) {
        const auto option = take_option(options);
        if (is_left_out(option)) continue;
        clean_url.append(1, separator).append(option);
        separator = '&';
    }
    return clean_url;
}

}  // namespace

std::string without_password(std::string_view url) { return strip(url, is_secret); }

std::string without_password_places(std::string_view url) {
    return strip(url, [](std::string_view option) {
        const auto name = decode(option.substr(0, option.find('=')));
        return is_secret(option) || name.ends_with("password_file") ||
               name.ends_with("password_env");
    });
}

std::string hide_password(std::string_view text) {
    const auto end_of_scheme = text.find("://");
    if (end_of_scheme == std::string_view::npos) return std::string(text);
    const auto is_of_scheme = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '+' || each == '-' || each == '.';
    };
    auto begin = end_of_scheme;
    while (begin > 0 && is_of_scheme(text[begin - 1]))
        --begin;
    std::string result(text.substr(0, begin));
    const auto url = text.substr(begin);
    if (may_have_split_password(split(url)))
        result.append(url.substr(0, end_of_scheme - begin)).append(":***");
    else
        result += without_password(url);
    return result;
}

std::vector<std::string> variables_of(std::string_view url) {
    std::vector<std::string> names;
    for (auto options = split(url).options; !options.empty();) {
        const auto option = take_option(options);
        const auto equals = option.find('=');
        if (equals == std::string_view::npos || !decode(option.substr(0, equals)).ends_with("_env"))
            continue;
        names.push_back(decode(option.substr(equals + 1)));
    }
    return names;
}

void hide_passwords(int count, char** arguments) {
    // Linux stores the arguments one behind the other. Moving them together also hides the length
    // of the password.
    char* next = arguments[0];
    char* end = next;
    for (int i = 0; i < count && arguments[i] == end; ++i)
        end += std::strlen(arguments[i]) + 1;
    for (int i = 0; i < count; ++i) {
        const std::string hidden = hide_password(arguments[i]);
        const bool together = arguments[i] >= next && arguments[i] < end;
        const std::size_t before = std::strlen(arguments[i]);
        if (!together) {
            std::memset(arguments[i], 0, before);
            std::memcpy(arguments[i], hidden.c_str(), hidden.size());
            continue;
        }
        std::memcpy(next, hidden.c_str(), hidden.size() + 1);
        arguments[i] = next;
        next += hidden.size() + 1;
    }
    if (next < end) std::memset(next, 0, static_cast<std::size_t>(end - next));

    if (char* url = ::getenv("PAWL_URL")) {
        const std::string hidden = hide_password(url);
        std::memset(url, 0, std::strlen(url));
        std::memcpy(url, hidden.c_str(), hidden.size());
    }
}

}  // namespace pawl::cli
