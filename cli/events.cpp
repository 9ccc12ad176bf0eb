#include "events.hpp"

#include "failure.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

namespace pawl::cli {

namespace {

bool is_ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// nohup and shells without job control start programs with some of these ignored: they stay so.
sigset_t heard_signals() {
    sigset_t heard;
    ::sigemptyset(&heard);
    for (const int signal : {SIGCHLD, SIGCONT})
        ::sigaddset(&heard, signal);
    for (const int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP}) {
        if (!is_ignored(signal)) ::sigaddset(&heard, signal);
    }
    return heard;
}

timespec to_timespec(time_point when) {
    const auto since = std::max(when.time_since_epoch(), duration(1));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    return {.tv_sec = seconds.count(), .tv_nsec = (since - seconds).count()};
}

}  // namespace

void deliver(int signal) noexcept {
    sigset_t only;
    sigset_t before;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::sigprocmask(SIG_UNBLOCK, &only, &before);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

void stop_self() noexcept {
    ::raise(SIGTSTP);
    deliver(SIGTSTP);
}

bool ends_a_wait(int signal) noexcept {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

events::events() {
    ::signal(SIGCHLD, SIG_DFL);
    const sigset_t heard = heard_signals();
    sigset_t blocked = heard;
    // A terminal that we take back must not stop us, a reader of stderr that is gone must not end
    // us.
    ::sigaddset(&blocked, SIGTTOU);
    ::sigaddset(&blocked, SIGPIPE);
    ::sigprocmask(SIG_BLOCK, &blocked, &inherited_);
    signals_ = descriptor(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
    timer_ = descriptor(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!signals_ || !timer_) throw system_failure("Cannot wait for signals");
}

events::~events() { ::sigprocmask(SIG_SETMASK, &inherited_, nullptr); }

void events::read_reports(happening& into) {
    report next;
    while (!keeper_gone_) {
        const auto size = ::recv(channel_, &next, sizeof next, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size == static_cast<ssize_t>(sizeof next)) {
            into.reports.push_back(next);
        } else {
            keeper_gone_ = true;
        }
    }
}

void events::read_signals(happening& into) {
    signalfd_siginfo next{};
    while (::read(signals_.get(), &next, sizeof next) == static_cast<ssize_t>(sizeof next)) {
        into.signals.push_back(static_cast<int>(next.ssi_signo));
    }
}

happening events::wait(time_point until) {
    itimerspec when{};
    if (until != time_point::max()) when.it_value = to_timespec(until);
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);

    std::array<pollfd, 3> watched{
        {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
         {.fd = timer_.get(), .events = POLLIN, .revents = 0},
         {.fd = keeper_gone_ ? -1 : channel_, .events = POLLIN, .revents = 0}}};
    happening result;
    if (::poll(watched.data(), watched.size(), -1) <= 0) return result;
    if (watched[2].revents != 0) read_reports(result);
    if (watched[0].revents != 0) read_signals(result);
    return result;
}

}  // namespace pawl::cli
