// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A child process that is always reaped, with lines in and out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace pawl::conformance {

struct launch_options {
    std::vector<std::string>
        arguments;  // the program (an absolute path, or found in PATH) and its arguments
    std::vector<std::pair<std::string, std::string>> environment;  // added to this process's
    std::string output_file;  // for stdout and stderr; empty: stdout is read with `read_line`
    std::string folder;       // to start in; empty: this process's
};

// Not thread-safe. The destructor kills and reaps. The child dies with the thread that made it.
class child {
public:
    explicit child(const launch_options& options);
    child(child&& other) noexcept;
    child& operator=(child&& other) noexcept;
    ~child();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool is_running();

    void send(std::string_view line);
    void close_input() noexcept;
    // Without its line end; empty if no line came in time, or none will come.
    std::optional<std::string> read_line(std::chrono::milliseconds bound);

    void signal(int number);
    void kill_and_reap();  // SIGKILL; returns when the process has ended
    void stop();           // SIGSTOP; returns when the process is stopped
    void resume();         // SIGCONT
    // Its wait status; empty if it still runs after `bound`.
    std::optional<int> wait(std::chrono::milliseconds bound);

private:
    void close_pipes() noexcept;

    pid_t pid_ = -1;
    int input_pipe_ = -1;
    int output_pipe_ = -1;
    std::string pending_;
    std::optional<int> status_;
};

// This program again, as `--pawl-helper WORDS…`.
[[nodiscard]] launch_options launch_as_helper(std::vector<std::string> arguments);

}  // namespace pawl::conformance
