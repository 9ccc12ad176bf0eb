// How a lock is shown, to people and to programs.
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
void write(json& to, const lock_info& what, const fields& more = {});
void write(json& to, const holder& what);

// All who hold it: the one who was first, then the others, always in the same order.
[[nodiscard]] std::vector<holder> holders_of(const lock_info& what);

// Somebody has it, also where the service does not know who.
[[nodiscard]] bool is_held(const lock_info& what);

// What one holder has: "exclusive", "shared", "2 of 5" where five permits are known.
[[nodiscard]] std::string mode_text(const lock_info& what, const holder& by);
// Of all holders, behind the word "held"; empty for the exclusive one.
[[nodiscard]] std::string mode_summary(const lock_info& what);

// "web1/4711", or what is known of a holder that is not Pawl.
[[nodiscard]] std::string who(const holder& what);
[[nodiscard]] std::string token_text(const holder& what);

// 2026-11-21T03:12:09.123Z, and 03:12:09 on this host's clock.
[[nodiscard]] std::string utc(std::chrono::system_clock::time_point when);
[[nodiscard]] std::string local_time(std::chrono::system_clock::time_point when);

// How long ago; never below zero.
[[nodiscard]] duration ago(std::chrono::system_clock::time_point when);

using lease_view = std::function<cell(const lock_info&, const holder&)>;

// What remains of the lease; red when little does.
[[nodiscard]] cell remaining_cell(const lock_info& what, const holder& by);

// The mode of what nobody is known to hold: "free", "3 free".
[[nodiscard]] cell unheld_cell(const lock_info& what);

// The columns of `ls` and `watch`, which shows the lease in its own way; a line for each holder.
[[nodiscard]] table lock_table(const std::vector<lock_info>& locks,
                               const lease_view& lease = remaining_cell);

}  // namespace pawl::cli
