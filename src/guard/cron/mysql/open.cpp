// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../owned_connection.hpp"

#include <pawl/guard/mysql.hpp>
#include <pawl/guard/open_database.hpp>
#include <pawl/mysql.hpp>
#include <pawl/mysql_handle.hpp>

#include <mysql.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>

namespace pawl::guard {
namespace {

struct close_mysql {
    void operator()(MYSQL* handle) const noexcept { ::mysql_close(handle); }
};
using mysql_handle = std::unique_ptr<MYSQL, close_mysql>;

using owned_mysql = owned_connection<mysql_handle, mysql_connection>;

// For a function of libmariadb that has not ended. Returns the events that have come.
int wait_for_socket(MYSQL* handle, int wanted) {
    pollfd socket{.fd = ::mysql_get_socket(handle), .events = 0, .revents = 0};
    const auto add = [&](int event, short flag) {
        if ((wanted & event) != 0) socket.events = static_cast<short>(socket.events | flag);
    };
    add(MYSQL_WAIT_READ, POLLIN);
    add(MYSQL_WAIT_WRITE, POLLOUT);
    const bool is_limited = (wanted & MYSQL_WAIT_TIMEOUT) != 0;
    const int limit = is_limited ? static_cast<int>(::mysql_get_timeout_value_ms(handle)) : -1;
    if (::poll(&socket, 1, limit) <= 0) return MYSQL_WAIT_TIMEOUT;
    const bool is_writable = (socket.revents & POLLOUT) != 0;
    return is_writable ? MYSQL_WAIT_WRITE : MYSQL_WAIT_READ;
}

// The library reads the host twice: to connect, and after the server's greeting for the name in the
// certificate. Were it to read the host only once, every certificate for a name would be refused.
bool connect_with_tls_name(MYSQL* handle, const mysql::server& server,
                           const mysql::options& settings, const char* user,
                           const std::string& password) {
    ::mysql_optionsv(handle, MYSQL_OPT_NONBLOCK, nullptr);
    const auto& name = settings.tls.name;
    std::string host = server.host;
    host.resize(std::max(host.size(), name.size()) + 1);
    MYSQL* connected = nullptr;
    int status = ::mysql_real_connect_start(&connected, handle, host.data(), user, password.c_str(),
                                            settings.schema.c_str(), server.port, nullptr, 0);
    host.replace(0, name.size() + 1, name.c_str(), name.size() + 1);
    while (status != 0)
        status = ::mysql_real_connect_cont(&connected, handle, wait_for_socket(handle, status));
    return connected != nullptr;
}

bool connect_handle(MYSQL* handle, const mysql::server& server, const mysql::options& settings) {
    const char* user = settings.user.empty() ? nullptr : settings.user.c_str();
    const auto password = mysql::password_of(settings);
    if (settings.tls.enabled && !settings.tls.name.empty())
        return connect_with_tls_name(handle, server, settings, user, password);
    return ::mysql_real_connect(handle, server.host.c_str(), user, password.c_str(),
                                settings.schema.c_str(), server.port, nullptr, 0) != nullptr;
}

// Of a server that knows no such user, password, host or database.
bool is_refusal(unsigned number) {
    constexpr std::array<unsigned, 6> refusals{1044, 1045, 1049, 1130, 1251, 1698};
    return std::ranges::find(refusals, number) != refusals.end();
}

// Null if the server cannot be reached; `reason` then says why.
mysql_handle connect_to(const mysql::server& server, const mysql::options& settings,
                        std::string& reason) {
    constexpr unsigned connect_seconds = 5, silent_seconds = 10;
    mysql_handle handle(::mysql_init(nullptr));
    if (!handle) throw std::bad_alloc();
    ::mysql_optionsv(handle.get(), MYSQL_OPT_CONNECT_TIMEOUT, &connect_seconds);
    ::mysql_optionsv(handle.get(), MYSQL_OPT_READ_TIMEOUT, &silent_seconds);
    ::mysql_optionsv(handle.get(), MYSQL_OPT_WRITE_TIMEOUT, &silent_seconds);
    mysql::set_up_handle(handle.get(), settings.tls);
    if (connect_handle(handle.get(), server, settings)) return handle;
    reason = ::mysql_error(handle.get());
    const auto number = ::mysql_errno(handle.get());
    if (is_refusal(number))
        throw database_error("MySQL refuses the connection: " + reason +
                                 "; correct the user, the password or the database of the URL, or "
                                 "let an administrator make them.",
                             std::to_string(number));
    return nullptr;
}

}  // namespace

// Declared by the list that the build makes.
std::unique_ptr<connection> open_mysql(std::string_view url, if_missing file);

std::unique_ptr<connection> open_mysql(std::string_view url, if_missing /*file*/) {
    const auto settings = mysql::parse(url);
    std::string reason;
    for (const auto& server : settings.servers) {
        auto handle = connect_to(server, settings, reason);
        if (!handle) continue;
        auto database = std::make_unique<owned_mysql>(std::move(handle));
        const auto state = database->execute({"SELECT @@read_only"});
        if (as_number(state.values.at(0).at(0)) == 0) return database;
        reason = "the server accepts no writes";
    }
    throw database_error("MySQL cannot be reached: " + reason + ".", {}, true);
}

}  // namespace pawl::guard
