// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The databases on which the layers behind the lock are tested: a server of each product for the
// whole program, and an empty database for each test.
#pragma once

#include <pawl/guard/async_connection.hpp>
#include <pawl/guard/connection.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace guard_tests {

namespace asio = boost::asio;
namespace guard = pawl::guard;

// A connection of a client library, and the view of it.
class open_connection {
public:
    virtual ~open_connection() = default;
    virtual guard::connection& view() = 0;
    guard::rows run(const std::string& text, std::vector<guard::value> parameters = {}) {
        return view().execute({text, std::move(parameters)});
    }
    // The first value of the first row.
    std::int64_t number(const std::string& text) {
        return guard::as_number(run(text).values.at(0).at(0));
    }
};
class open_async_connection {
public:
    virtual ~open_async_connection() = default;
    virtual guard::async_connection& view() = 0;
    // Of the same connection, for a coroutine that may block.
    virtual guard::connection& blocking_view() = 0;
};

// Not thread-safe.
class test_database {
public:
    virtual ~test_database() = default;
    [[nodiscard]] virtual guard::dialect dialect() const = 0;
    // Another process opens the same database with this text.
    [[nodiscard]] virtual std::string address() const = 0;
    // With this isolation as the session's default; empty: that of the database.
    virtual std::unique_ptr<open_connection> connect(const std::string& isolation = {}) = 0;
    virtual std::unique_ptr<open_async_connection> connect(asio::any_io_executor executor) = 0;
};

struct product {
    std::string name;
    // With an empty database, or with that of the address.
    std::unique_ptr<test_database> (*make)(const std::string& address);
    std::vector<std::string> isolations;

    friend void PrintTo(const product& tested, std::ostream* out) { *out << tested.name; }
};

// Those of this build. MySQL is only there if it is installed.
[[nodiscard]] const std::vector<product>& products();
// The database that another process has made.
[[nodiscard]] std::unique_ptr<test_database> open_database(const std::string& product_name,
                                                           const std::string& address);

std::unique_ptr<test_database> make_sqlite(const std::string& address);
std::unique_ptr<test_database> make_postgres(const std::string& address);
std::unique_ptr<test_database> make_mariadb(const std::string& address);
std::unique_ptr<test_database> make_mysql(const std::string& address);

// The ? of MySQL, and $1 … of PostgreSQL and ?1 … of SQLite, in place of each {}.
[[nodiscard]] std::string with_places(std::string text, guard::dialect spoken);

// Tests on every product: EVERY_DATABASE(Suite) after the tests of a suite.
class database_test : public testing::TestWithParam<product> {
protected:
    [[nodiscard]] std::string places(std::string text) const {
        return with_places(std::move(text), database->dialect());
    }

    const std::unique_ptr<test_database> database = GetParam().make({});
};
inline std::string name_of(const testing::TestParamInfo<product>& tested) {
    return tested.param.name;
}

}  // namespace guard_tests

#define EVERY_DATABASE(suite)                                                       \
    INSTANTIATE_TEST_SUITE_P(On, suite, testing::ValuesIn(guard_tests::products()), \
                             guard_tests::name_of)
