// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl once`: the records of `once`, which programs make.
#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/lock_view.hpp"
#include "../verbs/verbs.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/records.hpp>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pawl::cli {

namespace {

using records = std::vector<guard::once_record>;

constexpr std::uint32_t batch_size = 1000;

std::unique_ptr<guard::connection> open_records(const once_records_options& options) {
    const auto location = find_shared_location(options.location);
    auto database = guard::open_database(location.secret_url, guard::if_missing::refuse);
    if (!database)
        throw failure(exit_code::usage,
                      "The records of `once` that this command shows are in a database, and " +
                          location.lock_service.describe() +
                          " is none; name the database with --on.");
    return database;
}

void write(json& text, const guard::once_record& record) {
    text.begin_object();
    text.field("scope", record.scope).field("key", record.key);
    text.field("token", to_string(record.token)).field("attempts", std::int64_t{record.attempts});
    const auto overdue = std::chrono::duration_cast<std::chrono::milliseconds>(record.overdue);
    text.field("overdue_ms", std::int64_t{overdue.count()}).field("why", record.why);
    text.end_object();
}

void print_json(const records& listed) {
    json text;
    text.begin_array();
    for (const auto& each : listed)
        write(text, each);
    std::cout << text.end_array().str() << '\n';
}

void print_table(const records& listed) {
    table rows({{.title = "SCOPE"},
                {.title = "KEY"},
                {.title = "ATTEMPTS", .side = table::align::right},
                {.title = "OVERDUE", .side = table::align::right},
                {.title = "WHY", .flexible = true}});
    for (const auto& each : listed)
        rows.add({{printable(each.scope)},
                  {printable(each.key)},
                  {std::to_string(each.attempts)},
                  {format_readable(each.overdue)},
                  {printable(each.why)}});
    std::cout << rows.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
}

// One more than are printed: then there are more.
std::uint32_t read_limit(const once_records_options& options) {
    return std::max(options.last, options.last + 1);
}

int print(records listed, const once_records_options& options) {
    const bool has_more = listed.size() > options.last;
    if (has_more) listed.pop_back();
    if (options.json)
        print_json(listed);
    else if (!listed.empty())
        print_table(listed);
    else if (::isatty(STDOUT_FILENO) == 1)
        std::cout << "There is no such operation.\n";
    if (has_more)
        say("There are more than " + std::to_string(options.last) + "; raise --last to see them.");
    return static_cast<int>(exit_code::ok);
}

// A batch that meets a deadlock is repeated. After some of these in a row, the failure is told.
std::uint64_t purge_batch(guard::connection& database) {
    constexpr int most_conflicts = 5;
    constexpr std::chrono::milliseconds pause(200);
    for (int conflicts = 1;; ++conflicts) {
        try {
            return guard::purge(database, batch_size);
        } catch (const guard::conflict&) {
            if (conflicts == most_conflicts) throw;
        }
        std::this_thread::sleep_for(pause);
    }
}

int purge_all(guard::connection& database, bool as_json) {
    std::uint64_t removed = 0;
    for (std::uint64_t last = batch_size; last == batch_size;) {
        last = purge_batch(database);
        removed += last;
        if (last == batch_size && ::isatty(STDERR_FILENO) == 1)
            std::cerr << '\r' << removed << " removed" << std::flush;
    }
    if (::isatty(STDERR_FILENO) == 1 && removed >= batch_size) std::cerr << '\r';
    json text;
    text.begin_object().field("removed", static_cast<std::int64_t>(removed)).end_object();
    if (as_json)
        std::cout << text.str() << '\n';
    else
        std::cout << removed << (removed == 1 ? " record was" : " records were") << " removed.\n";
    return static_cast<int>(exit_code::ok);
}

int run_operation(const once_records_options& options) {
    const auto& wanted = options.operation;
    if (wanted != "unfinished" && wanted != "failed" && wanted != "purge")
        throw failure(exit_code::usage, "The operation '" + printable(wanted) +
                                            "' does not exist; write unfinished, failed or purge.");
    const auto database = open_records(options);
    if (wanted == "purge") return purge_all(*database, options.json);
    auto listed = wanted == "failed"
                      ? guard::failed(*database, {}, read_limit(options))
                      : guard::unfinished(*database, options.older_than, {}, read_limit(options));
    return print(std::move(listed), options);
}

}  // namespace

int once_records(const once_records_options& options) {
    try {
        return run_operation(options);
    } catch (const guard::database_error& problem) {
        throw failure(problem.is_connection_lost() ? exit_code::unreachable : exit_code::refused,
                      problem.what());
    }
}

}  // namespace pawl::cli
