// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Environments with fewer permissions, and what can be seen of processes from outside.
#pragma once

#include "command.hpp"

namespace cli_test {

// The prefix for a command that must not find a writable cgroup. Empty without root: then there is
// none anyway.
[[nodiscard]] words without_cgroups();

// The prefix for a new PID namespace with the /proc of this one.
[[nodiscard]] words in_a_pid_namespace();
// The prefix for a time namespace whose boot clock is ahead by `seconds`.
[[nodiscard]] words with_boot_clock_ahead(const std::string& seconds);
// The prefix for an unprivileged user. The tests must run as root.
[[nodiscard]] words as_nobody();

// A living heartbeat process that was started with `argument`, or 0.
[[nodiscard]] pid_t heartbeat_with_argument(const std::string& argument);

// The line of cgroup v2 in /proc/PID/cgroup.
[[nodiscard]] std::string cgroup_of(pid_t process);
// The cgroups that a pawl with this process number left.
[[nodiscard]] std::vector<std::string> leftover_cgroups(pid_t pawl);

}  // namespace cli_test
