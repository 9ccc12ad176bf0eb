// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../owned_connection.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/postgres.hpp>
#include <pawl/postgres.hpp>

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace pawl::guard {
namespace {

struct close_postgres {
    void operator()(PGconn* handle) const noexcept { ::PQfinish(handle); }
};
using postgres_handle = std::unique_ptr<PGconn, close_postgres>;

using owned_postgres = owned_connection<postgres_handle, postgres_connection>;

// libpq gives no code for a connection. A server of another language is "not reached".
bool is_refusal(PGconn* handle, std::string_view text) {
    constexpr std::array<std::string_view, 3> signs{"authentication failed", "does not exist",
                                                    "no pg_hba.conf entry"};
    return ::PQconnectionNeedsPassword(handle) == 1 ||
           std::ranges::any_of(signs, [text](std::string_view sign) {
               return text.find(sign) != std::string_view::npos;
           });
}

}  // namespace

// Declared by the list that the build makes.
std::unique_ptr<connection> open_postgres(std::string_view url, if_missing file);

// What stands before the connection string is a default, what follows it counts.
std::unique_ptr<connection> open_postgres(std::string_view url, if_missing /*file*/) {
    const auto settings = postgres::parse(url);
    const std::array names{"connect_timeout",      "keepalives_idle",
                           "keepalives_interval",  "keepalives_count",
                           "tcp_user_timeout",     "dbname",
                           "target_session_attrs", static_cast<const char*>(nullptr)};
    const std::array values{"5",          "2",
                            "1",          "3",
                            "5000",       settings.connection.c_str(),
                            "read-write", static_cast<const char*>(nullptr)};
    constexpr int with_connection_string = 1;
    postgres_handle handle(
        ::PQconnectdbParams(names.data(), values.data(), with_connection_string));
    if (!handle) throw std::bad_alloc();
    if (::PQstatus(handle.get()) != CONNECTION_OK) {
        std::string text = ::PQerrorMessage(handle.get());
        text.resize(std::min(text.find('\n'), text.size()));
        if (text.find("FATAL") != std::string::npos && is_refusal(handle.get(), text))
            throw database_error("PostgreSQL refuses the connection: " + text +
                                 "; correct the user, the password or the database of the URL, or "
                                 "let an administrator make them.");
        throw database_error("PostgreSQL cannot be reached: " + text + ".", {}, true);
    }
    return std::make_unique<owned_postgres>(std::move(handle));
}

}  // namespace pawl::guard
