// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "options.hpp"

#include "../core/util/url.hpp"
#include "../net/endpoint.hpp"
#include "../net/option_values.hpp"

#include <pawl/error.hpp>

#include <algorithm>

namespace pawl::etcd {
namespace {

constexpr std::size_t most_servers = 16;
constexpr std::size_t longest_name_space = 64;
// Without a bound, a very long timeout would overflow when it is added to the present time.
constexpr duration longest_timeout = std::chrono::hours(24);

bool has_control_characters(std::string_view text) {
    return std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 32 || byte == 127;
    });
}

}  // namespace

void check_options(const options& settings) {
    if (settings.servers.empty() || settings.servers.size() > most_servers)
        throw error(errc::bad_option, "etcd has 1 to 16 members in the options, not " +
                                          std::to_string(settings.servers.size()) +
                                          "; name some of them.");
    for (const auto& each : settings.servers)
        if (each.host.empty() || each.port == 0)
            throw error(errc::bad_option,
                        "A member of etcd needs a host and a port; write HOST:2379.");
    if (settings.name_space.empty() || settings.name_space.size() > longest_name_space ||
        has_control_characters(settings.name_space))
        throw error(errc::bad_option,
                    "The namespace must have 1 to 64 characters and no control characters.");
    if (settings.user.empty() && !settings.password.empty())
        throw error(errc::bad_option,
                    "There is a password without a user; write etcd://USER:PASSWORD@HOST.");
    net::check_password(
        {settings.password, settings.password_file, static_cast<bool>(settings.credentials)}, "");
    if (settings.user.empty() && !settings.password_file.empty())
        throw error(errc::bad_option,
                    "There is a password file without a user; write etcd://USER@HOST.");
    net::check_tls(settings.tls, "", net::advice_to_use("etcds://"));
    for (const auto timeout : {settings.connect_timeout, settings.reply_timeout})
        if (timeout <= duration{} || timeout > longest_timeout)
            throw error(errc::bad_option,
                        "connect_timeout and reply_timeout must be above 0, and 24 h at the most.");
}

std::string describe(const options& settings) {
    std::string text = settings.tls.enabled ? "etcds://" : "etcd://";
    for (const auto& each : settings.servers)
        text += (&each == &settings.servers.front() ? "" : ",") +
                net::text_of({.host = each.host, .port = each.port});
    if (settings.name_space != options{}.name_space)
        core::append_option(text, "namespace", settings.name_space);
    if (settings.layout == key_layout::concurrency)
        core::append_option(text, "layout", "concurrency");
    return text;
}

}  // namespace pawl::etcd
