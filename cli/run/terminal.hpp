// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The terminal of a job: its foreground group, and passing it on. For one thread. SIGTTOU must be
// blocked.
#pragma once

#include "../ui/descriptor.hpp"

#include <sys/types.h>
#include <termios.h>
#include <optional>

namespace pawl::cli {

class terminal {
public:
    terminal();

    // True if the command is to get the terminal at its start: this process is in the foreground,
    // stdin is a terminal, and stdout is not a pipe whose reader (`| less`) may need the keyboard.
    [[nodiscard]] bool wants_foreground() const noexcept { return wants_foreground_; }
    [[nodiscard]] int number() const noexcept { return file_.get(); }
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }
    // Whether the group of this process is the foreground group.
    [[nodiscard]] bool is_foreground() const noexcept;

    // Makes `group` the foreground group if the group of this process is the foreground group now.
    void give_to(pid_t group) noexcept;
    // Makes the group of this process the foreground group if `group` still is the foreground
    // group. Returns false if another process, such as a shell, took the terminal meanwhile.
    bool take_back(pid_t group) noexcept;
    // Restores the modes of the start: a killed command may have left the terminal in raw mode.
    void restore() const noexcept;

private:
    descriptor file_;
    std::optional<termios> modes_;
    bool wants_foreground_ = false;
};

}  // namespace pawl::cli
