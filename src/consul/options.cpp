// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "options.hpp"

#include "../core/util/url.hpp"
#include "../net/endpoint.hpp"
#include "../net/option_values.hpp"

#include <pawl/error.hpp>

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

constexpr std::size_t most_servers = 16;
constexpr duration longest_lock_delay = 60s;
constexpr duration longest_timeout = 10min;

bool is_plain(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
}

// Consul's HTTP API reads only clean paths.
bool is_clean_path(std::string_view path) noexcept {
    for (;;) {
        const auto end = path.find('/');
        const auto part = path.substr(0, end);
        if (part.empty() || part == "." || part == "..") return false;
        if (end == std::string_view::npos) return true;
        path.remove_prefix(end + 1);
    }
}

void check_servers(const options& settings) {
    if (settings.servers.empty() || settings.servers.size() > most_servers)
        throw error(errc::bad_option, "There are " + std::to_string(settings.servers.size()) +
                                          " servers; name 1 to 16.");
    for (const auto& each : settings.servers)
        if (each.host.empty() || each.port == 0 ||
            each.host.find_first_of(", \t\r\n") != std::string::npos)
            throw error(errc::bad_option, "The server '" + each.host + ":" +
                                              std::to_string(each.port) +
                                              "' needs a host, without commas and spaces, and a "
                                              "port above 0.");
}

void check_namespace(const std::string& name_space) {
    const bool is_good = name_space.size() <= 64 && std::ranges::all_of(name_space, is_plain) &&
                         is_clean_path(name_space);
    if (!is_good)
        throw error(errc::bad_option,
                    "The namespace '" + name_space +
                        "' must have 1 to 64 letters, digits, '_', '-', '.' and '/', and no empty "
                        "part, '.' or '..' between slashes.");
}

// A header has one line.
void check_token(const std::string& token) {
    const auto is_visible = [](char c) { return c > ' ' && c < 0x7f; };
    if (token.size() > 1024 || !std::ranges::all_of(token, is_visible))
        throw error(errc::bad_option,
                    "The token has blanks or other characters that no token of Consul has, or is "
                    "longer than 1024 bytes; see `consul acl token list`.");
}

}  // namespace

void check_options(const options& settings) {
    check_servers(settings);
    check_namespace(settings.name_space);
    check_token(settings.token);
    net::check_password(
        {settings.token, settings.token_file, static_cast<bool>(settings.credentials)}, "token");
    net::check_tls(settings.tls, "", net::advice_to_use("consuls://"));
    if (settings.lock_delay < duration{} || settings.lock_delay > longest_lock_delay)
        throw error(errc::bad_option, "lock_delay must be between 0 s and 60 s.");
    if (settings.connect_timeout < 1ms || settings.connect_timeout > longest_timeout)
        throw error(errc::bad_option, "connect_timeout must be between 1 ms and 10 min.");
}

std::string describe(const options& settings) {
    std::string text = settings.tls.enabled ? "consuls://" : "consul://";
    const std::uint16_t usual_port = settings.tls.enabled ? 8501 : 8500;
    for (const auto& each : settings.servers) {
        if (!text.ends_with('/')) text += ',';
        if (each.port == usual_port)
            text += each.host.find(':') == std::string::npos ? each.host : "[" + each.host + "]";
        else
            text += net::text_of(net::make_endpoint(each.host, each.port, settings.tls));
    }
    if (settings.name_space != options().name_space)
        core::append_option(text, "namespace", settings.name_space);
    return text;
}

}  // namespace pawl::consul
