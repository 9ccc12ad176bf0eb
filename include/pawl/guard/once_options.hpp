// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The words of `once`: its key, options, attempts and results. Standard headers only.
#pragma once

#include <pawl/options.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace pawl::guard {

// Which operation it is. Make the key from the business, such as an order's number, and before the
// first try: a new key for each try would be a new operation.
struct once_key {
    // All but the key may be empty.
    // NOLINTNEXTLINE(google-explicit-constructor): most keys are no more than a string
    once_key(std::string key_bytes, std::string request_bytes = {}, std::string scope_bytes = {})
        : key(std::move(key_bytes)),
          request(std::move(request_bytes)),
          scope(std::move(scope_bytes)) {}
    // The key alone.
    // NOLINTNEXTLINE(google-explicit-constructor): as above
    once_key(const char* key_text) : key(key_text) {}

    std::string key;  // 1 to 255 bytes; capitals and blanks count
    // The rest of what was requested. A record keeps its SHA-256, and another request under the
    // same key is a `mismatch`. Empty: the key alone says all.
    std::string request;
    std::string scope;  // up to 64 bytes, such as a tenant: the same key in two scopes is two keys
};

// Which layers `guarded_once` uses. For tests that show what each one is good for.
enum class layers : std::uint8_t {
    none = 0,    // the work alone, in its transaction
    lock = 1,    // the work under the lock
    record = 2,  // the record, without the lock
    all = 3      // both
};

// The options of `once` and its relatives. Trivially copyable. A value out of range fails with
// errc::bad_option.
struct once_options {
    // How long an attempt keeps others away, and the ttl of the lock of `guarded_once`: 100 ms to
    // 24 h. When it is over, another caller takes the operation over, even if the attempt lives.
    // 0: the record is a part of the effect's transaction. That costs one commit less, nobody takes
    // over, attempts are not counted, and other callers wait in the database. Not for
    // `at_least_once`.
    time_to_live lease = std::chrono::seconds(30);
    // How long to wait for another attempt of the operation, 0 or more; then the state is
    // `running`. 0: not at all.
    duration wait = std::chrono::seconds(10);
    // How long the result is kept: at least twice the lease, at most ten years, and longer than
    // callers retry. Afterwards `purge` may remove the record, and the key is a new operation.
    duration keep = std::chrono::hours(24);
    // How often the operation is begun at most, 1 or more: each claim counts, also one whose
    // process died or whose work asked for a later try. Then the operation fails for good.
    std::uint32_t attempts = 5;
    std::uint32_t largest_result = 65536;  // in bytes; at most 16 MiB
    // False: claim without a look before, which saves a statement where nearly all operations are
    // new. A repetition is then a refused claim, which locks the record, and a look.
    // `guarded_once` looks before it acquires the lock in any case.
    bool looks_first = true;
    layers with = layers::all;  // other values are for tests
};
static_assert(std::is_trivially_copyable_v<once_options>);

// The work's answer: the operation has failed for good. Stored, and replayed to later callers.
struct rejected {
    std::string why;  // the result's value
};
// The work's answer: not now. Nothing is stored; the next caller after the pause tries again.
struct retry_after {
    duration pause{};  // 0: at once
};
// What the work returns: its result, as bytes, or why there is none.
using outcome = std::variant<std::string, rejected, retry_after>;

// How `once` has ended.
enum class once_state : std::uint8_t {
    done,      // this call's work is the effect
    replayed,  // an earlier effect, with its result; the work did not run
    running,   // another attempt runs, or the work said retry_after
    failed,    // the operation was rejected, or had too many attempts; final
    mismatch   // the key was used for another request; nothing was done
};
// The name of the enumerator: a stable label.
[[nodiscard]] const char* to_string(once_state state) noexcept;

// The result of `once`.
struct [[nodiscard]] once_result {
    once_state state = once_state::running;  // how the call has ended
    std::string value{};                     // the work's result; after `failed` the reason
    bool has_value = true;  // false: the value was larger than `largest_result`, and is not stored
    // After `running`: when the next try is useful. That is what is left of the other attempt's
    // lease, or the pause of the work's retry_after, or the ttl of a lock that another caller has.
    duration retry_in{};

    // True: the effect exists.
    explicit operator bool() const noexcept { return state <= once_state::replayed; }
};

// One claim of the operation, for the work. A copy is the same attempt.
class attempt {
public:
    // For tests of a work.
    attempt(std::string scope, std::string key, fencing_token token, std::uint32_t number,
            time_point safe_until, std::stop_token lost = {})
        : scope_(std::move(scope)),
          key_(std::move(key)),
          token_(token),
          number_(number),
          safe_until_(safe_until),
          lost_(std::move(lost)) {}

    // As in once_key. Pass the key to an outside service, so that it can refuse a repetition.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    [[nodiscard]] const std::string& scope() const noexcept { return scope_; }
    // Larger than those of earlier attempts. Pass it to a service that refuses smaller ones. Do not
    // mix it with a lock's tokens at one resource.
    [[nodiscard]] fencing_token token() const noexcept { return token_; }
    // From 1. Above 1: an earlier attempt may have had an effect outside.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    // Until then no other caller takes the operation over, by the boot clock.
    [[nodiscard]] time_point safe_until() const noexcept { return safe_until_; }
    // Is stopped when the lock of `guarded_once` is lost. Without a lock it is never stopped.
    [[nodiscard]] std::stop_token lost() const noexcept { return lost_; }

private:
    std::string scope_, key_;
    fencing_token token_;
    std::uint32_t number_;
    time_point safe_until_;
    std::stop_token lost_;
};

}  // namespace pawl::guard
