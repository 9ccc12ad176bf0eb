// The processes below another process, at any depth, whatever group or session they are in.
#pragma once

#include "processes.hpp"
#include "pursuit.hpp"

#include <string_view>
#include <vector>

namespace pawl::cli {

// False where /proc shows the numbers of another PID namespace, or is not there: a number in it
// may then belong to any process here.
[[nodiscard]] bool proc_is_ours();

// The living descendants of `root`, without the `spared` and what is below them. Orphans below
// `root` must become its children (PR_SET_CHILD_SUBREAPER). Then the result is empty only if there
// was a moment at which nothing lived below `root`, however its descendants fork and end meanwhile.
[[nodiscard]] std::vector<process> living_descendants(pid_t root, const membership& spared);

[[nodiscard]] std::vector<process> living_descendants(pid_t root);

// Those of `all` below `root`, with the zombies, as far as it shows how they hang together.
[[nodiscard]] std::vector<process> all_below(pid_t root, const membership& spared,
                                             const std::vector<process>& all);

// Follows the parents of one process, which may end meanwhile.
[[nodiscard]] bool descends_from(pid_t root, const membership& spared, process each);

// It has `text` in the value of the environment variable `name`, as far as /proc shows environments
// to this user.
[[nodiscard]] bool has_variable(pid_t pid, std::string_view name, std::string_view text);

enum class signal_result { sent, gone, not_permitted };
// Reaches this process and no later one with its number. Signal 0 only asks.
signal_result send_signal(const process& to, int signal) noexcept;

}  // namespace pawl::cli
