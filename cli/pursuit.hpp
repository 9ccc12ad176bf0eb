// Killing processes that fork and end faster than a walk over /proc can follow them.
//
// A walk sees a process at one instant and signals it at a later one. If it has forked and ended
// between the two, its child runs on. Two means work without a cgroup:
//
//   - The kernel signals a process group as a whole: no fork can add a member meanwhile, and a
//     process that has SIGKILL pending completes no fork. So a chain of processes within one group
//     ends at the first signal, however fast it forks.
//   - A chain that leaves its group in each generation is pursued by its numbers: the kernel tells
//     the newest one, and looking there takes microseconds where a walk takes milliseconds.
//
// The second is a race that is run again until it is won; there is no bound for its duration.
#pragma once

#include "processes.hpp"

#include <functional>
#include <vector>

namespace pawl::cli {

using membership = std::function<bool(const process&)>;

// The living members among the youngest processes.
[[nodiscard]] std::vector<process> youngest(const membership& is_member);

// The process groups of `some`, dead or alive, in which no other living process of `all` is. Never
// that of the calling process.
[[nodiscard]] std::vector<pid_t> groups_within(const std::vector<process>& some,
                                               const std::vector<process>& all);

// SIGKILL to `some`, all of which `all` has: their groups first, then each by itself. The group of
// a zombie counts, too: its child may be in it, which no walk has seen yet.
void kill_with_groups(const std::vector<process>& some, const std::vector<process>& all);

// SIGKILL to the members among the youngest processes, until a look at them finds none that lives.
// It ends after some looks in any case.
void pursue(const membership& is_member);

}  // namespace pawl::cli
