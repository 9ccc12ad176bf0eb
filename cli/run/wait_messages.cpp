// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "wait_messages.hpp"

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/host_name.hpp"
#include "../ui/lock_view.hpp"
#include "descendants.hpp"
#include "processes.hpp"

#include <unistd.h>
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

// The holder for which this run has to wait. With several locks, this run itself may already hold
// this one.
std::optional<holder> conflicting_holder(const lock_info& info, const run_options& options) {
    for (const holder& each : holders_of(info)) {
        const bool is_own =
            !options.also.empty() && each.host == host_name() && each.pid == ::getppid();
        const bool compatible = options.mode == lock_mode::shared && each.mode == lock_mode::shared;
        if (!is_own && !compatible) return each;
    }
    return std::nullopt;
}

// The parent of the lock process is the supervisor, and its ancestors are above it.
bool is_our_ancestor(std::int64_t pid) {
    auto each = read_process(::getppid());
    while (each && each->parent > 1 && each->parent != pid)
        each = read_process(each->parent);
    return each && each->parent == pid;
}

// The holder if its run is around this run: each of the two would wait for the other.
std::optional<holder> ancestor_holder(const lock_info& info, lock_mode mode) {
    for (const holder& each : holders_of(info)) {
        const bool compatible = each.mode == mode && mode != lock_mode::exclusive;
        if (!compatible && each.host == host_name() && is_our_ancestor(each.pid)) return each;
    }
    return std::nullopt;
}

}  // namespace

void refuse_wait_for_ancestor(blocking::client& locks, const run_options& options) {
    if (!proc_shows_own_namespace()) return;
    for (const auto& name : names_of(options)) {
        std::optional<holder> lock_holder;
        try {
            lock_holder = ancestor_holder(locks.inspect(name), options.mode);
        } catch (const pawl::error&) {
            return;  // acquire reports the error
        }
        if (lock_holder)
            throw pawl::error(errc::deadlock,
                              "'" + name + "' is held by the `pawl run` around this one, process " +
                                  std::to_string(lock_holder->pid) +
                                  ", so each would wait for the other; acquire the lock only once, "
                                  "or use another name.");
    }
}

void explain_wait(blocking::client& locks, const run_options& options,
                  const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    if (ended.wait_for(lock, stop, 1s, [] { return false; }) || stop.stop_requested()) return;
    // While there is no connection, a request would outlast the wait. A lock file has none.
    const auto counted = locks.statistics();
    if (counted.connections == 0 && counted.requests == 0) return;
    auto names = names_of(options);
    std::sort(names.begin(), names.end());  // in the order of acquire_all
    try {
        for (const auto& name : names) {
            const auto lock_holder = conflicting_holder(locks.inspect(name), options);
            if (stop.stop_requested()) return;
            if (!lock_holder) continue;
            const std::string command =
                lock_holder->command.empty() ? "" : " (" + lock_holder->command + ")";
            const std::string since =
                lock_holder->host.empty()
                    ? ""
                    : " for " + format_readable(time_since(lock_holder->since));
            const std::string endless =
                lock_holder->remaining == forever
                    ? "; this hold has no end, so waiting does not help: see `pawl status '" +
                          name + "'`, or release it by force"
                    : "";
            say("Waiting for '" + name + "', held by " + holder_text(*lock_holder) + command +
                since + endless + ".");
            return;
        }
    } catch (const pawl::error&) {
        // acquire reports the error.
    }
}

}  // namespace pawl::cli
