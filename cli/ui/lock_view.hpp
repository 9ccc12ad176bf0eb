// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How locks are shown to people and to programs.
#pragma once

#include "json.hpp"
#include "style.hpp"

#include <pawl/types.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::cli {

using fields = std::vector<std::pair<std::string_view, std::string>>;

// One object: name, held, mode, permits, free_permits, holder (or null), others, waiters; and
// `more`.
void write(json& out, const lock_info& lock, const fields& more = {});
void write(json& out, const holder& lock_holder);

// All holders: the longest one first, then the others in a fixed order.
[[nodiscard]] std::vector<holder> holders_of(const lock_info& lock);

// Whether the lock has a holder, even if the service does not know the holder.
[[nodiscard]] bool is_held(const lock_info& lock);

// The mode of one holder: "exclusive", "shared", or "2 of 5" if the total number of permits is
// known.
[[nodiscard]] std::string mode_text(const lock_info& lock, const holder& lock_holder);
// The mode of all holders, to be printed after "held"; empty for an exclusive holder.
[[nodiscard]] std::string mode_summary(const lock_info& lock);

// "web1/4711", or the owner of a holder that is not Pawl.
[[nodiscard]] std::string holder_text(const holder& lock_holder);
[[nodiscard]] std::string token_text(const holder& lock_holder);

// 2026-11-21T03:12:09.123Z, and 03:12:09 in the time zone of this host.
[[nodiscard]] std::string format_utc(std::chrono::system_clock::time_point when);
[[nodiscard]] std::string format_local_time(std::chrono::system_clock::time_point when);

// The time since `when`; never negative.
[[nodiscard]] duration time_since(std::chrono::system_clock::time_point when);

using lease_view = std::function<cell(const lock_info&, const holder&)>;

// The rest of the lease, in red if it is short.
[[nodiscard]] cell remaining_cell(const lock_info& lock, const holder& lock_holder);

// The mode of a lock without known holders: "free", "3 free".
[[nodiscard]] cell unheld_cell(const lock_info& lock);

// The table of `ls` and `watch`, with a line for each holder. `watch` shows the lease in another
// way.
[[nodiscard]] table lock_table(const std::vector<lock_info>& locks,
                               const lease_view& lease = remaining_cell);

}  // namespace pawl::cli
