// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code of docs/guide/schedules.md.
#include <pawl/blocking.hpp>
#include <pawl/guard/open_database.hpp>
#include <pawl/guard/scheduler.hpp>

#include <stdexcept>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;

void run_schedules(const std::string& url, std::stop_token stop);
void repair(pawl::fencing_token token, std::stop_token lost);

void run_schedules(const std::string& url, std::stop_token stop) {
    pawl::blocking::client locks(pawl::from_url(url));
    const auto database = pawl::guard::open_database(url);
    if (!database) throw std::invalid_argument("The ticks need a database; use its URL.");
    pawl::guard::sql_tick_records records(*database);  // or over a view of your own connection
    records.make_schema();
    pawl::guard::scheduler jobs(locks, records);
    jobs.add("orders/nightly", pawl::guard::cron_schedule::parse("30 2 * * *", "Europe/Berlin"),
             {.late = 10min, .max = 2h}, [](const pawl::guard::running_tick& running) {
                 repair(running.token, running.lost);
                 return 0;
             });
    jobs.run(stop);
}
