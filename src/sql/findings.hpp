// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `doctor` finds alike in every database.
#pragma once

#include <pawl/examination.hpp>
#include <pawl/options.hpp>

#include <string>
#include <string_view>

namespace pawl::sql {

// `advised` is the option that turns TLS on.
[[nodiscard]] finding tls_finding(bool has_tls, bool is_remote, std::string_view advised);
// Positive: the server's clock is ahead of this host's.
[[nodiscard]] finding clock_finding(duration offset);
// Adds how long the server grants nothing after a failover, if it does not.
void add_pause(examination& result, duration hold_off);
// All findings are about this server.
void set_server(examination& result, const std::string& name, const std::string& role);

}  // namespace pawl::sql
