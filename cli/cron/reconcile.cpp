// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl reconcile --history`: the runs of reconciliations, which programs make.
#include "../ui/failure.hpp"
#include "../ui/lock_view.hpp"
#include "../verbs/verbs.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/reconcile_report.hpp>

#include <unistd.h>
#include <iostream>
#include <vector>

namespace pawl::cli {

namespace {

using reconcile_runs = std::vector<guard::reconcile_run>;

reconcile_runs read_runs(const reconcile_options& options) {
    const auto location = find_shared_location(options.location);
    const auto database = guard::open_database(location.secret_url, guard::if_missing::refuse);
    if (!database)
        throw failure(exit_code::usage, "Reconciliations store their runs in a database, and " +
                                            location.lock_service.describe() +
                                            " is none; name the database with --on.");
    return guard::reconcile_history(*database, options.name, options.last);
}

std::string counted(std::uint64_t count) { return std::to_string(count); }

void print_runs(const reconcile_runs& runs) {
    if (runs.empty()) {
        if (::isatty(STDOUT_FILENO) == 1) std::cout << "No reconciliation has run yet.\n";
        return;
    }
    table lines({{.title = "NAME"},
                 {.title = "BEGAN"},
                 {.title = "ENDED"},
                 {.title = "KEYS", .side = table::align::right},
                 {.title = "REPAIRED", .side = table::align::right},
                 {.title = "AGREED", .side = table::align::right},
                 {.title = "FAILED", .side = table::align::right},
                 {.title = "LAST FAILURE", .flexible = true}});
    for (const auto& run : runs)
        lines.add(
            {{printable(run.name)},
             {format_utc(run.began)},
             {run.ended ? format_utc(*run.ended) : "not yet"},
             {counted(run.counts.keys)},
             {counted(run.counts.repaired)},
             {counted(run.counts.agreed)},
             {counted(run.counts.failed), run.counts.failed > 0 ? colour::yellow : colour::none},
             {printable(run.error)}});
    std::cout << lines.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
}

}  // namespace

int reconcile(const reconcile_options& options) {
    if (!options.history)
        throw failure(exit_code::usage,
                      "Only a program can repair its records, by pawl/guard/reconciliation.hpp; "
                      "add --history to see the runs.");
    try {
        const auto runs = read_runs(options);
        if (options.json)
            std::cout << guard::to_json(runs) << '\n';
        else
            print_runs(runs);
    } catch (const guard::database_error& problem) {
        throw failure(problem.is_connection_lost() ? exit_code::unreachable : exit_code::refused,
                      problem.what());
    }
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
