// Starting the command, and finding what it left behind.
#pragma once

#include "descriptor.hpp"

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

struct process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool zombie = false;        // nothing of it runs any more
    std::uint64_t started = 0;  // in ticks since the boot: tells it from a later one; 0: not known
    std::string name;
};

[[nodiscard]] std::optional<process> read_process(pid_t pid);

// A file of /proc or of a cgroup; empty where it cannot be read, or its process ended meanwhile.
[[nodiscard]] std::string content_of(const std::string& path);

// How often this thread could not look into /proc or a cgroup because there was no descriptor or no
// memory left. Nobody knows what it would have seen.
[[nodiscard]] std::uint64_t refused_looks() noexcept;

// Everything that /proc shows; a process that ends meanwhile is left out.
[[nodiscard]] std::vector<process> all_processes();

struct command_line {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  // NAME=value
    int terminal = -1;   // where the new group becomes the foreground one; -1: it does not
    sigset_t signals{};  // its signal mask
    int cgroup = -1;     // the folder of the cgroup that it is born in; -1: the caller's
};

struct start_result {
    pid_t pid = 0;
    int error = 0;           // errno of exec; the process is then gone
    bool in_cgroup = false;  // it was born there
};

// Starts it as the leader of a new process group, killed when the calling process dies. The caller
// must have one thread only. Throws only when no process can be made.
[[nodiscard]] start_result start_command(const command_line& what);

// The caller's environment without `removed`, with `added`.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& removed,
                                                        const std::vector<std::string>& added);

// The names of the caller's variables that begin so.
[[nodiscard]] std::vector<std::string> variables_beginning_with(std::string_view prefix);

}  // namespace pawl::cli
