// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../net/option_values.hpp"

#include <pawl/mysql_handle.hpp>

#include <mysql.h>

namespace pawl::mysql {
namespace {

// Without TLS, no server may request the password in clear text.
constexpr const char* safe_plugins =
    "mysql_native_password,caching_sha2_password,client_ed25519,parsec,sha256_password";

}  // namespace

void set_up_handle(MYSQL* handle, const tls_options& tls) {
    const auto set = [handle](mysql_option option, const void* value) {
        ::mysql_optionsv(handle, option, value);
    };
    const my_bool yes = 1, no = 0;
    const unsigned none = 0;
    set(MYSQL_SET_CHARSET_NAME, "utf8mb4");
    set(MYSQL_OPT_LOCAL_INFILE, &none);
    set(MYSQL_OPT_SSL_ENFORCE, tls.enabled ? &yes : &no);
    // With the check, a server without TLS is refused before the password is sent.
    set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, tls.enabled && tls.verify ? &yes : &no);
    if (!tls.enabled) {
        set(MARIADB_OPT_RESTRICTED_AUTH, safe_plugins);
        return;
    }
    if (!tls.ca_file.empty()) set(MYSQL_OPT_SSL_CA, tls.ca_file.c_str());
    if (!tls.cert_file.empty()) set(MYSQL_OPT_SSL_CERT, tls.cert_file.c_str());
    if (!tls.key_file.empty()) set(MYSQL_OPT_SSL_KEY, tls.key_file.c_str());
    if (!tls.key_password.empty()) set(MARIADB_OPT_TLS_PASSPHRASE, tls.key_password.c_str());
}

std::string password_of(const options& settings) {
    if (settings.password_file.empty()) return settings.password;
    return net::read_secret_file(settings.password_file, "password", "password_file");
}

}  // namespace pawl::mysql
