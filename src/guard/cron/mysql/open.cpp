// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../owned_connection.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/mysql.hpp>
#include <pawl/mysql.hpp>

#include <mysql.h>

#include <fstream>
#include <memory>
#include <new>

namespace pawl::guard {
namespace {

struct close_mysql {
    void operator()(MYSQL* handle) const noexcept { ::mysql_close(handle); }
};
using mysql_handle = std::unique_ptr<MYSQL, close_mysql>;

// Without TLS, no server may request the password in clear text.
constexpr const char* plugins_without_tls =
    "mysql_native_password,caching_sha2_password,client_ed25519,parsec,sha256_password";

using owned_mysql = owned_connection<mysql_handle, mysql_connection>;

std::string password_of(const mysql::options& settings) {
    if (settings.password_file.empty()) return settings.password;
    std::string line;
    std::ifstream file(settings.password_file);
    if (!std::getline(file, line))
        throw error(errc::bad_option, "The password file '" + settings.password_file +
                                          "' cannot be read; check its path and its rights.");
    return line;
}

void apply_tls(MYSQL* handle, const tls_options& tls) {
    const auto set = [handle](mysql_option option, const void* value) {
        ::mysql_optionsv(handle, option, value);
    };
    const my_bool yes = 1, no = 0;
    set(MYSQL_OPT_SSL_ENFORCE, tls.enabled ? &yes : &no);
    set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, tls.enabled && tls.verify ? &yes : &no);
    if (!tls.enabled) {
        set(MARIADB_OPT_RESTRICTED_AUTH, plugins_without_tls);
        return;
    }
    if (!tls.ca_file.empty()) set(MYSQL_OPT_SSL_CA, tls.ca_file.c_str());
    if (!tls.cert_file.empty()) set(MYSQL_OPT_SSL_CERT, tls.cert_file.c_str());
    if (!tls.key_file.empty()) set(MYSQL_OPT_SSL_KEY, tls.key_file.c_str());
    if (!tls.key_password.empty()) set(MARIADB_OPT_TLS_PASSPHRASE, tls.key_password.c_str());
}

// Null if the server cannot be reached; `reason` then says why.
mysql_handle connect_to(const mysql::server& server, const mysql::options& settings,
                        std::string& reason) {
    constexpr unsigned connect_seconds = 5, silent_seconds = 10, none = 0;
    mysql_handle handle(::mysql_init(nullptr));
    if (!handle) throw std::bad_alloc();
    ::mysql_optionsv(handle.get(), MYSQL_OPT_CONNECT_TIMEOUT, &connect_seconds);
    ::mysql_optionsv(handle.get(), MYSQL_OPT_READ_TIMEOUT, &silent_seconds);
    ::mysql_optionsv(handle.get(), MYSQL_OPT_WRITE_TIMEOUT, &silent_seconds);
    ::mysql_optionsv(handle.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    ::mysql_optionsv(handle.get(), MYSQL_OPT_LOCAL_INFILE, &none);
    apply_tls(handle.get(), settings.tls);
    const auto password = password_of(settings);
    const bool is_connected =
        ::mysql_real_connect(handle.get(), server.host.c_str(),
                             settings.user.empty() ? nullptr : settings.user.c_str(),
                             password.c_str(), settings.schema.c_str(), server.port, nullptr,
                             0) != nullptr;
    if (is_connected) return handle;
    reason = ::mysql_error(handle.get());
    return nullptr;
}

}  // namespace

// Declared by the list that the build makes.
std::unique_ptr<connection> open_mysql(std::string_view url);

std::unique_ptr<connection> open_mysql(std::string_view url) {
    const auto settings = mysql::parse(url);
    if (settings.tls.enabled && !settings.tls.name.empty())
        throw error(errc::unsupported,
                    "Records in MySQL cannot be kept with tls_name; write the name of the "
                    "certificate as the host of the URL.");
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
