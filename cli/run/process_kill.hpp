// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Killing processes that fork and end faster than a walk over /proc can follow them.
//
// A walk sees a process at one instant and signals it later. If the process has forked and ended in
// between, its child continues. Two methods work without a cgroup:
//
//   - The kernel signals a process group as a whole. No fork can add a member meanwhile, and a
//     process with a pending SIGKILL completes no fork. So a chain of processes within one group
//     ends at the first signal, however fast it forks.
//   - A chain that changes its group in each generation is found by its process numbers. The kernel
//     reports the newest number, and reading the processes below it takes microseconds instead of
//     the milliseconds of a walk.
//
// The second method is a race. kill_until_gone runs a limited number of rounds, and its callers
// repeat it as long as a process may be left.
#pragma once

#include "processes.hpp"

#include <vector>

namespace pawl::cli {

// The living processes among the youngest for which `is_wanted` is true.
[[nodiscard]] std::vector<process> youngest_processes(const process_predicate& is_wanted);

// The process groups of `targets`, alive or zombie, that contain no other living process of `all`.
// Never the group of the calling process.
[[nodiscard]] std::vector<pid_t> groups_within(const std::vector<process>& targets,
                                               const std::vector<process>& all);

// Sends SIGKILL to `targets`, which are part of `all`: first to their groups, then to each process.
// The groups of zombies are included, because a child that no walk has seen may be in them.
void kill_with_groups(const std::vector<process>& targets, const std::vector<process>& all);

// Kills those of the youngest processes for which `belongs_to_command` is true, until one round
// finds none, or 200 rounds are over. A chain of forks may still be one step ahead: the caller
// repeats.
void kill_until_gone(const process_predicate& belongs_to_command);

}  // namespace pawl::cli
