// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An operation that is carried out once, although callers repeat it, crash and run at the same
// time: docs/guide/once.md. Standard headers only.
//
// If the effect is in the transaction that `once` commits, there is at most one effect, and exactly
// one as soon as a caller gets `done` or `replayed`, until `keep` is over. If the effect is outside
// (`at_least_once`), there are one or more.
//
// The record of an operation is a row of the table pawl_once in the program's own database. All
// functions are thread-safe for different connections, and block. They throw errc::bad_option for
// arguments out of range, errc::unsupported inside an open transaction, errc::refused if the table
// is not as Pawl makes it, errc::protocol if it keeps no writes, errc::lost if the record was
// removed while the work ran, and database_error. After an error of the connection, call again
// with the same key on a new one: the record tells what has happened.
//
// Cancellation: stopping `cancel` ends a wait for another attempt, or for the lock, with
// errc::cancelled. It does not end the work or a statement.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/guard/once_options.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

namespace pawl::blocking {
class client;
}

namespace pawl::guard {

// What `once` runs: it returns the operation's result, `rejected` or `retry_after`.
using once_work = std::function<outcome(const attempt&)>;

// For an effect in this database. Claims the operation, begins a transaction, runs the work, and
// commits the effect and the record together. The work writes on the same connection, and neither
// commits nor rolls back. If it throws, or returns anything but a result, what it wrote is rolled
// back. After a `conflict` the transaction is repeated, under the same claim, until its lease ends;
// so the work must have no effect elsewhere, and let a `conflict` pass. A result that is larger
// than `largest_result` is errc::bad_option, and nothing is committed.
once_result once(connection& db, const once_key& operation, const once_options& options,
                 const once_work& work, std::stop_token cancel = {});

// For an effect elsewhere, such as a payment. Claims the operation, runs the work outside a
// transaction, and records its result. The effect is repeated if a process dies between the effect
// and the record, or if the work takes longer than the lease. It is at most one if the outside
// refuses a repetition by `attempt::key`, for as long as callers repeat. If the outside checks
// `attempt::token`, an attempt that was replaced cannot overwrite its successor. If the work
// throws, the claim is given up, and the exception passes. A transaction that the work has left
// open is errc::unsupported, and the record does not end. A result that is too large is not kept:
// `once_result::has_value` is then false.
once_result at_least_once(connection& db, const once_key& operation, const once_options& options,
                          const once_work& work, std::stop_token cancel = {});

// As `once` and `at_least_once`, with a lock in front: finished operations are replayed without it,
// and other callers wait for the lock instead of polling the database. Pawl renews the lock while
// the work runs, so no caller that uses the lock takes a slow but living attempt over. The lock is
// released after the commit. Its ttl is the lease, or 30 s for the lease 0. `wait` counts for both.
// The lock's loss stops `attempt::lost`; the record still decides. Throws the errors of
// blocking::client::acquire, too, but errc::timed_out is the state `running`.
once_result guarded_once(blocking::client& locks, connection& db, std::string_view name,
                         const once_key& operation, const once_options& options,
                         const once_work& work, std::stop_token cancel = {});
once_result guarded_at_least_once(blocking::client& locks, connection& db, std::string_view name,
                                  const once_key& operation, const once_options& options,
                                  const once_work& work, std::stop_token cancel = {});

// The result of `claim`.
struct [[nodiscard]] once_claim {
    std::optional<guard::attempt> attempt{};  // empty: nothing was claimed
    once_result known{};                      // why not

    // True: the operation was claimed.
    explicit operator bool() const noexcept { return attempt.has_value(); }
};

// The steps of `once`, for programs with transactions of their own. Claim outside a transaction.
// Then let `finish` be the last statement of the effect's transaction, and roll back if it returns
// false: another caller has taken the operation over. Claims have a lease above 0.
once_claim claim(connection& db, const once_key& operation, const once_options& options,
                 std::stop_token cancel = {});
// Records the result or the rejection; `retry_after` gives up. False: nothing was changed.
[[nodiscard]] bool finish(connection& db, const attempt& claimed, const outcome& result,
                          const once_options& options);
// Ends the claim's lease after the pause, so that another caller may try. False: nothing was
// changed, because the operation has ended or was taken over.
bool give_up(connection& db, const attempt& claimed, duration pause = {});

}  // namespace pawl::guard
