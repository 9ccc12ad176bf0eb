// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"
#include "../core/util/duration_text.hpp"
#include "../core/util/url.hpp"
#include "../net/option_values.hpp"

#include <pawl/error.hpp>
#include <pawl/etcd.hpp>

#include <array>
#include <utility>

namespace pawl::etcd {
namespace {

constexpr core::duration_range timeouts{std::chrono::milliseconds(1), std::chrono::minutes(10),
                                        "1ms to 10min"};
constexpr std::array foreign_schemes{
    core::foreign_scheme{"etcd3", "; write etcd://HOST."},
    core::foreign_scheme{"etcd+http", "; Pawl uses etcd's gRPC: write etcd://HOST."},
    core::foreign_scheme{"etcd+https", "; Pawl uses etcd's gRPC: write etcds://HOST."}};

key_layout parse_layout(const std::string& value) {
    if (value == "native") return key_layout::native;
    if (value == "concurrency") return key_layout::concurrency;
    throw error(errc::bad_url, "The URL's option layout=" + value +
                                   " is unknown; use layout=native, or layout=concurrency for "
                                   "locks of `etcdctl lock` and of Go's package concurrency.");
}

void apply_option(options& target, const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
    if (net::apply_tls_option(target.tls, "", name, value, net::advice_to_use("etcds://"))) return;
    if (name == "namespace") {
        target.name_space = value;
    } else if (name == "layout") {
        target.layout = parse_layout(value);
    } else if (name == "password_file") {
        target.password_file = value;
    } else if (name == "password_env") {
        if (!target.password.empty()) throw net::several_passwords_error("");
        target.password = net::password_in_environment(value);
    } else if (name == "connect_timeout") {
        target.connect_timeout = core::parse_duration_option(name, value, timeouts);
    } else if (name == "reply_timeout") {
        target.reply_timeout = core::parse_duration_option(name, value, timeouts);
    } else {
        throw error(errc::bad_url, "The URL's option '" + name +
                                       "' is unknown; etcd:// has namespace, layout, "
                                       "password_file, password_env, connect_timeout and "
                                       "reply_timeout, and etcds:// also ca, cert, cert_key, "
                                       "cert_key_password_file, cert_key_password_env, verify "
                                       "and tls_name.");
    }
}

}  // namespace

options parse(std::string_view text) {
    const auto url = core::parse_url(text);
    options settings;
    settings.tls.enabled = url.scheme == "etcds";
    settings.user = url.user.value_or("");
    settings.password = url.password.value_or("");
    if (!url.hosts.empty()) settings.servers.clear();
    for (const auto& each : url.hosts) {
        server target;
        if (!each.host.empty()) target.host = each.host;
        if (each.port) target.port = *each.port;
        settings.servers.push_back(std::move(target));
    }
    if (url.path.size() > 1)
        throw error(errc::bad_url,
                    "An etcd:// URL has no path; the namespace of the keys is the "
                    "option namespace=NAME.");
    for (const auto& [name, value] : url.options)
        apply_option(settings, name, value);
    return settings;
}

service at(std::string_view url) { return at(parse(url)); }

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at, .foreign_schemes = foreign_schemes};

}  // namespace pawl::etcd
