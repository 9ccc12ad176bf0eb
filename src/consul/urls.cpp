// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"
#include "../core/util/duration_text.hpp"
#include "../core/util/url.hpp"
#include "../net/option_values.hpp"

#include <pawl/consul.hpp>
#include <pawl/error.hpp>

#include <array>
#include <utility>

namespace pawl::consul {
namespace {

constexpr std::string_view advice = "; Consul is consul://HOST, or consuls://HOST with TLS.";
constexpr std::array foreign_schemes{core::foreign_scheme{"consul+http", advice},
                                     core::foreign_scheme{"consul+https", advice},
                                     core::foreign_scheme{"consul+tls", advice}};

constexpr core::duration_range lock_delays{duration{}, std::chrono::seconds(60), "0s to 60s"};
constexpr core::duration_range timeouts{std::chrono::milliseconds(1), std::chrono::minutes(10),
                                        "1ms to 10min"};
constexpr std::uint16_t tls_port = 8501;

void apply_option(options& target, const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
    if (net::apply_tls_option(target.tls, "", name, value, net::advice_to_use("consuls://")))
        return;
    if (name == "namespace")
        target.name_space = value;
    else if (name == "lock_delay")
        target.lock_delay = core::parse_duration_option(name, value, lock_delays);
    else if (name == "connect_timeout")
        target.connect_timeout = core::parse_duration_option(name, value, timeouts);
    else if (name == "token_file")
        target.token_file = value;
    else if (name == "token_env" && target.token.empty())
        target.token = net::password_in_environment(value);
    else if (name == "token_env")
        throw error(errc::bad_option,
                    "The URL has a token from more than one place; keep one of the URL itself, "
                    "token_file and token_env.");
    else if (name == "token" || name == "password")
        throw error(errc::bad_url,
                    "The URL's option '" + name +
                        "' is unknown; write consul://:TOKEN@HOST, or name a file by token_file, "
                        "or a variable by token_env.");
    else
        throw error(errc::bad_url,
                    "The URL's option '" + name +
                        "' is unknown; known are namespace, lock_delay, connect_timeout, "
                        "token_file, token_env and, with consuls://, ca, cert, cert_key, "
                        "cert_key_password_file, cert_key_password_env, verify and tls_name.");
}

}  // namespace

options parse(std::string_view text) {
    const auto url = core::parse_url(text);
    options settings;
    settings.tls.enabled = url.scheme == "consuls";
    if (url.user && !url.user->empty())
        throw error(errc::bad_url,
                    "Consul has tokens and no users; write " + url.scheme + "://:TOKEN@HOST.");
    settings.token = url.password.value_or("");
    if (url.hosts.empty())
        throw error(errc::bad_url, "The URL names no host; write " + url.scheme + "://HOST.");
    settings.servers.clear();
    for (const auto& each : url.hosts) {
        server target;
        if (!each.host.empty()) target.host = each.host;
        if (settings.tls.enabled) target.port = tls_port;
        if (each.port) target.port = *each.port;
        settings.servers.push_back(std::move(target));
    }
    if (url.path.size() > 1)
        throw error(errc::bad_url,
                    "A URL of Consul has no path; give the beginning of the keys by "
                    "?namespace=" +
                        url.path.substr(1) + ".");
    for (const auto& [name, value] : url.options)
        apply_option(settings, name, value);
    return settings;
}

service at(std::string_view url) { return at(parse(url)); }

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at, .foreign_schemes = foreign_schemes};

}  // namespace pawl::consul
