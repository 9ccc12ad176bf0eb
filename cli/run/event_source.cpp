// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "event_source.hpp"

#include "../ui/failure.hpp"

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

// nohup and shells without job control start programs with some of these signals ignored. They stay
// ignored.
sigset_t watched_signals() {
    sigset_t watched;
    ::sigemptyset(&watched);
    for (const int signal : {SIGCHLD, SIGCONT})
        ::sigaddset(&watched, signal);
    for (const int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP}) {
        if (!is_ignored(signal)) ::sigaddset(&watched, signal);
    }
    return watched;
}

timespec to_timespec(time_point when) {
    const auto since = std::max(when.time_since_epoch(), duration(1));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    return {.tv_sec = seconds.count(), .tv_nsec = (since - seconds).count()};
}

void discard_pending(int signal) noexcept {
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    constexpr timespec at_once{};
    ::sigtimedwait(&only, nullptr, &at_once);
}

}  // namespace

void deliver_pending(int signal) noexcept {
    sigset_t only;
    sigset_t before;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::sigprocmask(SIG_UNBLOCK, &only, &before);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

void stop_self() noexcept {
    ::raise(SIGTSTP);
    deliver_pending(SIGTSTP);
}

bool is_termination_signal(int signal) noexcept {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

event_source::event_source() {
    ::signal(SIGCHLD, SIG_DFL);
    const sigset_t watched = watched_signals();
    sigset_t blocked = watched;
    // Taking the terminal back must not stop this process, and a closed stderr must not end it.
    ::sigaddset(&blocked, SIGTTOU);
    ::sigaddset(&blocked, SIGPIPE);
    ::sigprocmask(SIG_BLOCK, &blocked, &original_mask_);
    signals_ = descriptor(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    timer_ = descriptor(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!signals_ || !timer_) throw system_failure("Cannot wait for signals");
}

// A pending SIGPIPE is of this process's own messages, and would end it now.
event_source::~event_source() {
    if (::sigismember(&original_mask_, SIGPIPE) == 0) discard_pending(SIGPIPE);
    ::sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

void event_source::read_reports(event_batch& batch) {
    lock_report next;
    while (!lock_process_ended_) {
        const auto size = ::recv(channel_, &next, sizeof next, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size == static_cast<ssize_t>(sizeof next)) {
            batch.reports.push_back(next);
        } else {
            lock_process_ended_ = true;
        }
    }
}

void event_source::read_signals(event_batch& batch) {
    signalfd_siginfo next{};
    while (::read(signals_.get(), &next, sizeof next) == static_cast<ssize_t>(sizeof next)) {
        batch.signals.push_back(static_cast<int>(next.ssi_signo));
    }
}

event_batch event_source::wait(time_point until) {
    itimerspec when{};
    if (until != time_point::max()) when.it_value = to_timespec(until);
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);

    std::array<pollfd, 3> watched{
        {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
         {.fd = timer_.get(), .events = POLLIN, .revents = 0},
         {.fd = lock_process_ended_ ? -1 : channel_, .events = POLLIN, .revents = 0}}};
    event_batch result;
    const int ready = ::poll(watched.data(), watched.size(), -1);
    // poll fails with EINVAL if it gets more descriptors than the limit of open files, even if that
    // was lowered after they were opened.
    if (ready < 0 && errno == EINVAL)
        throw failure(exit_code::system,
                      "The limit of open files is below " + std::to_string(watched.size()) +
                          ", so pawl cannot wait for its events; raise the limit (ulimit -n).");
    if (ready <= 0) return result;
    if (watched[2].revents != 0) read_reports(result);
    if (watched[0].revents != 0) read_signals(result);
    return result;
}

}  // namespace pawl::cli
