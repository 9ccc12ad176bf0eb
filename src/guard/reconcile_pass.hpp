// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One pass of a reconciliation without I/O: its statements, its counts, and the times at which it
// repairs. The sync and the async driver execute and wait.
#pragma once

#include "reconcile_statements.hpp"

#include <pawl/guard/fence_result.hpp>
#include <pawl/spi/runtime.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pawl::guard {

// Throw errc::bad_option, and errc::unsupported for an open transaction.
void check_reconciliation(const std::string& name, const reconcile_options& options);
void expect_no_transaction(bool is_open, const std::string& name);

class reconcile_pass {
public:
    // No token: a dry run.
    reconcile_pass(dialect spoken, std::string name, const reconcile_options& options,
                   fencing_token token = {});

    // Of the cursor.
    [[nodiscard]] std::string fence_name() const { return "reconcile/" + progress_.name; }
    [[nodiscard]] fencing_token token() const noexcept { return report_.token; }

    // For the first transaction. `begin` continues the run that has not ended, or begins one.
    [[nodiscard]] statement newest_run() const;
    [[nodiscard]] statement begin(const rows& newest);
    // A larger token than that of a lock which is still held: throws errc::refused.
    void judge_first_fence(const fence_result& fence, bool is_held) const;

    // For the transaction behind each batch, and for the last one, which ends the run and deletes
    // old runs.
    [[nodiscard]] statement advance(bool ends = false) const;
    void expect_row(const rows& answer) const;
    [[nodiscard]] statement superfluous() const;
    [[nodiscard]] statement forget(const rows& newest_superfluous) const;

    // Throws errc::bad_option for wrong keys, or the last key again.
    void expect_progress(const std::vector<std::string>& keys) const;
    void count(const std::string& key, repair_result result, std::string reason = {});
    void count_dry(const std::vector<std::string>& keys);
    // How long the next repair must wait; counts that it begins then.
    [[nodiscard]] duration pause_before_repair(time_point now) noexcept;

    [[nodiscard]] const std::string& after() const noexcept { return progress_.after; }
    [[nodiscard]] reconcile_report end(reconcile_end how);

private:
    dialect spoken_;
    duration between_repairs_;
    run_progress progress_;
    reconcile_report report_;
    std::optional<time_point> next_repair_;
};

// How often a transaction that lost a conflict is repeated, and after which pauses.
class conflict_pauses {
public:
    // Nothing: often enough.
    [[nodiscard]] std::optional<duration> next();

private:
    int conflicts_ = 0;
};

}  // namespace pawl::guard
