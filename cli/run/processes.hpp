// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reading processes from /proc, and starting the command.
#pragma once

#include "../ui/descriptor.hpp"

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

struct process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool zombie = false;        // all of its threads have ended
    std::uint64_t started = 0;  // in ticks since the boot, which identifies the process if its
                                // number is reused; 0 if not known
    std::string name;
};

using process_predicate = std::function<bool(const process&)>;

[[nodiscard]] std::optional<process> read_process(pid_t pid);

// The content of a file of /proc or of a cgroup; empty if it cannot be read, or if its process
// ended meanwhile.
[[nodiscard]] std::string content_of(const std::string& path);

// How often this thread could not open a file of /proc or of a cgroup because there was no
// descriptor or no memory left. The file's content is then unknown.
[[nodiscard]] std::uint64_t failed_proc_reads() noexcept;

// All processes that /proc shows, except those that end meanwhile.
[[nodiscard]] std::vector<process> all_processes();

enum class signal_result { sent, gone, not_permitted };
// Signals the process only if it still has its number; on a kernel without pidfd_open, another may
// get the number in the instant between the check and the signal. Signal 0 only checks.
signal_result send_signal(const process& target, int signal) noexcept;

struct command_spec {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  // NAME=value
    int terminal = -1;   // the terminal whose foreground group the new group becomes, or -1
    sigset_t signals{};  // its signal mask
    int cgroup = -1;     // the folder of the cgroup in which it is born; -1 for the caller's
};

struct start_result {
    pid_t pid = 0;
    int error = 0;           // errno of exec; the process has then ended
    bool in_cgroup = false;  // it was born in the cgroup
};

// Starts the command as the leader of a new process group. The kernel kills it when the calling
// process dies. The caller must have only one thread. Throws only if no process can be created.
[[nodiscard]] start_result start_command(const command_spec& command);

// The caller's environment without `removed`, and with `added`.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& removed,
                                                        const std::vector<std::string>& added);

// The names of the caller's variables that begin with `prefix`.
[[nodiscard]] std::vector<std::string> variables_beginning_with(std::string_view prefix);

}  // namespace pawl::cli
