#include "terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace pawl::cli {

namespace {

bool is_pipe(int number) {
    struct stat what {};
    return ::fstat(number, &what) == 0 && (S_ISFIFO(what.st_mode) || S_ISSOCK(what.st_mode));
}

}  // namespace

terminal::terminal() : file_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (!file_) return;
    termios modes{};
    if (::tcgetattr(file_.get(), &modes) == 0) modes_ = modes;
    at_once_ = in_front() && ::isatty(STDIN_FILENO) == 1 && !is_pipe(STDOUT_FILENO);
}

bool terminal::in_front() const noexcept {
    return file_ && ::tcgetpgrp(file_.get()) == ::getpgrp();
}

void terminal::give(pid_t group) noexcept {
    if (in_front()) ::tcsetpgrp(file_.get(), group);
}

bool terminal::take_back(pid_t group) noexcept {
    if (!file_ || ::tcgetpgrp(file_.get()) != group) return false;
    return ::tcsetpgrp(file_.get(), ::getpgrp()) == 0;
}

void terminal::restore() const noexcept {
    if (modes_ && in_front()) ::tcsetattr(file_.get(), TCSADRAIN, &*modes_);
}

}  // namespace pawl::cli
