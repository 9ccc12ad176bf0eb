// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options, the report and the history of a reconciliation. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/options.hpp>
#include <pawl/types.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pawl::guard {

// The settings of a reconciliation. A value out of range fails with errc::bad_option.
struct reconcile_options {
    std::uint32_t batch = 100;  // the keys of one `find`, and between two cursors: 1 to 10000
    double per_second = 50;     // the repairs, at most: 0.001 to 1000000
    // The lease of the leader's lock. When the leader's process dies, another one can go on after
    // this time.
    time_to_live ttl = std::chrono::seconds(30);
    // Only counts: calls no `repair`, writes nothing, needs no lock.
    bool dry_run = false;
};
static_assert(std::is_trivially_copyable_v<reconcile_options>);

// The result of one repair.
enum class repair_result : std::uint8_t {
    repaired,  // the record was completed
    agrees,    // nothing had to be done
    failed     // for a person, or for the next run
};

// finished: `find` had no more keys. stopped: the caller ended the run, which the next one
// continues. lost: the lock was lost, or a later leader goes on. led_elsewhere: another process has
// the lock, and nothing was done.
enum class reconcile_end : std::uint8_t { finished, stopped, lost, led_elsewhere };
[[nodiscard]] const char* to_string(reconcile_end end) noexcept;

// The keys of a run, by result. Each key that `find` returned counts once.
struct reconcile_counts {
    std::uint64_t keys = 0;      // that `find` returned
    std::uint64_t repaired = 0;  // repair_result::repaired
    std::uint64_t agreed = 0;    // repair_result::agrees
    std::uint64_t failed = 0;    // repair_result::failed, or an exception
};

// A key that was not repaired.
struct failed_repair {
    std::string key;     // as `find` has returned it
    std::string reason;  // the message of the exception; empty without one
};

// The result of `run`.
struct reconcile_report {
    reconcile_end end = reconcile_end::led_elsewhere;  // why it ended
    bool resumed = false;     // it continued a run that a crash, a stop or a loss had ended early
    bool dry_run = false;     // nothing was repaired
    fencing_token token;      // of the leader; empty in a dry run
    reconcile_counts counts;  // of this call, without the part before a resume
    std::vector<failed_repair> failures;  // the first 100
};

// A run in the history, which calls of `run` may have continued.
struct reconcile_run {
    std::string name;                               // of the reconciliation
    fencing_token number;                           // the token of the leader that began it
    fencing_token token;                            // the token of the leader that wrote last
    std::string after;                              // the last key
    reconcile_counts counts;                        // of all calls together
    std::chrono::system_clock::time_point began{};  // by the clock of the database
    std::optional<std::chrono::system_clock::time_point> ended{};  // empty: not yet, or never
    std::string error;                                             // of the last failed repair
};

// The newest runs first: of this name, or of all names if it is empty. Each name keeps its last
// 100 runs. Blocks. Throws errc::refused if the table pawl_reconcile is not as Pawl makes it,
// errc::protocol for a row that Pawl did not write, and database_error.
[[nodiscard]] std::vector<reconcile_run> reconcile_history(connection& db,
                                                           std::string_view name = {},
                                                           std::uint32_t limit = 100);

// For people: lines of text. Control characters are written as \x0a.
[[nodiscard]] std::string to_table(const reconcile_report& report);
[[nodiscard]] std::string to_table(std::span<const reconcile_run> history);
// For programs: JSON (RFC 8259), one object, or an array of objects. Tokens are strings. Bytes that
// are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_json(const reconcile_report& report);
[[nodiscard]] std::string to_json(std::span<const reconcile_run> history);

}  // namespace pawl::guard
