// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_database.hpp"

#include <support/postgres_server.hpp>

#include <pawl/guard/async_postgres.hpp>
#include <pawl/guard/postgres.hpp>

#include <libpq-fe.h>

#include <stdexcept>

namespace guard_tests {
namespace {

using postgres_handle = std::unique_ptr<PGconn, decltype(&::PQfinish)>;

postgres_handle connect_to(const std::string& url) {
    postgres_handle handle(::PQconnectdb(url.c_str()), &::PQfinish);
    if (::PQstatus(handle.get()) != CONNECTION_OK)
        throw std::runtime_error(::PQerrorMessage(handle.get()));
    ::PQsetNoticeProcessor(
        handle.get(), [](void*, const char*) {}, nullptr);
    return handle;
}

class postgres_opened final : public open_connection {
public:
    postgres_opened(const std::string& url, const std::string& isolation)
        : handle_(connect_to(url)) {
        if (!isolation.empty())
            run("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + isolation);
    }
    guard::connection& view() override { return view_; }

private:
    postgres_handle handle_;
    guard::postgres_connection view_{handle_.get()};
};

class async_postgres_opened final : public open_async_connection {
public:
    async_postgres_opened(const asio::any_io_executor& executor, const std::string& url)
        : handle_(connect_to(url)), view_(executor, handle_.get()) {}
    guard::async_connection& view() override { return view_; }
    guard::connection& blocking_view() override { return blocking_view_; }

private:
    postgres_handle handle_;
    guard::async_postgres_connection view_;
    guard::postgres_connection blocking_view_{handle_.get()};
};

class postgres_database final : public test_database {
public:
    explicit postgres_database(const std::string& address) : url_(address) {
        static const std::unique_ptr<support::postgres_server> server =
            address.empty() ? std::make_unique<support::postgres_server>() : nullptr;
        if (url_.empty()) url_ = server->url(server->create_database());
    }
    [[nodiscard]] guard::dialect dialect() const override { return guard::dialect::postgres; }
    [[nodiscard]] std::string address() const override { return url_; }
    std::unique_ptr<open_connection> connect(const std::string& isolation) override {
        return std::make_unique<postgres_opened>(url_, isolation);
    }
    std::unique_ptr<open_async_connection> connect(asio::any_io_executor executor) override {
        return std::make_unique<async_postgres_opened>(executor, url_);
    }

private:
    std::string url_;
};

}  // namespace

std::unique_ptr<test_database> make_postgres(const std::string& address) {
    return std::make_unique<postgres_database>(address);
}

}  // namespace guard_tests
