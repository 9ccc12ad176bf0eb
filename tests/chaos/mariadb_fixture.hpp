// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private MariaDB or MySQL server, and clients whose log is captured.
#pragma once

#include "database_fixture.hpp"

#include <support/mariadb_server.hpp>

namespace chaos {

class mariadb_fixture : public served_database<support::mariadb_server> {
public:
    explicit mariadb_fixture(support::mariadb_settings settings = {});

    [[nodiscard]] std::string url_with(const std::string& suffix) const override {
        return server.url("pawl", suffix);
    }
    [[nodiscard]] std::int64_t number(const std::string& sql) const override {
        return server.number(sql);
    }
    [[nodiscard]] std::int64_t server_time() const override {
        return number("SELECT unix_timestamp()");
    }
    // The first connection of each session.
    std::int64_t end_sessions() override { return end_holders_of("pawl."); }
    // The connections by which messages come.
    std::int64_t end_listeners() const { return end_holders_of("pawl-"); }
    void end_connections(int round) override {
        (void)end_holders_of(round % 2 == 0 ? "pawl." : "pawl-");
    }
    void require_hello() override { server.execute("UPDATE pawl.meta SET server = 'another'"); }
    [[nodiscard]] pawl::loss_reason reason_of_ended_session() const override {
        return pawl::loss_reason::missing;
    }
    [[nodiscard]] bool becomes_clean() const override;

private:
    // Ends the connections that hold a user lock whose name begins so. Returns their number.
    std::int64_t end_holders_of(const std::string& user_lock) const;
};

// For tests on both products.
class mysql_test : public testing::TestWithParam<support::database_product>,
                   protected mariadb_fixture {
protected:
    mysql_test() : mariadb_fixture({.product = GetParam()}) {}
};

inline const auto both_products =
    testing::Values(support::database_product::mariadb, support::database_product::mysql);

inline std::string name_of(support::database_product product) {
    return product == support::database_product::mysql ? "MySql" : "MariaDb";
}
inline std::string product_name(const testing::TestParamInfo<support::database_product>& tested) {
    return name_of(tested.param);
}

}  // namespace chaos
