// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "url.hpp"

#include <pawl/error.hpp>
#include <pawl/service.hpp>

#include <algorithm>
#include <charconv>

namespace pawl {
namespace core {
namespace {

int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decode(std::string_view text, const char* part) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            throw error(errc::bad_url,
                        std::string("A '%' in the ") + part +
                            " of the URL is not followed by two hex digits; write a plain "
                            "percent sign as %25.");
        plain += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return plain;
}

std::string encode(std::string_view text, std::string_view marks) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string result;
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        if (byte > 0x20 && byte != 0x7f && marks.find(each) == std::string_view::npos)
            result += each;
        else
            result.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    return result;
}

// Removes and returns the text before the first of `marks`; all of it if there is none.
std::string_view take_until(std::string_view& rest, std::string_view marks) {
    const auto end = std::min(rest.find_first_of(marks), rest.size());
    const auto head = rest.substr(0, end);
    rest.remove_prefix(end);
    return head;
}

// The part of a URL between "//" and the path or the options.
struct authority {
    std::string_view user_info;  // without the '@'
    bool has_user_info = false;
    std::string_view hosts;
};

// Removes the authority from the text behind "//". Splits it at the last '@': an unescaped one in a
// password must not move the rest of the password into the host.
authority take_authority(std::string_view& rest) {
    authority result;
    result.hosts = take_until(rest, "/?");
    const auto at = result.hosts.rfind('@');
    if (at == std::string_view::npos) return result;
    result.has_user_info = true;
    result.user_info = result.hosts.substr(0, at);
    result.hosts.remove_prefix(at + 1);
    return result;
}

void parse_user(std::string_view text, url& result) {
    const auto colon = text.find(':');
    if (const auto user = text.substr(0, colon); !user.empty()) result.user = decode(user, "user");
    if (colon != std::string_view::npos)
        result.password = decode(text.substr(colon + 1), "password");
}

bool is_blank_or_control(char each) noexcept {
    const auto byte = static_cast<unsigned char>(each);
    return byte <= 0x20 || byte == 0x7f;
}

bool is_bare_ipv6(std::string_view text) {
    return std::ranges::count(text, ':') > 1 &&
           text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

host_port parse_host(std::string_view text) {
    host_port result;
    if (is_bare_ipv6(text))
        throw error(errc::bad_url,
                    "The URL's IPv6 address has no brackets; write [::1], or [::1]:6379.");
    if (!text.empty() && text.front() == '[') {
        const auto end = text.find(']');
        if (end == std::string_view::npos)
            throw error(errc::bad_url,
                        "The URL's IPv6 address has no closing bracket; write [::1].");
        result.host = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
    } else {
        result.host = decode(take_until(text, ":"), "host");
    }
    if (std::ranges::any_of(result.host, is_blank_or_control))
        throw error(errc::bad_url,
                    "A host in the URL contains a blank or a control character; write "
                    "host1,host2:port without blanks.");
    if (text.empty()) return result;
    if (std::ranges::any_of(text, is_blank_or_control))
        throw error(errc::bad_url,
                    "The URL contains a blank or a control character behind a port; remove it.");
    unsigned port = 0;
    const auto digits = text.substr(1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (text.front() != ':' || parsed.ec != std::errc{} ||
        parsed.ptr != digits.data() + digits.size() || port == 0 || port > 65535)
        // The text is not quoted: after an unescaped '/' in a password, it may be the password's
        // beginning.
        throw error(
            errc::bad_url,
            "The URL's port is not a number from 1 to 65535; write host:port, and a '/', '?', "
            "'#' or '%' of a password as %2F, %3F, %23 or %25.");
    result.port = static_cast<std::uint16_t>(port);
    return result;
}

bool may_have_groups(std::string_view scheme) noexcept {
    return scheme == "redlock" || scheme == "redlocks";
}

host_group parse_group(std::string_view text, std::string_view scheme) {
    constexpr const char* form =
        "a node of Redlock whose master Sentinels name is NAME=SENTINEL1+SENTINEL2+SENTINEL3";
    if (!may_have_groups(scheme))
        throw error(errc::bad_url,
                    "A host in the URL contains a '='; only redlock:// takes "
                    "NAME=SENTINEL1+SENTINEL2, for a node with Sentinels.");
    host_group result;
    result.name = decode(take_until(text, "="), "host");
    if (result.name.empty() || std::ranges::any_of(result.name, is_blank_or_control))
        throw error(
            errc::bad_url,
            std::string("The URL has a '=' without the name of a master before it; ") + form + ".");
    while (!text.empty()) {
        text.remove_prefix(1);  // '=' or '+'
        result.hosts.push_back(parse_host(take_until(text, "+")));
        if (result.hosts.back().host.empty())
            throw error(errc::bad_url, "The master " + result.name +
                                           " in the URL has an empty Sentinel; " + form + ".");
    }
    return result;
}

void parse_hosts(std::string_view text, url& result) {
    if (text.empty()) return;
    const bool is_list = text.find(',') != std::string_view::npos;
    for (bool has_more = true; has_more;) {
        const auto entry = take_until(text, ",");
        const bool is_group = entry.find('=') != std::string_view::npos;
        if (is_group)
            result.groups.push_back(parse_group(entry, result.scheme));
        else
            result.hosts.push_back(parse_host(entry));
        if (is_list && !is_group && result.hosts.back().host.empty())
            throw error(errc::bad_url,
                        "The URL's list of hosts has an empty entry; write host1,host2:port.");
        has_more = !text.empty();
        if (has_more) text.remove_prefix(1);
    }
}

// A duplicate option is an error, because it would be unclear which value counts.
void throw_if_duplicate(const url& parsed, std::string_view name) {
    for (const auto& [known, value] : parsed.options) {
        if (known == name)
            throw error(errc::bad_option,
                        "The URL has the option '" + known + "' twice; give it once.");
    }
}

void parse_options(std::string_view text, url& result) {
    while (!text.empty()) {
        text.remove_prefix(1);  // '?' or '&'
        const auto pair = take_until(text, "&");
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos)
            throw error(errc::bad_url,
                        "An option of the URL has no value; write name=value, with '&' between two "
                        "options.");
        auto name = decode(pair.substr(0, equals), "options");
        throw_if_duplicate(result, name);
        result.options.emplace_back(std::move(name), decode(pair.substr(equals + 1), "options"));
    }
}

}  // namespace

host_port single_host(const url& parsed) {
    if (parsed.hosts.size() > 1)
        throw error(errc::bad_url, "The URL names several servers; " + parsed.scheme +
                                       ": takes only one, so name one of them.");
    return parsed.hosts.empty() ? host_port{} : parsed.hosts.front();
}

std::string encode_path(std::string_view path) { return encode(path, "%?#"); }

void append_option(std::string& url, std::string_view name, std::string_view value) {
    url += url.find('?') == std::string::npos ? '?' : '&';
    url.append(name).append("=").append(encode(value, "%&#+"));
}

std::string_view scheme_of(std::string_view text) noexcept {
    const auto end = text.find(':');
    return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

url parse_url(std::string_view text) {
    url parsed;
    parsed.scheme = scheme_of(text);
    if (parsed.scheme.empty())
        throw error(errc::bad_url,
                    "The URL has no scheme; begin with one, as in redis://host or memory:.");
    text.remove_prefix(parsed.scheme.size() + 1);
    if (text.starts_with("//")) {
        text.remove_prefix(2);
        const auto parts = take_authority(text);
        if (parts.has_user_info) parse_user(parts.user_info, parsed);
        parse_hosts(parts.hosts, parsed);
    }
    parsed.path = decode(take_until(text, "?"), "path");
    parse_options(text, parsed);
    return parsed;
}

namespace {

bool is_parsed(std::string_view text) {
    try {
        static_cast<void>(parse_url(text));
        return true;
    } catch (const error&) {
        return false;
    }
}

// For a URL that is not parsed, the last '@' may be the end of a password with an unescaped '/' or
// '?'. Nothing behind the scheme is then shown.
std::string without_user_info(std::string_view text) {
    const auto scheme = scheme_of(text);
    auto rest = text.substr(scheme.size());
    if (!rest.starts_with("://")) return std::string(text);
    rest.remove_prefix(3);
    const auto hosts = take_authority(rest).hosts;
    if (rest.find('@') != std::string_view::npos && !is_parsed(text))
        return std::string(scheme) + ":***";
    return std::string(scheme).append("://").append(hosts).append(rest);
}

}  // namespace
}  // namespace core

std::string redacted(std::string_view url) {
    auto text = core::without_user_info(url);
    // A password can also be an option.
    for (auto option = text.find("password="); option != std::string::npos;
         option = text.find("password=", option + 12)) {
        const auto value = option + 9;
        text.replace(value, std::min(text.find('&', value), text.size()) - value, "***");
    }
    return text;
}

}  // namespace pawl
