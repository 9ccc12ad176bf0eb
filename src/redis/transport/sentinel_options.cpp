// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sentinel_options.hpp"

#include "../../net/option_values.hpp"

#include <pawl/error.hpp>

namespace pawl::redis {

bool apply_sentinel_option(options& server_options, const std::string& name,
                           const std::string& value) {
    if (!name.starts_with("sentinel_")) return false;
    auto* target = std::get_if<sentinels>(&server_options.where);
    if (target == nullptr)
        throw error(errc::bad_option,
                    "Only redis+sentinel:// has Sentinels; use it, or leave out " + name + ".");
    if (name == "sentinel_user")
        target->user = value;
    else if (name == "sentinel_password_file")
        target->password_file = value;
    else if (name == "sentinel_password_env")
        target->password = net::password_in_environment(value);
    else if (name == "sentinel_tls")
        target->tls.enabled = net::parse_yes_no(name, value);
    else
        // Whether the Sentinels have TLS is known only after all options.
        return net::apply_tls_option(target->tls, "sentinel_", name, value, {});
    return true;
}

void complete_sentinel_tls(options& server_options, const core::url& parsed) {
    auto* target = std::get_if<sentinels>(&server_options.where);
    if (target == nullptr) return;
    auto& tls = target->tls;
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

void check_sentinel_access(const sentinels& set) {
    net::check_password({set.password, set.password_file, static_cast<bool>(set.credentials)},
                        "sentinel_");
    net::check_tls(set.tls, "sentinel_", "The Sentinels have no TLS; add sentinel_tls=yes");
}

void check_sentinel_password(const options& server_options) {
    const auto* set = std::get_if<sentinels>(&server_options.where);
    if (set == nullptr || set->user.empty()) return;
    if (set->password.empty() && set->password_file.empty() && !set->credentials)
        throw error(errc::bad_option,
                    "sentinel_user has no password, so it would not be used; add "
                    "sentinel_password_file or sentinel_password_env, or leave out sentinel_user.");
}

}  // namespace pawl::redis
