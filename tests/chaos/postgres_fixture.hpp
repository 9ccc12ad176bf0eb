// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private PostgreSQL server, a proxy before it, and clients whose log is captured.
#pragma once

#include "redis_fixture.hpp"  // log_capture, failure, loss_recorder and others

#include <support/postgres_proxy.hpp>
#include <support/postgres_server.hpp>

#include <pawl/service.hpp>

namespace chaos {

using support::sql_client;
using support::sql_fault_kind;

// Of one attempt: granted, busy, or why not.
enum class try_result { granted, busy, failed };

class postgres_fixture {
public:
    explicit postgres_fixture(support::postgres_options options = {});

    // To the test's database, directly or through the proxy. `suffix` is the end of the URL.
    [[nodiscard]] client direct_client(const std::string& suffix = {});
    [[nodiscard]] client proxied_client(const std::string& suffix = {});
    [[nodiscard]] client client_at(const std::string& url, pawl::duration try_limit = 10s);
    // A URL of the test's database for another user.
    [[nodiscard]] std::string url_for(const std::string& user) const;

    // The failure of the call; its message is logged too.
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call);
    [[nodiscard]] static try_result result_of_try(client& locks, const std::string& name);
    // Makes the schema, and connects the client.
    static void warm(client& locks) {
        (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    }
    // Acquires and releases the lock, and expects that each token is larger than the one before.
    static void expect_pairs(client& locks, const std::string& name, int count);

    // The superuser's, in the test's database.
    std::vector<support::sql_row> execute(const std::string& sql) const;
    [[nodiscard]] std::int64_t number(const std::string& sql) const;
    // Ends all sessions of the test's database. Returns their number.
    std::int64_t end_sessions() const;
    [[nodiscard]] std::int64_t waiters(const std::string& name) const;
    [[nodiscard]] bool is_held(const std::string& name) const;
    // Waits until no lock is held and nobody waits, except for locks named "warm".
    [[nodiscard]] bool becomes_clean() const;

    support::postgres_server server;
    const std::string database;
    support::postgres_proxy proxy;
    log_capture client_log;
};

}  // namespace chaos
