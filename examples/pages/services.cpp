// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code of the pages that shows how a program opens a service. It is compiled and not run: most
// of it needs a Redis server.
#include <pawl/blocking.hpp>
#include <pawl/blocking/mutex.hpp>
#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/both.hpp>
#include <pawl/client.hpp>
#include <pawl/redis.hpp>
#include <pawl/redlock.hpp>
#include <pawl/redlock_administration.hpp>
#include <pawl/with_diagnostics.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

namespace asio = boost::asio;
using namespace std::chrono_literals;

void charge(pawl::fencing_token token) { std::cout << "charged under token " << token << '\n'; }

// docs/backends/security.md
std::string request_token() { return "token"; }

pawl::redis::options with_a_token() {
    pawl::redis::options options;
    options.where = pawl::redis::server{.host = "locks.example.com"};
    options.tls.enabled = true;
    options.credentials = [] { return pawl::login{"app", request_token()}; };
    return options;
}

// docs/backends/redis.md
pawl::service of_one_server() {
    return pawl::redis::at({.where = pawl::redis::server{.host = "db"}});
}

pawl::service of_a_monitored_master() {
    const pawl::redis::sentinels named{.addresses = {{"s1"}, {"s2"}, {"s3"}},
                                       .master_name = "orders"};
    return pawl::redis::at({.where = named, .user = "app", .password_file = "/run/secrets/redis"});
}

pawl::service of_a_cluster() {
    return pawl::redis::at({.where = pawl::redis::cluster{.nodes = {{"n1"}, {"n2"}, {"n3"}}}});
}

// docs/backends/redlock.md
pawl::redlock::options three_nodes() {
    using pawl::redis::server;
    return {.nodes = {server{"a"}, server{"b"}, server{"c"}}, .ttl_max = 30s, .user = "app"};
}

void begin_the_set() {
    const pawl::blocking::redlock_administration set(three_nodes());
    set.begin_set();
    for (const auto& each : set.examine())
        if (!each.votes) std::cerr << each.name << ": " << each.objection << '\n';
}

asio::awaitable<void> let_nodes_join_again(pawl::redlock::administration& set) {
    const auto nodes = co_await set.async_rejoin();
    for (const auto& each : nodes)
        if (!each.warning.empty()) std::cerr << each.name << ": " << each.warning << '\n';
}

// docs/guide/tutorial.md
void count_one_visit() {
    pawl::blocking::client locks(pawl::from_url("redis://localhost"));

    int visits = 0;  // a plain int: only the lock keeps the threads apart
    {
        auto lock = locks.acquire("visits", {.ttl = 10s, .wait = 1min});
        ++visits;
    }  // released here, on every path
    std::cout << visits << '\n';
}

void log_outages(const pawl::service& service) {
    pawl::client_options options;
    options.log = [](std::string_view line) { std::clog << line << '\n'; };
    pawl::blocking::client locks(service, options);
}

void lock_both_accounts(pawl::blocking::client& locks) {
    pawl::blocking::mutex a(locks, "account/savings", {.ttl = 10s});
    pawl::blocking::mutex b(locks, "account/current", {.ttl = 10s});

    std::scoped_lock both(a, b);  // in any order: std::scoped_lock prevents a deadlock
}

asio::awaitable<void> print_the_message(pawl::client& locks) {
    pawl::diagnostics diag;
    auto result = co_await locks.async_acquire(
        "shelf", {.wait = 1min}, pawl::redirect_diagnostics(asio::as_tuple(asio::deferred), diag));
    if (std::get<0>(result)) std::cerr << diag.message() << '\n';
}

// docs/backends/redisson.md
void share_with_java() {
    pawl::blocking::client locks(pawl::from_url("redis://localhost?layout=redisson"));
    auto lock = locks.acquire("order:42", {.ttl = 30s});  // Java: getFencedLock("order:42")
    charge(lock.token());                                 // from the same counter as Java's tokens
}

// docs/backends/interop.md
void share_a_value(pawl::blocking::client& locks, std::string_view ticket) {
    auto lock = locks.acquire_as("report", ticket, {.ttl = 30s, .wait = 10s});
    auto adopted = locks.adopt("report", ticket, {.ttl = 30s});  // a hold of another program
}

// docs/contributing/testing.md
void make_the_code_under_test_wait() {
    const pawl::service service = pawl::from_url("memory:");
    pawl::blocking::client locks(service);
    auto lock = locks.acquire("gate");  // now the code under test finds the lock taken
}

// docs/guide/urls.md
void share_memory() {
    const pawl::service service = pawl::from_url("memory:");
    pawl::blocking::client worker(service);
    pawl::blocking::client operations(service);
}

// docs/guide/moving.md
void move(std::string_view old_url, std::string_view new_url) {
    const pawl::service old_store = pawl::from_url(old_url);
    const pawl::service new_store = pawl::from_url(new_url);
    pawl::blocking::client locks(pawl::both(old_store, new_store));
    auto lock = locks.acquire("report", {.ttl = 30s});
}
