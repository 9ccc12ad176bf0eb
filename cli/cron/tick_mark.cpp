// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tick_mark.hpp"

#include "../ui/failure.hpp"
#include "../ui/messages.hpp"

#include <pawl/blocking.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

// How long the service may be away until a tick is given up.
constexpr duration mark_limit = 15s;
// Exit statuses of the child, beside those of a failure.
constexpr int first_status = 1;

// An attempt without an answer is undone by its client, so the next one is by the same client.
blocking::held_lock acquire_mark(blocking::client& locks, const std::string& name, duration keep) {
    const auto until = boot_clock::now() + mark_limit;
    for (duration pause = 50ms;; pause = std::min<duration>(pause * 2, 2s)) {
        try {
            return locks.try_acquire(name, {.ttl = keep, .max_hold = keep, .fenced = false});
        } catch (const error& problem) {
            if (!problem.is_transient() || boot_clock::now() + pause > until) throw;
        }
        ::poll(nullptr, 0,
               static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count()));
    }
}

}  // namespace

int call_in_child(const sigset_t& signals, const std::function<int()>& call) {
    const pid_t child = ::fork();
    if (child < 0) throw system_failure("Cannot start a process");
    if (child == 0) {
        ::sigprocmask(SIG_SETMASK, &signals, nullptr);
        int result = 0;
        try {
            result = call();
        } catch (...) {
            result = report_current();
        }
        say_rest();
        ::_exit(result);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : signal_status(WTERMSIG(status));
}

tick_mark::tick_mark(const service_location& location, const sigset_t& signals, std::string name,
                     duration keep)
    : location_(location), signals_(signals), name_(std::move(name)), keep_(keep) {}

tick_mark::state tick_mark::ask(const std::function<state()>& question) const {
    const int status = call_in_child(
        signals_, [&question] { return first_status + static_cast<int>(question()); });
    const auto answer = static_cast<state>(status - first_status);
    const bool is_known =
        answer == state::absent || answer == state::present || answer == state::made;
    return is_known ? answer : state::unknown;
}

tick_mark::state tick_mark::look() const {
    return ask([this] {
        blocking::client locks(location_.lock_service);
        return locks.inspect(name_).held_by ? state::present : state::absent;
    });
}

// The child ends without a release.
tick_mark::state tick_mark::make() const {
    return ask([this] {
        blocking::client locks(location_.lock_service);
        const auto mark = acquire_mark(locks, name_, keep_);
        if (!mark) return state::present;
        say_rest();
        ::_exit(first_status + static_cast<int>(state::made));
    });
}

void tick_mark::remove() const {
    static_cast<void>(call_in_child(signals_, [this] {
        blocking::client locks(location_.lock_service);
        static_cast<void>(locks.force_release(name_));
        return 0;
    }));
}

}  // namespace pawl::cli
