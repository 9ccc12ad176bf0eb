// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/style.hpp"
#include "../verbs/verbs.hpp"
#include "cron_file.hpp"
#include "cron_scheduler.hpp"
#include "history.hpp"
#include "record_store.hpp"

#include <unistd.h>
#include <chrono>
#include <iostream>

namespace pawl::cli {

namespace {

// Only to show the next ticks; the database's clock decides.
std::chrono::sys_seconds shown_time() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

void check_arguments(const cron_options& options) {
    const int modes = int{options.check} + int{options.history} + int{options.schema};
    if (modes > 1)
        throw failure(exit_code::usage,
                      "--check, --history and --schema contradict each other; use one of them.");
    const bool needs_file = options.check || modes == 0;
    if (needs_file && options.file.empty())
        throw failure(exit_code::usage,
                      "The file with the schedules is missing, as in: pawl cron FILE.");
    if (!needs_file && !options.file.empty())
        throw failure(exit_code::usage,
                      "A file is of no use with --history and --schema; for one "
                      "schedule write --history --name NAME.");
    if (!options.history && !options.name.empty())
        throw failure(exit_code::usage, "--name is for --history; leave it out.");
    if (options.json && modes == 0)
        throw failure(exit_code::usage, "--json is for --check and --history; leave it out.");
}

void print_next_ticks(const std::vector<cron_line>& lines, bool as_json) {
    const auto now = shown_time();
    json text;
    text.begin_array();
    table rows({{.title = "NAME"},
                {.title = "SCHEDULE"},
                {.title = "NEXT"},
                {.title = "TICK"},
                {.title = "COMMAND", .flexible = true}});
    for (const auto& line : lines) {
        const auto next = line.schedule.next(now);
        const auto local = next ? line.schedule.local_text(next->due) : std::string();
        const auto key = next ? next->key : std::string();
        rows.add({{printable(line.name)},
                  {line.schedule.text()},
                  {local},
                  {key},
                  {printable(line.command)}});
        text.begin_object().field("name", line.name).field("schedule", line.schedule.text());
        text.field("zone", line.schedule.zone()).field("next", local).field("tick", key);
        text.field("command", line.command).end_object();
    }
    if (as_json)
        std::cout << text.end_array().str() << '\n';
    else
        std::cout << rows.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
}

// Prints all errors of the file.
int check_file(const cron_options& options) {
    const auto file = read_cron_file(options.file);
    for (const auto& each : file.errors)
        say(each);
    print_next_ticks(file.lines, options.json);
    return static_cast<int>(file.errors.empty() ? exit_code::ok : exit_code::config);
}

int run_file(const cron_options& options) {
    const auto file = read_cron_file(options.file);
    if (!file.errors.empty()) throw failure(exit_code::config, file.errors.front());
    const auto location = find_shared_location(options.location);
    return cron_scheduler(file.lines, location, options.verbose).run();
}

int print_schema(const cron_options& options) {
    const auto location = find_shared_location(options.location);
    record_store store(location);
    for (const auto& each : guard::sql_tick_records::schema(store.dialect()))
        std::cout << each << ";\n";
    return static_cast<int>(exit_code::ok);
}

int show_history(const cron_options& options) {
    const auto location = find_shared_location(options.location);
    record_store store(location, guard::if_missing::refuse);
    print_history(store.records().history(options.name, options.last), options.json);
    return static_cast<int>(exit_code::ok);
}

// A lock file gives no code of its own.
bool is_table_missing(const guard::database_error& problem) {
    const std::string_view text = problem.what();
    return problem.code() == "42P01" || problem.code() == "1146" ||
           text.find("no such table: pawl_tick") != std::string_view::npos;
}

// The codes of the servers for a right that is missing.
std::string advice_for(const guard::database_error& problem) {
    const bool is_denied = problem.code() == "42501" || problem.code() == "1142";
    return is_denied ? "; let an administrator grant this user SELECT on pawl_tick." : "";
}

// The library's message, with the exit status of a service that cannot be reached.
[[noreturn]] void report_database_error(const guard::database_error& problem,
                                        const location_options& options) {
    if (is_table_missing(problem))
        throw failure(exit_code::refused, find_shared_location(options).lock_service.describe() +
                                              " has no ticks: `pawl cron` has not run there yet.");
    throw failure(problem.is_connection_lost() ? exit_code::unreachable : exit_code::refused,
                  problem.what() + advice_for(problem));
}

}  // namespace

int cron(const cron_options& options) {
    check_arguments(options);
    if (options.check) return check_file(options);
    try {
        if (options.history) return show_history(options);
        if (options.schema) return print_schema(options);
        return run_file(options);
    } catch (const guard::database_error& problem) {
        report_database_error(problem, options.location);
    }
}

}  // namespace pawl::cli
