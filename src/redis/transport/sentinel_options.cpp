// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sentinel_options.hpp"

#include "../../net/endpoint.hpp"
#include "../../net/option_values.hpp"

#include <pawl/error.hpp>

#include <algorithm>

namespace pawl::redis {
namespace {

constexpr std::size_t max_addresses = 16;

error missing_master_error() {
    return {errc::bad_url,
            "The URL names no master; write redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME, with "
            "the name of the Sentinels' configuration."};
}

}  // namespace

bool is_sentinel_scheme(std::string_view scheme) noexcept {
    return scheme == "redis+sentinel" || scheme == "rediss+sentinel";
}

std::string apply_sentinels(options& server_options, const core::url& parsed) {
    auto& target = server_options.sentinel;
    if (parsed.hosts.empty())
        throw error(errc::bad_url,
                    "The URL names no Sentinel; write redis+sentinel://HOST1,HOST2,HOST3/"
                    "MASTER-NAME.");
    for (const auto& each : parsed.hosts) {
        sentinel_address address;
        address.host = each.host;
        if (each.port) address.port = *each.port;
        target.addresses.push_back(std::move(address));
    }
    if (parsed.path.size() < 2) throw missing_master_error();
    const auto end = std::min(parsed.path.find('/', 1), parsed.path.size());
    target.master_name = parsed.path.substr(1, end - 1);
    if (target.master_name.empty()) throw missing_master_error();
    server_options.tls.enabled = parsed.scheme == "rediss+sentinel";
    return parsed.path.substr(end);
}

bool apply_sentinel_option(options& server_options, const std::string& name,
                           const std::string& value) {
    auto& target = server_options.sentinel;
    if (!name.starts_with("sentinel_")) return false;
    if (target.addresses.empty())
        throw error(errc::bad_option,
                    "Only redis+sentinel:// has Sentinels; use it, or leave out " + name + ".");
    if (name == "sentinel_user")
        target.user = value;
    else if (name == "sentinel_password_file")
        target.password_file = value;
    else if (name == "sentinel_password_env")
        target.password = net::password_in_environment(value);
    else if (name == "sentinel_tls")
        target.tls.enabled = net::parse_yes_no(name, value);
    else
        // Whether the Sentinels have TLS is known only after all options.
        return net::apply_tls_option(target.tls, "sentinel_", name, value, {});
    return true;
}

void complete_sentinel_tls(options& server_options, const core::url& parsed) {
    auto& tls = server_options.sentinel.tls;
    if (!net::has_option(parsed, "sentinel_tls")) tls.enabled = server_options.tls.enabled;
    if (!tls.enabled || !server_options.tls.enabled) return;
    if (tls.ca_file.empty()) tls.ca_file = server_options.tls.ca_file;
    if (tls.cert_file.empty() && tls.key_file.empty()) {
        tls.cert_file = server_options.tls.cert_file;
        tls.key_file = server_options.tls.key_file;
        if (tls.key_password.empty() && tls.key_password_file.empty()) {
            tls.key_password = server_options.tls.key_password;
            tls.key_password_file = server_options.tls.key_password_file;
        }
    }
    if (!net::has_option(parsed, "sentinel_verify")) tls.verify = server_options.tls.verify;
}

void check_sentinel_options(const options& server_options) {
    const auto& set = server_options.sentinel;
    if (set.addresses.empty()) {
        if (!(set.master_name.empty() && set.user.empty() && set.password.empty() &&
              set.password_file.empty()) ||
            set.tls.enabled || set.credentials)
            throw error(errc::bad_option,
                        "There are options for Sentinels, but no Sentinel's address; give one.");
        return;
    }
    const options defaults;
    if (server_options.host != defaults.host || server_options.port != defaults.port ||
        !server_options.unix_socket.empty())
        throw error(errc::bad_option,
                    "The Sentinels name the server's host and port; leave out host, port and "
                    "unix_socket.");
    if (set.master_name.empty())
        throw error(errc::bad_option,
                    "The Sentinels' name of the master is missing; give master_name.");
    if (set.addresses.size() > max_addresses)
        throw error(errc::bad_option,
                    "There are more than 16 Sentinels; give the addresses of some "
                    "of them, which know the others.");
    for (const auto& each : set.addresses)
        if (each.host.empty())
            throw error(errc::bad_option,
                        "A Sentinel's address has no host; give a host for each.");
    net::check_password({set.password, set.password_file, static_cast<bool>(set.credentials)},
                        "sentinel_");
    net::check_tls(set.tls, "sentinel_", "The Sentinels have no TLS; add sentinel_tls=yes");
}

void check_sentinel_password(const options& server_options) {
    const auto& set = server_options.sentinel;
    if (!set.user.empty() && set.password.empty() && set.password_file.empty() && !set.credentials)
        throw error(errc::bad_option,
                    "sentinel_user has no password, so it would not be used; add "
                    "sentinel_password_file or sentinel_password_env, or leave out sentinel_user.");
}

std::string describe_sentinels(const options& server_options) {
    std::string text = server_options.tls.enabled ? "rediss+sentinel://" : "redis+sentinel://";
    bool is_first = true;
    for (const auto& each : server_options.sentinel.addresses) {
        if (!std::exchange(is_first, false)) text += ",";
        text += text_of(net::endpoint{each.host, each.port});
    }
    return text + "/" + core::encode_path(server_options.sentinel.master_name) + "/" +
           std::to_string(server_options.database);
}

}  // namespace pawl::redis
