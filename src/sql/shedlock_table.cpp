// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shedlock_table.hpp"

#include "../core/util/duration_text.hpp"
#include "../core/util/url.hpp"

#include <algorithm>
#include <array>

using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

constexpr std::array<std::string_view, 4> option_names{"layout", "table", "others",
                                                       "lock_at_least"};
constexpr core::duration_range least_holds{0ms, 24h, "0 to 24h"};

bool is_plain_identifier(std::string_view text) {
    const auto is_letter = [](char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    return !text.empty() && text.size() <= 63 && is_letter(text.front()) &&
           std::ranges::all_of(text,
                               [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_table_name(std::string_view text) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return is_plain_identifier(text);
    return is_plain_identifier(text.substr(0, dot)) && is_plain_identifier(text.substr(dot + 1));
}

error table_error(const std::string& table, const std::string& server, const std::string& problem,
                  const std::string& statement) {
    return {errc::refused, "The table " + table + " of " + server + " " + problem +
                               "; let an administrator run: ALTER TABLE " + table + " " +
                               statement + "."};
}

}  // namespace

bool is_shedlock_option(std::string_view name) noexcept {
    return std::ranges::find(option_names, name) != option_names.end();
}

bool shedlock_url_options::apply(const std::string& name, const std::string& value) {
    if (!is_shedlock_option(name)) return false;
    if (name == "layout") {
        if (value != "native" && value != "shedlock")
            throw error(errc::bad_url, "The URL's option layout=" + value +
                                           " is unknown; use layout=native, or layout=shedlock for "
                                           "locks that Java services with ShedLock share.");
        is_chosen_ = value == "shedlock";
        return true;
    }
    needs_layout_ = name;
    if (name == "table") {
        table_.name = value;
    } else if (name == "lock_at_least") {
        table_.lock_at_least = core::parse_duration_option(name, value, least_holds);
    } else if (value != "database_time") {
        throw error(errc::bad_url, "The URL's option others=" + value +
                                       " is not valid; others=database_time states that all "
                                       "other programs use the database's time.");
    } else {
        table_.others_use_database_time = true;
    }
    return true;
}

std::optional<shedlock_table> shedlock_url_options::table() const {
    if (is_chosen_) return table_;
    if (!needs_layout_.empty())
        throw error(errc::bad_option, "The URL's option " + needs_layout_ +
                                          " belongs to ShedLock's table; add layout=shedlock, or "
                                          "leave it out.");
    return std::nullopt;
}

void check_shedlock_table(const shedlock_table& table) {
    if (!is_table_name(table.name))
        throw error(errc::bad_option,
                    "The name of ShedLock's table must be TABLE or SCHEMA.TABLE, each a letter or "
                    "'_', then up to 62 letters, digits and '_'.");
    if (table.lock_at_least < least_holds.min || table.lock_at_least > least_holds.max)
        throw error(errc::bad_option, "lock_at_least must be between 0 and 24 h.");
    if (!table.others_use_database_time)
        throw error(errc::bad_option,
                    "ShedLock's table is safe only if all other programs take the time from the "
                    "database (in Java usingDbTime()); if they do, state it with "
                    "others=database_time.");
}

void append_shedlock_options(std::string& url, const shedlock_table& table) {
    core::append_option(url, "layout", "shedlock");
    if (table.name != shedlock_table().name) core::append_option(url, "table", table.name);
}

std::int64_t check_shedlock_columns(const std::vector<shedlock_column>& columns, bool has_key,
                                    const std::string& table, const std::string& server) {
    if (columns.empty())
        throw error(errc::refused, server + " has no table " + table +
                                       " that this user can see; let an administrator run the "
                                       "output of `pawl schema --role ROLE`.");
    struct wanted_column {
        std::string_view name, kind, type;
        std::int64_t least_size;  // where there is a limit
    };
    static constexpr std::array<wanted_column, 5> wanted{
        {{"name", "text", "VARCHAR(64)", 1},
         {"lock_until", "time", "TIMESTAMP(3)", 3},
         {"locked_at", "time", "TIMESTAMP(3)", 3},
         {"locked_by", "text", "VARCHAR(255)", 255},
         {"fence", "number", "BIGINT", 0}}};
    std::int64_t longest_name = 0;
    for (const auto& each : wanted) {
        const std::string name(each.name), type(each.type);
        const auto column = std::ranges::find(columns, name, &shedlock_column::name);
        if (column == columns.end())
            throw table_error(table, server,
                              "has no column " + name +
                                  (name == "fence" ? ", which Pawl needs for its tokens" : ""),
                              "ADD " + name + " " + type);
        // ShedLock's own columns are not Pawl's to change.
        if (column->kind != each.kind)
            throw error(errc::refused, "The column " + name + " of the table " + table + " of " +
                                           server + " has the type " + column->kind +
                                           "; ShedLock's table has " + type +
                                           " without a time zone of its own.");
        if (column->kind == "time" ? column->size < each.least_size
                                   : column->size != 0 && column->size < each.least_size)
            throw error(errc::refused,
                        "The column " + name + " of the table " + table + " of " + server +
                            " is too small (" + std::to_string(column->size) +
                            (column->kind == "time" ? " digits of a second" : " characters") +
                            "); it must be " + type + ".");
        if (name == "name") longest_name = column->size;
    }
    if (!has_key)
        throw table_error(table, server, "may have a name twice", "ADD PRIMARY KEY (name)");
    return longest_name;
}

finding others_finding(std::int64_t future_locks) {
    using grade = finding::grade;
    if (future_locks == 0)
        return {grade::note, "other programs", "use the database's time, as the options state", ""};
    return {grade::bad, "other programs",
            std::to_string(future_locks) + " of their locks began in the future",
            "they use other clocks or time zones, so that two of them can have a lock; configure "
            "usingDbTime() in all of them"};
}

}  // namespace pawl::sql
