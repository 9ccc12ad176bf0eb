// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Values of a URL's options.
#pragma once

#include "../core/util/url.hpp"

#include <pawl/error.hpp>
#include <pawl/tls.hpp>

#include <string>
#include <string_view>

namespace pawl::net {

// True: the URL has an option of this name.
[[nodiscard]] bool has_option(const core::url& parsed, std::string_view name);
// True: after `prefix`, the name is that of an option of TLS, which was applied. Throws
// errc::bad_url for a bad value. `tls_advice`: throws errc::bad_option if there is no TLS, with
// this advice; empty: `check_tls` finds that later.
[[nodiscard]] bool apply_tls_option(tls_options& target, std::string_view prefix,
                                    const std::string& name, const std::string& value,
                                    std::string_view tls_advice);
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
// The usual `tls_advice`: "Only rediss:// has TLS; use it".
[[nodiscard]] std::string advice_to_use(std::string_view scheme_with_tls);
// `prefix`: of the options' names in messages. `tls_advice`: for an option that has no effect
// without TLS. Throws errc::bad_option.
void check_tls(const tls_options& tls, const std::string& prefix, std::string_view tls_advice);

// Returns the file's first line. `secret` is "password" or "pass phrase", and `option` names the
// file in the URL, for messages. Throws errc::bad_option for a file that cannot be read, whose
// first line is empty or too long, or that everybody may read, unless its file system is mounted
// read-only.
[[nodiscard]] std::string read_secret_file(const std::string& path, const std::string& secret,
                                           const std::string& option);

}  // namespace pawl::net
