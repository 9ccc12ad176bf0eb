// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The statements on the table pawl_tick, in the SQL of each database. No I/O.
#pragma once

#include <pawl/guard/tick_records.hpp>

namespace pawl::guard {

[[nodiscard]] std::int64_t to_us(store_time instant) noexcept;
[[nodiscard]] store_time to_store_time(std::int64_t us) noexcept;

// Each is one statement. All times are µs since 1970 of the database's clock.
class tick_statements {
public:
    explicit tick_statements(dialect spoken) noexcept : dialect_(spoken) {}

    // The clock, and what is settled, or NULL.
    [[nodiscard]] statement state_of(std::string_view name) const;
    // The record that makes a schedule known.
    [[nodiscard]] statement add_schedule(std::string_view name) const;
    [[nodiscard]] statement unfinished(std::string_view name) const;
    [[nodiscard]] statement find(const tick_claim& wanted) const;
    [[nodiscard]] statement history(std::string_view name, std::uint32_t most) const;

    [[nodiscard]] statement add_claim(const tick_claim& wanted, store_time not_before,
                                      duration lease) const;
    // In place of a claim whose lease is over.
    [[nodiscard]] statement replace_claim(const tick_claim& wanted, duration lease) const;
    [[nodiscard]] statement begin(const tick_claim& claimed, fencing_token token, store_time latest,
                                  duration lease) const;
    [[nodiscard]] statement begin_again(const tick_claim& claimed, const std::string& crashed,
                                        fencing_token token, duration lease) const;
    [[nodiscard]] statement withdraw(const tick_claim& claimed) const;
    [[nodiscard]] statement finish(const tick_claim& claimed, tick_state state, int status,
                                   const std::string& reason) const;
    [[nodiscard]] statement add_skipped(const tick_claim& claimed, const std::string& reason,
                                        store_time settled, std::uint32_t missed) const;
    [[nodiscard]] statement skip_claimed(const tick_claim& claimed,
                                         const std::string& reason) const;
    [[nodiscard]] statement renew(const tick_claim& claimed, duration lease) const;
    [[nodiscard]] statement purge(std::string_view name, duration keep, store_time before) const;

private:
    class builder;

    dialect dialect_;
};

// The row of `unfinished`, `find` and `history`; the last column is the clock.
[[nodiscard]] tick_record record_in(const std::vector<value>& row);
[[nodiscard]] std::vector<tick_record> records_in(const rows& answer);
inline constexpr std::size_t clock_column = 14;

// Of an answer to `state_of`.
[[nodiscard]] bool is_unknown_schedule(const rows& state);
[[nodiscard]] schedule_state state_in(const rows& state, const rows& unfinished);

// Throws errc::bad_name.
void check_schedule_name(std::string_view name);
// To what the columns for texts can have.
[[nodiscard]] std::string shortened(std::string text);
// PostgreSQL may report a table that another session makes at the same time.
[[nodiscard]] bool is_concurrent_creation(const database_error& problem);

}  // namespace pawl::guard
