// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of Pawl. A lock that another caller holds is not an error of `try_acquire`: the handle
// is empty.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <pawl/types.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace pawl {

// The error codes of both APIs. Codes of a service are reported by each operation that sends a
// request. A code equals the std::errc condition in brackets; without one, invalid_argument.
enum class errc {
    timed_out = 1,  // the lock was not free within `wait` [timed_out]
    cancelled,      // the caller cancelled, or the client is closed [operation_canceled]
    lost,           // the hold ended before its release; a latch is not known [owner_dead]
    unreachable,    // there is no service, or no answer came in time [host_unreachable]
    refused,        // the service rejects this client: password, right, read-only …
                    // [permission_denied]
    unavailable,    // the service cannot serve anybody now: loading, out of memory …
                    // [resource_unavailable_try_again]
    no_quorum,      // fewer than a majority of the service's servers agreed
                    // [resource_unavailable_try_again]
    wrong_type,     // the lock's key contains no lock of this layout [protocol_error]
    bad_name,       // a name must have 1 to 512 bytes and no control characters; a key template in
                    // Redis, ShedLock's table and mode=session in databases refuse more names
    bad_option,     // an option is out of range, or does not fit the lock's state
    bad_url,        // the URL is not understood
    unsupported,    // the service or this process cannot do that [operation_not_supported]
    protocol,       // the service sent an unexpected reply [protocol_error]
    exhausted,      // this program lacks threads, file descriptors, timers or memory
                    // [resource_unavailable_try_again]
    not_held,       // the handle is empty, or the thread has no hold [operation_not_permitted]
    deadlock,       // the caller would wait for itself [resource_deadlock_would_occur]
    not_durable,    // the lock was granted and released again, because too few copies of the grant
                    // were made in time [resource_unavailable_try_again]
    no_set,         // Redlock's nodes form no set that grants locks yet, or a majority of them has
                    // lost its data: see redlock::administration [resource_unavailable_try_again]
    other_set       // so many of Redlock's nodes belong to another set that no majority is left;
                    // waiting does not help
};

// The category of errc; its name is "pawl".
const std::error_category& error_category() noexcept;
std::error_code make_error_code(errc code) noexcept;

// The exception of Pawl. Its message says what happened, where, and what to do next. The message
// never contains a password.
class error : public std::system_error {
public:
    // `sentence` is the whole message. Transient are `unreachable`, `unavailable`, `no_quorum` and
    // `no_set`.
    error(errc code, const std::string& sentence);
    // For backends, which can tell a busy file from a damaged one. `retry_at`: the earliest time at
    // which another request is useful, if the service knows it.
    error(errc code, const std::string& sentence, bool is_transient,
          std::optional<time_point> retry_at = std::nullopt);
    // The code, for a switch.
    [[nodiscard]] errc reason() const noexcept { return reason_; }
    // True: the same request may succeed later, without a change of its options. An acquire with a
    // wait repeats it.
    [[nodiscard]] bool is_transient() const noexcept { return is_transient_; }
    // When it should be repeated; nothing: that is not known.
    [[nodiscard]] std::optional<time_point> retry_at() const noexcept { return retry_at_; }
    // The message alone, without that of the code.
    [[nodiscard]] const char* what() const noexcept override { return sentence_.what(); }

private:
    errc reason_;
    bool is_transient_;
    std::optional<time_point> retry_at_;
    std::runtime_error sentence_;  // copies without throwing, as an exception must
};

}  // namespace pawl

template <>
struct std::is_error_code_enum<pawl::errc> : std::true_type {};
