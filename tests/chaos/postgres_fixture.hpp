// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private PostgreSQL server, a proxy before it, and clients whose log is captured.
#pragma once

#include "database_fixture.hpp"

#include <support/postgres_proxy.hpp>
#include <support/postgres_server.hpp>

namespace chaos {

using support::sql_client;
using support::sql_fault_kind;

class postgres_fixture : public served_database<support::postgres_server> {
public:
    explicit postgres_fixture(support::postgres_options options = {});

    [[nodiscard]] std::string url_with(const std::string& suffix) const override {
        return server.url(database, suffix);
    }
    // To the test's database, through the proxy.
    [[nodiscard]] client proxied_client(const std::string& suffix = {}) {
        return client_at(proxy.url(database, suffix));
    }
    // A URL of the test's database for another user.
    [[nodiscard]] std::string url_for(const std::string& user) const;

    // Makes the schema, and connects the client.
    static void warm(client& locks) {
        (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    }

    // The superuser's, in the test's database.
    std::vector<support::sql_row> execute(const std::string& sql) const;
    [[nodiscard]] std::int64_t number(const std::string& sql) const override;
    [[nodiscard]] std::int64_t server_time() const override {
        return number("SELECT floor(extract(epoch FROM clock_timestamp()))");
    }
    std::int64_t end_sessions() override;
    void end_connections(int) override { (void)end_sessions(); }
    void require_hello() override { execute("DELETE FROM pawl.boot"); }
    [[nodiscard]] pawl::loss_reason reason_of_ended_session() const override {
        return pawl::loss_reason::forced;
    }
    [[nodiscard]] bool is_held(const std::string& name) const;
    // Locks named "warm" do not count.
    [[nodiscard]] bool becomes_clean() const override;

    const std::string database;
    support::postgres_proxy proxy;
};

}  // namespace chaos
