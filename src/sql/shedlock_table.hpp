// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// ShedLock's table: the options about it, and the check of its columns.
#pragma once

#include <pawl/error.hpp>
#include <pawl/examination.hpp>
#include <pawl/shedlock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::sql {

// The options of a URL about ShedLock's table.
class shedlock_url_options {
public:
    static constexpr std::string_view names = "layout, table, others and lock_at_least";

    // False: the option is another one. Throws errc::bad_url.
    bool apply(const std::string& name, const std::string& value);
    // Empty without layout=shedlock. Throws errc::bad_option if other options need it.
    [[nodiscard]] std::optional<shedlock_table> table() const;

private:
    bool is_chosen_ = false;
    std::string needs_layout_;  // an option that was given
    shedlock_table table_;
};

// True: the URL's option is one of these.
[[nodiscard]] bool is_shedlock_option(std::string_view name) noexcept;

// Throws errc::bad_option.
void check_shedlock_table(const shedlock_table& table);
// Adds what decides which lock a name means.
void append_shedlock_options(std::string& url, const shedlock_table& table);

// A column as the database describes it.
struct shedlock_column {
    std::string name;
    std::string kind;       // "text", "time", "number", or the name of another type
    std::int64_t size = 0;  // characters, or digits of the seconds' fraction; 0: without a limit
};

// Throws errc::refused if Pawl cannot use the table. `has_key`: the name is unique. Returns the
// longest name, in characters; 0: without a limit.
[[nodiscard]] std::int64_t check_shedlock_columns(const std::vector<shedlock_column>& columns,
                                                  bool has_key, const std::string& table,
                                                  const std::string& server);

// For `doctor`, which sees the other programs' clocks only in the rows that they write.
[[nodiscard]] finding others_finding(std::int64_t future_locks);

}  // namespace pawl::sql
