// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl run` is two processes. The supervisor is the process that the shell started: it has one
// thread, the terminal and the command. The lock process holds the lock, and has the library and
// its threads. Each watches the other:
// - If the supervisor dies (kill -9), the lock process kills the command. It releases the lock
//   only if it can know that no process of the command is left. Otherwise the lease runs out.
// - If the lock process dies or is frozen, the supervisor stops the command before the last
//   deadline that it knows.
// - If the supervisor is stopped (Ctrl-Z), the lock process continues to renew, so a suspended
//   job keeps its lock.
#pragma once

#include "../verbs/verbs.hpp"
#include "inherited_children.hpp"

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <sys/types.h>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace pawl::cli {

// Memory that both processes share.
struct shared_state {
    std::atomic<std::int64_t> safe_until{0};  // CLOCK_BOOTTIME, ns; written by the lock process
    // The supervisor writes the fields from here to `run`.
    // While `command_may_live` is true, processes of the command may exist. They must not outlive
    // the lease, so the lock process kills them in time.
    std::atomic<bool> command_may_live{false};
    std::atomic<pid_t> group{0};         // the process group of the command
    std::atomic<bool> in_cgroup{false};  // all processes of the command are born in `cgroup`
    std::array<char, 1024> cgroup{};  // the folder of the cgroup; written before `command_may_live`
    std::array<char, 20> run{};       // the name of the run; written before the lock process starts
    // The tokens of NAME and the other locks, in the order of the command line. Written by the lock
    // process before it reports `granted`.
    std::array<std::uint64_t, max_locks> tokens{};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<pid_t>::is_always_lock_free);

// A message of the lock process to the supervisor, one packet each.
struct lock_report {
    enum class kind : std::uint8_t {
        granted,  // shared_state::safe_until and the tokens are set
        failed,   // `reason` and `text`: the lock was not acquired; the lock process ends
        lost,     // `loss_cause`, and the lock's name in `text`
        released  // `result`; the lock process ends
    };
    kind event = kind::failed;
    loss_reason loss_cause = loss_reason::none;
    release_result result = release_result::unknown;
    bool reached_service = false;  // with `failed`: the service was available at least once
    errc reason = errc::unreachable;
    std::array<char, 1024> text{};
};
static_assert(std::is_trivially_copyable_v<lock_report>);

// A request of the supervisor to the lock process, one byte each.
enum class supervisor_request : std::uint8_t { cancel, release };

// The duration of a lease without a renewal: the ttl, or --max-hold if that is shorter.
[[nodiscard]] duration lease_of(const run_options& options);

// How long before the deadline the command gets SIGTERM and SIGKILL.
struct margins {
    duration term{};
    duration kill{};
};
[[nodiscard]] margins margins_for(const run_options& options);

// The main function of the lock process: acquires the lock, holds it and releases it. Returns the
// exit status of the process.
[[nodiscard]] int run_lock_process(const run_options& options, const service& lock_service,
                                   shared_state& shared, const inherited_children& inherited,
                                   int channel);

}  // namespace pawl::cli
