// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private MariaDB or MySQL server, and clients whose log is captured.
#pragma once

#include "redis_fixture.hpp"  // log_capture, failure, loss_recorder and others

#include <support/mariadb_server.hpp>

#include <pawl/service.hpp>

namespace chaos {

class mariadb_fixture {
public:
    explicit mariadb_fixture(support::mariadb_settings settings = {});

    // `suffix` is the end of the URL.
    [[nodiscard]] client client_with(const std::string& suffix = {});
    [[nodiscard]] client client_at(const std::string& url, pawl::duration try_limit = 10s);
    // The failure of the call; its message is logged too.
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call);
    // Of an acquire that would wait for long, as the error says whether waiting helps.
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url);
    [[nodiscard]] static bool is_taken(client& locks, const std::string& name);
    // Acquires and releases the lock, and expects that each token is larger than the one before.
    static void expect_pairs(client& locks, const std::string& name, int count);

    [[nodiscard]] std::int64_t waiters(const std::string& name) const;
    // Ends the connections that hold a user lock whose name begins so: "pawl." for the sessions,
    // "pawl-" for their listeners. Returns their number.
    int end_connections(const std::string& user_lock) const;
    // Waits until no lock is held and nobody waits.
    [[nodiscard]] bool becomes_clean() const;

    support::mariadb_server server;
    log_capture client_log;
};

// For tests on both products.
class mysql_test : public testing::TestWithParam<support::database_product>,
                   protected mariadb_fixture {
protected:
    mysql_test() : mariadb_fixture({.product = GetParam()}) {}
};

inline const auto both_products =
    testing::Values(support::database_product::mariadb, support::database_product::mysql);

inline std::string product_name(const testing::TestParamInfo<support::database_product>& tested) {
    return tested.param == support::database_product::mysql ? "MySql" : "MariaDb";
}

}  // namespace chaos
