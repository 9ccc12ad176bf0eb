// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the schema's functions about locks, and what their answers say. The functions, with
// the meaning of each status, are in the 3_locks.sql of a schema.
#pragma once

#include "session.hpp"

#include "../core/store/lease_table.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::sql {

// The number in a column; `fallback` for NULL. Throws errc::protocol.
[[nodiscard]] std::int64_t number_in(const row& answer, std::size_t column,
                                     std::int64_t fallback = 0);
// Empty for NULL, or if the column is missing.
[[nodiscard]] std::string_view text_in(const row& answer, std::size_t column) noexcept;
// False for NULL, or if the column is missing.
[[nodiscard]] bool flag_in(const row& answer, std::size_t column) noexcept;
// The first column's letter; '\0' without one.
[[nodiscard]] char status_of(const std::vector<row>& answer) noexcept;
// True: the function carried out nothing, since the session must say hello first. The functions
// with a status say r, and those whose first column is a token say -1.
[[nodiscard]] bool asks_for_hello(std::string_view function,
                                  const std::vector<row>& answer) noexcept;
[[nodiscard]] error unexpected_answer(std::string_view function);

// A time that no number from outside can make overflow: 30 years at most.
[[nodiscard]] constexpr std::chrono::milliseconds limited_milliseconds(
    std::int64_t count) noexcept {
    constexpr std::int64_t most = std::int64_t{30} * 365 * 24 * 60 * 60 * 1000;
    return std::chrono::milliseconds(std::clamp(count, -most, most));
}
[[nodiscard]] inline duration milliseconds_in(const row& answer, std::size_t column) {
    return limited_milliseconds(number_in(answer, column));
}
[[nodiscard]] inline std::int64_t count_ms(duration span) noexcept {
    return span / std::chrono::milliseconds(1);
}

// "HOST PID COMMAND"; the host has no space, so that the parts can be told apart.
[[nodiscard]] std::string process_text(const identity& process);
void read_process(std::string_view text, holder& shown);

// Whose calls they are.
struct caller {
    const std::string& name_space;
    const session_facts& facts;
    const std::string& process;  // a process_text

    // p_wait of the functions.
    [[nodiscard]] std::int64_t place_kind(bool may_wait) const noexcept {
        return !may_wait ? 0 : facts.is_pushed ? 1 : 2;
    }
};

// acquire and refresh.
[[nodiscard]] call attempt_call(std::string_view function, const caller& from,
                                const claim& requested, bool may_wait);
// Without `keep`, also ends a hold of the claim. `claimed_by` is the session that sent the claim.
[[nodiscard]] call leave_call(const caller& from, const claim& requested,
                              const std::string& claimed_by, bool keep);
[[nodiscard]] call release_call(const caller& from, const claim& requested);
[[nodiscard]] call renew_call(const caller& from, std::span<const renewal> renewals);
// All locks whose names begin with `name` if it is a prefix.
[[nodiscard]] call inspect_call(const caller& from, std::string_view name, bool is_prefix);
[[nodiscard]] call batch_call(const caller& from, std::span<const claim> claims);

// Throws an error for permits that can never be granted. 'r' is the caller's to check.
[[nodiscard]] core::attempt_result read_attempt(const claim& requested, const row& answer,
                                                time_point asked_at, time_point now);
[[nodiscard]] release_result read_release(char status) noexcept;

// A name or value as the database has it. What is no UTF-8 is written as %XX, and so is a '%'.
[[nodiscard]] std::string stored_text(std::string_view name);
[[nodiscard]] std::string name_of(std::string_view stored);
// Empty if the text is no UTF-8.
[[nodiscard]] std::optional<std::size_t> count_characters(std::string_view text) noexcept;

// A message: "g OWNER TOKEN WINDOW CLOCK", a grant; "n OWNER REMAINING", the waiter is the first
// one now; "w OWNER", it must ask; "f OWNER NAME", a forced release; "l NAME", a latch. Times are
// in ms, and the clock in us.
struct message {
    char kind = '\0';
    std::string_view subject;  // the owner
    std::string_view name;     // of the lock or latch, as it is stored
    fencing_token token;
    duration span{};  // the claim window, or what remains of the lease
    std::int64_t clock = 0;
};
// Any program may send messages: what is not understood has kind '\0'.
[[nodiscard]] message parse_message(std::string_view text) noexcept;

// The locks in the order of the rows of `inspect`.
[[nodiscard]] std::vector<lock_info> read_locks(const std::vector<row>& rows);

}  // namespace pawl::sql
