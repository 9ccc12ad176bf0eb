// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database.hpp"

#include <stdexcept>
#include <string_view>

#if PAWL_WITH_POSTGRES
#include <pawl/guard/postgres.hpp>

#include <libpq-fe.h>
#endif
#if PAWL_WITH_SQLITE
#include <pawl/guard/sqlite.hpp>

#include <sqlite3.h>
#endif

namespace shop {
namespace {

#if PAWL_WITH_POSTGRES
class postgres_database final : public database {
public:
    explicit postgres_database(const std::string& url)
        : handle_(::PQconnectdb(url.c_str()), &::PQfinish) {
        if (::PQstatus(handle_.get()) != CONNECTION_OK)
            throw std::runtime_error(::PQerrorMessage(handle_.get()));
        ::PQsetNoticeProcessor(
            handle_.get(), [](void*, const char*) {}, nullptr);
    }
    pawl::guard::connection& view() override { return view_; }

private:
    std::unique_ptr<PGconn, decltype(&::PQfinish)> handle_;
    pawl::guard::postgres_connection view_{handle_.get()};
};
#endif

#if PAWL_WITH_SQLITE
class sqlite_database final : public database {
public:
    explicit sqlite_database(const std::string& file) {
        sqlite3* opened = nullptr;
        const int code = ::sqlite3_open(file.c_str(), &opened);
        handle_.reset(opened);
        if (code != SQLITE_OK) throw std::runtime_error("The file " + file + " cannot be opened.");
        ::sqlite3_busy_timeout(opened, 60'000);
    }
    pawl::guard::connection& view() override {
        if (!view_) view_ = std::make_unique<pawl::guard::sqlite_connection>(handle_.get());
        return *view_;
    }

private:
    std::unique_ptr<sqlite3, decltype(&::sqlite3_close)> handle_{nullptr, &::sqlite3_close};
    std::unique_ptr<pawl::guard::sqlite_connection> view_;
};
#endif

}  // namespace

std::unique_ptr<database> open_database(const std::string& url) {
#if PAWL_WITH_SQLITE
    const std::string_view scheme = "sqlite:";
    if (url.starts_with(scheme))
        return std::make_unique<sqlite_database>(url.substr(scheme.size()));
#endif
#if PAWL_WITH_POSTGRES
    if (url.starts_with("postgresql:")) return std::make_unique<postgres_database>(url);
#endif
    throw std::runtime_error("This program has no client for " + url + ".");
}

}  // namespace shop
