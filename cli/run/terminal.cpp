// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace pawl::cli {

namespace {

bool is_pipe(int number) {
    struct stat file_status {};
    return ::fstat(number, &file_status) == 0 &&
           (S_ISFIFO(file_status.st_mode) || S_ISSOCK(file_status.st_mode));
}

}  // namespace

terminal::terminal() : file_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (!file_) return;
    termios modes{};
    if (::tcgetattr(file_.get(), &modes) == 0) modes_ = modes;
    wants_foreground_ = is_foreground() && ::isatty(STDIN_FILENO) == 1 && !is_pipe(STDOUT_FILENO);
}

bool terminal::is_foreground() const noexcept {
    return file_ && ::tcgetpgrp(file_.get()) == ::getpgrp();
}

void terminal::give_to(pid_t group) noexcept {
    if (is_foreground()) ::tcsetpgrp(file_.get(), group);
}

bool terminal::take_back(pid_t group) noexcept {
    if (!file_ || ::tcgetpgrp(file_.get()) != group) return false;
    return ::tcsetpgrp(file_.get(), ::getpgrp()) == 0;
}

void terminal::restore() const noexcept {
    if (modes_ && is_foreground()) ::tcsetattr(file_.get(), TCSADRAIN, &*modes_);
}

}  // namespace pawl::cli
