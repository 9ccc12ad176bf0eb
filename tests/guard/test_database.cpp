// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_database.hpp"

#include <stdexcept>

#if PAWL_WITH_MYSQL
#include <support/mariadb_server.hpp>
#endif

namespace guard_tests {

const std::vector<product>& products() {
    static const auto all = [] {
        std::vector<product> made;
#if PAWL_WITH_SQLITE
        made.push_back({"Sqlite", &make_sqlite, {""}});
#endif
        const std::vector<std::string> levels{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};
#if PAWL_WITH_POSTGRES
        made.push_back({"Postgres", &make_postgres, levels});
#endif
#if PAWL_WITH_MYSQL
        made.push_back({"MariaDb", &make_mariadb, levels});
        made.push_back({"MySql", &make_mysql, levels});
#endif
        return made;
    }();
    return all;
}

std::unique_ptr<test_database> open_database(const std::string& product_name,
                                             const std::string& address) {
    for (const auto& each : products())
        if (each.name == product_name) return each.make(address);
    throw std::invalid_argument("There is no database " + product_name);
}

std::string with_places(std::string text, guard::dialect spoken) {
    int count = 0;
    for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}", at)) {
        const auto number = std::to_string(++count);
        text.replace(at, 2,
                     spoken == guard::dialect::mysql      ? "?"
                     : spoken == guard::dialect::postgres ? "$" + number
                                                          : "?" + number);
    }
    return text;
}

}  // namespace guard_tests
