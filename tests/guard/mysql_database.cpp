// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_database.hpp"

#include <support/mariadb_server.hpp>

#include <pawl/guard/async_mysql.hpp>
#include <pawl/guard/mysql.hpp>

#include <mysql.h>

#include <stdexcept>

namespace guard_tests {
namespace {

using support::database_product;
using mysql_handle = std::unique_ptr<MYSQL, decltype(&::mysql_close)>;

struct mysql_place {
    unsigned port = 0;
    std::string database;
};

mysql_handle connect_to_mysql(const mysql_place& place, bool is_async) {
    mysql_handle handle(::mysql_init(nullptr), &::mysql_close);
    if (is_async) ::mysql_optionsv(handle.get(), MYSQL_OPT_NONBLOCK, nullptr);
    ::mysql_optionsv(handle.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (::mysql_real_connect(handle.get(), "127.0.0.1", "root", "", place.database.c_str(),
                             place.port, nullptr, 0) == nullptr)
        throw std::runtime_error(::mysql_error(handle.get()));
    return handle;
}

class mysql_opened final : public open_connection {
public:
    mysql_opened(const mysql_place& place, const std::string& isolation)
        : handle_(connect_to_mysql(place, false)) {
        if (!isolation.empty()) run("SET SESSION TRANSACTION ISOLATION LEVEL " + isolation);
    }
    guard::connection& view() override { return view_; }

private:
    mysql_handle handle_;
    guard::mysql_connection view_{handle_.get()};
};

class async_mysql_opened final : public open_async_connection {
public:
    async_mysql_opened(const asio::any_io_executor& executor, const mysql_place& place)
        : handle_(connect_to_mysql(place, true)), view_(executor, handle_.get()) {}
    guard::async_connection& view() override { return view_; }
    guard::connection& blocking_view() override { return blocking_view_; }

private:
    mysql_handle handle_;
    guard::async_mysql_connection view_;
    guard::mysql_connection blocking_view_{handle_.get()};
};

template <database_product Product>
mysql_place new_database() {
    static support::mariadb_server server({.product = Product});
    static int count = 0;
    const mysql_place place{server.port(), "test" + std::to_string(++count)};
    server.execute("CREATE DATABASE " + place.database);
    return place;
}

mysql_place place_of(const std::string& address) {
    const auto slash = address.find('/');
    return {static_cast<unsigned>(std::stoul(address.substr(0, slash))), address.substr(slash + 1)};
}

class mysql_database final : public test_database {
public:
    explicit mysql_database(mysql_place place) : place_(std::move(place)) {}
    [[nodiscard]] guard::dialect dialect() const override { return guard::dialect::mysql; }
    [[nodiscard]] std::string address() const override {
        return std::to_string(place_.port) + "/" + place_.database;
    }
    std::unique_ptr<open_connection> connect(const std::string& isolation) override {
        return std::make_unique<mysql_opened>(place_, isolation);
    }
    std::unique_ptr<open_async_connection> connect(asio::any_io_executor executor) override {
        return std::make_unique<async_mysql_opened>(executor, place_);
    }

private:
    mysql_place place_;
};

template <database_product Product>
std::unique_ptr<test_database> make_database(const std::string& address) {
    return std::make_unique<mysql_database>(address.empty() ? new_database<Product>()
                                                            : place_of(address));
}

}  // namespace

std::unique_ptr<test_database> make_mariadb(const std::string& address) {
    return make_database<database_product::mariadb>(address);
}

std::unique_ptr<test_database> make_mysql(const std::string& address) {
    return make_database<database_product::mysql>(address);
}

}  // namespace guard_tests
