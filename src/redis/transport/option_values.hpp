// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Values of a URL's options.
#pragma once

#include "../../core/util/url.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

// True: the URL has an option of this name.
[[nodiscard]] bool has_option(const core::url& parsed, std::string_view name);
// True: after `prefix`, the name is that of an option of TLS, which was applied. Throws
// errc::bad_url for a bad value. `scheme_with_tls`: throws errc::bad_option if there is no TLS, and
// names this scheme; null: `check_tls` finds that later.
[[nodiscard]] bool apply_tls_option(tls_options& target, std::string_view prefix,
                                    const std::string& name, const std::string& value,
                                    const char* scheme_with_tls);
// "yes" or "no". Throws errc::bad_url.
[[nodiscard]] bool parse_yes_no(const std::string& name, const std::string& value);
// The password in this environment variable. Throws errc::bad_option if it is not set.
[[nodiscard]] std::string password_in_environment(const std::string& variable);
// Where a password may come from.
struct password_places {
    const std::string& password;
    const std::string& file;
    bool has_function;
};
// Throws errc::bad_option unless there is at most one, and for a file that cannot be used.
// `prefix`: of the options' names in messages.
void check_password(const password_places& places, const std::string& prefix);
// The error for a password from two places.
[[nodiscard]] error several_passwords_error(const std::string& prefix);
// The error for an option that has no effect without TLS. `scheme_with_tls`: null for an option of
// the Sentinels.
[[nodiscard]] error tls_required_error(const std::string& option, const char* scheme_with_tls);
// `prefix`: of the options' names in messages. Throws errc::bad_option.
void check_tls(const tls_options& tls, const std::string& prefix, const char* scheme_with_tls);

}  // namespace pawl::redis
