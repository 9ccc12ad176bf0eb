// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The descendants of a process, at any depth, in any group or session.
#pragma once

#include "processes.hpp"

#include <string_view>
#include <vector>

namespace pawl::cli {

// False if /proc shows the numbers of another PID namespace, or is not mounted. A number in it may
// then belong to any process of this namespace.
[[nodiscard]] bool proc_shows_own_namespace();

// The living descendants of `root`, except the `excluded` processes and their descendants. Orphans
// below `root` must become children of `root` (PR_SET_CHILD_SUBREAPER). The result is empty only if
// at some moment nothing lived below `root`, however the descendants fork and end meanwhile.
[[nodiscard]] std::vector<process> living_descendants(pid_t root,
                                                      const process_predicate& excluded);

[[nodiscard]] std::vector<process> living_descendants(pid_t root);

// The descendants of `root` among `all`, including zombies, as far as the parents in `all` show
// them.
[[nodiscard]] std::vector<process> all_below(pid_t root, const process_predicate& excluded,
                                             const std::vector<process>& all);

// Follows the parents of one process, which may end meanwhile.
[[nodiscard]] bool descends_from(pid_t root, const process_predicate& excluded, process each);

// Whether the environment variable `name` of the process contains `text`, as far as /proc shows
// environments to this user.
[[nodiscard]] bool has_variable(pid_t pid, std::string_view name, std::string_view text);

}  // namespace pawl::cli
