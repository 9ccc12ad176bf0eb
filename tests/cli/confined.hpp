// Surroundings in which less is allowed, and what can be seen of processes from outside.
#pragma once

#include "command.hpp"

namespace cli_test {

// What to put before a command that must find no cgroup where it may write. Empty where the tests
// run without root: then there is none either way.
[[nodiscard]] words without_cgroups();

// The same for a PID namespace of its own over the /proc of this one.
[[nodiscard]] words in_a_pid_namespace();
// The same for a time namespace whose boot clock is ahead by so many seconds.
[[nodiscard]] words with_boot_clock_ahead(const std::string& seconds);
// The same for a user who owns nothing; the tests must run as root.
[[nodiscard]] words as_nobody();

// A living heartbeat that was started with `argument`; 0 where there is none.
[[nodiscard]] pid_t any_with(const std::string& argument);

// The line of cgroup v2 in /proc/PID/cgroup.
[[nodiscard]] std::string cgroup_of(pid_t process);
// The cgroups that a pawl with this number made and left.
[[nodiscard]] std::vector<std::string> leftover_cgroups(pid_t pawl);

}  // namespace cli_test
