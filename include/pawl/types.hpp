// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The values of the API: time, tokens, states, and reports about locks. Standard headers only.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace pawl {

// All times of the API.
using duration = std::chrono::nanoseconds;

// Linux' CLOCK_BOOTTIME (clock_gettime(2)): it is never set, and continues while the machine is
// suspended. All leases are measured with it.
struct boot_clock {
    // As the standard requires of a clock.
    using duration = pawl::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};
using time_point = boot_clock::time_point;

// The number of a hold. A later hold of the lock has a larger token. Readers share a token, from
// the first reader until no reader is left. Send the token with each write, and let the resource
// refuse smaller ones. A token has 63 bits: pass it to JSON, Lua or JavaScript as a decimal string,
// since they round numbers above 2^53. See M. Kleppmann, "How to do distributed locking" (2016).
class fencing_token {
public:
    constexpr fencing_token() noexcept = default;
    // From the number of a token. 0: no token.
    constexpr explicit fencing_token(std::uint64_t value) noexcept : value_(value) {}

    // The number; 0 for no token.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
    // False: no token. A hold with the option `fenced = false` has none.
    constexpr explicit operator bool() const noexcept { return value_ != 0; }
    constexpr auto operator<=>(const fencing_token&) const noexcept = default;

private:
    std::uint64_t value_ = 0;
};

// Both write the decimal number.
[[nodiscard]] std::string to_string(fencing_token token);
std::ostream& operator<<(std::ostream& out, fencing_token token);

// exclusive: one holder. shared: any number of readers, and no writer beside them. permits: holders
// of a semaphore's permits, up to its total. Holders in one mode exclude callers in another mode,
// except in Redisson's layout, where a name has one object type.
enum class lock_mode : std::uint8_t { exclusive, shared, permits };
[[nodiscard]] const char* to_string(lock_mode mode) noexcept;

// held: renewed in time. at_risk: still held, but two thirds of the ttl have passed without a
// renewal. lost: another holder has the lock or may have it; final. released: the caller has begun
// to release the lock; if the service then answers that the hold had ended before, it is lost.
enum class lock_state : std::uint8_t { held, at_risk, lost, released };
[[nodiscard]] const char* to_string(lock_state state) noexcept;

// Why a hold was lost.
enum class loss_reason : std::uint8_t {
    none,           // the hold is not lost
    expired,        // no renewal was confirmed before the lease could have run out
    missing,        // the service has neither this hold nor another: it was deleted, or data were
                    // lost, or the lease had ended there
    taken_over,     // the service answered that the hold has ended; mostly another holder has it
    failed_over,    // the service answered so after a failover, in which the hold was lost
    forced,         // the service reported a forced release; unreported, that is taken_over
    max_hold,       // the option `max_hold` is over
    client_closed,  // the client was closed or destroyed, or its event loop was destroyed
    forked          // this process is a fork of the holder and holds nothing
};
// The name of the enumerator, such as "taken_over": a stable label for logs and metrics.
[[nodiscard]] const char* to_string(loss_reason reason) noexcept;
// The reason in words, such as "another holder has the lock". May change.
[[nodiscard]] const char* describe(loss_reason reason) noexcept;

// The result of a release. Only `released` proves that the hold lasted until then. expired: the
// lease had ended, or the service has lost the hold. taken_over: another holder, a forced release
// or a failover had ended the hold. unknown: the result is not known, mostly because no answer came
// in time. still_held: other handles of the lock_owner keep the lock.
enum class [[nodiscard]] release_result : std::uint8_t {
    released,
    expired,
    taken_over,
    unknown,
    still_held
};
[[nodiscard]] const char* to_string(release_result result) noexcept;

// A holder of a lock. For display only: the report is outdated when it arrives.
struct holder {
    // Empty, like pid, command and since, if the service does not know the process: for another
    // library, for `acquire_as`, and in Redisson's layout.
    std::string host;
    std::int64_t pid = 0;
    std::string command;                            // from client_options::command
    std::chrono::system_clock::time_point since{};  // the start of the hold
    duration remaining{};  // of the lease, as the service sees it; `forever` for one without an end
    fencing_token token;   // empty if the hold has none
    std::string owner;     // a part of it: enough to compare, too little to release with
    // How often the holder has entered, where the service counts that: Redisson's hold count.
    std::uint64_t count = 1;
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 0;  // the permits of this hold; 0 in the other modes
};

// The state of a lock. For display only, like `holder`.
struct lock_info {
    std::string name;               // of the lock
    std::optional<holder> held_by;  // of several holders the earliest; empty if the lock is free
    // The queue at the service. Only the first of a client's plain exclusive waiters is counted:
    // the others wait inside the client.
    std::uint64_t waiters = 0;
    // The other readers, or the other holders of permits, in any order.
    std::vector<holder> others{};
    std::uint32_t permits = 0;  // the semaphore's total; 0 if it is not set
    // The free permits, where they are known; 0 beside an exclusive hold or readers. Redisson's
    // Semaphore reports only this number: neither the total nor the holders.
    std::optional<std::uint32_t> free_permits{};
};

// Counters of one client since it was made. They only grow.
struct statistics {
    std::uint64_t requests = 0;     // sent to the service, with repetitions, without handshakes
    std::uint64_t pushes = 0;       // messages that the service sent without a request
    std::uint64_t connections = 0;  // completed handshakes; 0 for a service without connections
    std::uint64_t grants = 0;       // locks that the service granted
    std::uint64_t hand_offs = 0;    // of the grants, those to a waiter in the service's queue
    std::uint64_t renewals = 0;     // batches of renewals, each of up to 256 locks
    std::uint64_t losses = 0;       // holds that were lost before their release began
    // Holds that had ended before their release, as only the release has found. Not among `losses`.
    std::uint64_t late_releases = 0;
};

}  // namespace pawl
