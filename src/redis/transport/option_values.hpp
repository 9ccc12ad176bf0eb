// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Values of a URL's options.
#pragma once

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <string>

namespace pawl::redis {

// "yes" or "no". Throws errc::bad_url.
[[nodiscard]] bool parse_yes_no(const std::string& name, const std::string& value);
// The password in the file or environment variable that the value of an option names, whose name
// ends in _file or _env. Throws errc::bad_option.
[[nodiscard]] std::string read_password(const std::string& name, const std::string& value);
// Throws errc::bad_option if there is a password already. `places` are those that it may come from.
void set_password(std::string& target, std::string password, const std::string& places);
// The error for an option that has no effect without TLS.
[[nodiscard]] error tls_required_error(const std::string& option, const std::string& prefix);
// `prefix`: of the options' names in messages. Throws errc::bad_option.
void check_tls(const tls_options& tls, const std::string& prefix);

}  // namespace pawl::redis
