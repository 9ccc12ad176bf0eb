// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "reconcile_statements.hpp"

#include "dialect_text.hpp"

#include <pawl/error.hpp>

#include <stdexcept>

namespace pawl::guard {
namespace {

constexpr int kept_runs = 100;

fencing_token token_in(const value& cell) {
    return fencing_token(static_cast<std::uint64_t>(as_number(cell)));
}
std::uint64_t count_in(const value& cell) { return static_cast<std::uint64_t>(as_number(cell)); }

std::chrono::system_clock::time_point time_in(const value& cell) {
    return std::chrono::system_clock::time_point(std::chrono::microseconds(as_number(cell)));
}

std::int64_t number(std::uint64_t count) noexcept { return static_cast<std::int64_t>(count); }

reconcile_run run_of(const std::vector<value>& row) {
    reconcile_run run;
    run.name = as_string(row.at(0));
    run.number = token_in(row.at(1));
    run.token = token_in(row.at(2));
    run.after = as_string(row.at(3));
    run.counts = {count_in(row.at(4)), count_in(row.at(5)), count_in(row.at(6)),
                  count_in(row.at(7))};
    run.began = time_in(row.at(8));
    if (!std::holds_alternative<std::monostate>(row.at(9))) run.ended = time_in(row[9]);
    run.error = as_string(row.at(10));
    return run;
}

}  // namespace

statement select_runs(dialect spoken, std::string_view name, std::uint32_t limit) {
    const std::string columns =
        "SELECT name, run, token, after_key, found, repaired, agreed, failed, began, ended, error "
        "FROM pawl_reconcile ";
    const auto end = " DESC LIMIT " + std::to_string(limit);
    if (name.empty()) return in_dialect(spoken, columns + "ORDER BY began" + end, {});
    return in_dialect(spoken, columns + "WHERE name = $1 ORDER BY run" + end, {std::string(name)});
}

std::vector<reconcile_run> runs_of(const rows& answer) {
    std::vector<reconcile_run> runs;
    try {
        for (const auto& row : answer.values)
            runs.push_back(run_of(row));
    } catch (const std::logic_error&) {
        throw error(errc::protocol,
                    "A row of pawl_reconcile is not as Pawl writes it; compare the table with the "
                    "output of `pawl schema --guard`.");
    }
    return runs;
}

statement insert_run(dialect spoken, const run_progress& progress) {
    return in_dialect(
        spoken,
        "INSERT INTO pawl_reconcile (name, run, token, after_key, found, repaired, "
        "agreed, failed, began, error) VALUES ($1, $2, $3, $4, 0, 0, 0, 0, {clock}, "
        "$5)",
        {progress.name, progress.run, progress.token, progress.after, progress.error});
}

statement update_run(dialect spoken, const run_progress& progress, bool ends) {
    const auto& counts = progress.counts;
    return in_dialect(
        spoken,
        std::string("UPDATE pawl_reconcile SET token = $1, after_key = $2, found = $3, repaired = "
                    "$4, agreed = $5, failed = $6, error = $7") +
            (ends ? ", ended = {clock}" : "") + " WHERE name = $8 AND run = $9",
        {progress.token, progress.after, number(counts.keys), number(counts.repaired),
         number(counts.agreed), number(counts.failed), progress.error, progress.name,
         progress.run});
}

statement select_superfluous(dialect spoken, const std::string& name) {
    return in_dialect(spoken,
                      "SELECT run FROM pawl_reconcile WHERE name = $1 ORDER BY run DESC LIMIT 1 "
                      "OFFSET " +
                          std::to_string(kept_runs),
                      {name});
}

// Without a newest one it deletes nothing: the number of a run is positive.
statement delete_until(dialect spoken, const std::string& name, const rows& newest) {
    const auto run = newest.values.empty() ? 0 : as_number(newest.values.front().at(0));
    return in_dialect(spoken, "DELETE FROM pawl_reconcile WHERE name = $1 AND run <= $2",
                      {name, run});
}

}  // namespace pawl::guard
