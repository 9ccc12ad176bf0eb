// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code for coroutines of docs/guide/schedules.md.
#include <pawl/client.hpp>
#include <pawl/guard/async_scheduler.hpp>

#include <boost/asio/awaitable.hpp>

#include <stop_token>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> async_repair(pawl::fencing_token token, std::stop_token lost);
asio::awaitable<int> async_repair_orders(const pawl::guard::running_tick& running);
asio::awaitable<void> run_jobs(pawl::client& locks, pawl::guard::async_connection& database,
                               std::stop_token stop);

asio::awaitable<int> async_repair_orders(const pawl::guard::running_tick& running) {
    co_await async_repair(running.token, running.lost);
    co_return 0;
}

asio::awaitable<void> run_jobs(pawl::client& locks, pawl::guard::async_connection& database,
                               std::stop_token stop) {
    pawl::guard::async_sql_tick_records records(database);
    co_await records.make_schema();
    pawl::guard::async_scheduler jobs(locks, records);
    jobs.add("orders/nightly", pawl::guard::cron_schedule::parse("30 2 * * *", "Europe/Berlin"),
             {.late = 10min, .max = 2h}, async_repair_orders);
    co_await jobs.run(stop);
}
