// The terminal of a job: who has it, and passing it on. One thread; SIGTTOU must be blocked.
#pragma once

#include "descriptor.hpp"

#include <sys/types.h>
#include <termios.h>
#include <optional>

namespace pawl::cli {

class terminal {
public:
    terminal();

    // The command gets the terminal right away: it reads from it, and no pipe hangs on its output
    // whose reader (`| less`) may want the keyboard.
    [[nodiscard]] bool wanted_at_once() const noexcept { return at_once_; }
    [[nodiscard]] int number() const noexcept { return file_.get(); }
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }
    // Our own group is the foreground one.
    [[nodiscard]] bool in_front() const noexcept;

    // To `group`, if it is ours to give.
    void give(pid_t group) noexcept;
    // Back to our own group, if `group` still has it. False: somebody else, a shell, took it
    // meanwhile.
    bool take_back(pid_t group) noexcept;
    // As it was when we started: a command that was killed may have left it raw.
    void restore() const noexcept;

private:
    descriptor file_;
    std::optional<termios> modes_;
    bool at_once_ = false;
};

}  // namespace pawl::cli
