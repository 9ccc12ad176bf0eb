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
// The second method is a race that is repeated until it is won. It has no time limit.
#pragma once

#include "processes.hpp"

#include <vector>

namespace pawl::cli {

// The living members among the youngest processes.
[[nodiscard]] std::vector<process> youngest_members(const process_predicate& is_member);

// The process groups of `targets`, alive or zombie, that contain no other living process of `all`.
// Never the group of the calling process.
[[nodiscard]] std::vector<pid_t> groups_within(const std::vector<process>& targets,
                                               const std::vector<process>& all);

// Sends SIGKILL to `targets`, which are part of `all`: first to their groups, then to each process.
// The groups of zombies are included, because a child that no walk has seen may be in them.
void kill_with_groups(const std::vector<process>& targets, const std::vector<process>& all);

// Sends SIGKILL to the members among the youngest processes until none of them lives. Ends after a
// limited number of rounds.
void kill_until_gone(const process_predicate& is_member);

}  // namespace pawl::cli
