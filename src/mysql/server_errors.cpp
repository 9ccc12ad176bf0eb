// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_errors.hpp"

#include <algorithm>
#include <initializer_list>

namespace pawl::mysql {
namespace {

bool is_one_of(const server_error& failure, std::initializer_list<unsigned> numbers) {
    return std::ranges::find(numbers, failure.number) != numbers.end();
}

std::string quote(const server_error& failure) {
    return failure.message + " (error " + std::to_string(failure.number) + ")";
}

// Too few resources, a deadlock, a time limit, a node that is not ready, a shutdown.
bool may_pass(const server_error& failure) {
    return is_one_of(failure, {1021, 1037, 1038, 1040, 1041, 1047, 1053, 1114, 1203, 1205, 1206,
                               1226, 1290, 1792, 1836, 3058, 3100, 3572}) ||
           is_conflict(failure) || is_interruption(failure);
}

bool lacks_rights(const server_error& failure) {
    return is_one_of(failure, {1044, 1045, 1130, 1142, 1143, 1227, 1370, 1419, 1698, 1820, 1862});
}

}  // namespace

server_error error_in(MYSQL* connection) {
    server_error failure{::mysql_errno(connection), ::mysql_error(connection)};
    auto& text = failure.message;
    text.resize(std::min(text.find('\n'), text.size()));
    while (text.ends_with('.') || text.ends_with(' '))
        text.pop_back();
    return failure;
}

bool is_network_failure(const server_error& failure) noexcept {
    const auto number = failure.number;
    return number == 0 || (number >= 2000 && number < 3000) || number >= 5000 ||
           is_one_of(failure, {1053, 1077, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031});
}

// 1180 is a commit that has failed in a way that the server does not know.
bool is_interruption(const server_error& failure) noexcept {
    return is_one_of(failure, {1180, 1317, 1969, 3024}) && !is_conflict(failure);
}

// 149 is InnoDB's number of a deadlock. MySQL shows it when a node of a group commits what another
// one has changed first.
bool is_conflict(const server_error& failure) noexcept {
    return is_one_of(failure, {1213, 3101}) ||
           (failure.number == 1180 && failure.message.find("error 149 ") != std::string::npos);
}

// 1047 and 3100 are of a node of a cluster that has lost the others.
bool ends_session(const server_error& failure) noexcept {
    return is_network_failure(failure) || is_one_of(failure, {1047, 1290, 1792, 1836, 3100});
}

bool is_missing_schema(const server_error& failure) noexcept {
    return is_one_of(failure, {1044, 1049, 1142, 1146, 1305, 1370});
}

error read_only_error(const error_place& place) {
    return {errc::unavailable,
            place.server +
                " accepts no writes (read_only); name the server that does in the URL, too."};
}

error missing_schema_error(const error_place& place, const std::string& reason) {
    return {errc::refused,
            place.server + " has no locks in the " + place.locks() + " (" + reason +
                "); let an administrator run the output of `pawl schema --role USER`."};
}

error call_error(const server_error& failure, const error_place& place) {
    const auto begin = place.server + ": ";
    if (is_one_of(failure, {1049, 1146, 1305})) return missing_schema_error(place, quote(failure));
    if (lacks_rights(failure))
        return {errc::refused,
                begin + quote(failure) + "; let an administrator grant the rights for the " +
                    place.locks() + " with the output of `pawl schema --role USER`."};
    if (is_one_of(failure, {1300, 1366, 3854}))
        return {errc::bad_option,
                begin + "its character set cannot store a name or label of this lock: " +
                    quote(failure) + "; use other characters, or a column with utf8mb4."};
    if (is_one_of(failure, {1054, 1136}))
        return {errc::refused, begin + "the " + place.locks() + " is not as Pawl makes it, " +
                                   quote(failure) +
                                   "; let an administrator repair it, or name another one."};
    if (failure.number == 1644) return {errc::refused, begin + quote(failure) + "."};  // a SIGNAL
    if (may_pass(failure)) return {errc::unavailable, begin + quote(failure) + "."};
    return {errc::protocol, begin + "unexpected error, " + quote(failure) + "."};
}

error connect_error(const server_error& failure, const error_place& place) {
    const auto begin = place.server + ": ";
    const bool lacks_tls = failure.message.find("server does not support") != std::string::npos ||
                           failure.message.find("server has no TLS") != std::string::npos;
    if (failure.number == CR_SSL_CONNECTION_ERROR && lacks_tls)
        return {errc::refused, begin + quote(failure) +
                                   "; give the server a certificate (ssl_cert, ssl_key), or leave "
                                   "out tls=yes."};
    if (failure.number == CR_SSL_CONNECTION_ERROR)
        return {errc::refused, begin + quote(failure) +
                                   "; check the TLS options ca, tls_name and "
                                   "verify, and the server's certificate."};
    if (failure.number == CR_AUTH_PLUGIN_CANNOT_LOAD || failure.number == CR_AUTH_PLUGIN_ERR)
        return {errc::refused, begin + quote(failure) +
                                   "; give the user another plug-in for "
                                   "passwords."};
    if (lacks_rights(failure))
        return {errc::refused, begin + quote(failure) + "; check user and password."};
    if (is_network_failure(failure)) return {errc::unreachable, begin + quote(failure) + "."};
    if (may_pass(failure)) return {errc::unavailable, begin + quote(failure) + "."};
    return {errc::refused, begin + quote(failure) + "."};
}

}  // namespace pawl::mysql
