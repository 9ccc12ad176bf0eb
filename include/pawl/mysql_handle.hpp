// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How each connection to MySQL is set up: for the locks, and for the records of the layers behind
// them. Standard headers only.
#pragma once

#include <pawl/mysql.hpp>

#include <string>

// libmariadb's MYSQL.
struct st_mysql;

namespace pawl::mysql {

// Of a handle that is not connected yet: character set, TLS and which ways of logging in are safe.
// `tls` must outlive the attempt.
void set_up_handle(st_mysql* handle, const tls_options& tls);

// The password, which is read from its file anew. Throws errc::refused and errc::bad_option for a
// file that cannot be used, or that others may read.
[[nodiscard]] std::string password_of(const options& settings);

}  // namespace pawl::mysql
