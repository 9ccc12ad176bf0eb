// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_errors.hpp"

#include <algorithm>

namespace pawl::postgres {
namespace {

bool is_class(const server_error& failure, std::string_view two_letters) {
    return failure.sqlstate.starts_with(two_letters);
}

bool is_one_of(const server_error& failure, std::initializer_list<std::string_view> states) {
    return std::ranges::find(states, std::string_view(failure.sqlstate)) != states.end();
}

std::string quote(const server_error& failure) {
    return failure.sqlstate.empty() ? failure.message
                                    : failure.message + " (SQLSTATE " + failure.sqlstate + ")";
}

bool is_sqlstate(std::string_view text) {
    return text.size() == 5 && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
           });
}

// Too few resources, an operator's intervention, an error of the server's system.
bool may_pass(const server_error& failure) {
    return is_one_of(failure,
                     {"40001", "40P01", "55P03", "57014", "25006", "0A000", "26000", "42P05"}) ||
           is_class(failure, "53") || is_class(failure, "57") || is_class(failure, "58") ||
           is_class(failure, "08");
}

bool is_tls_failure(const server_error& failure) {
    return failure.message.find("SSL") != std::string::npos ||
           failure.message.find("certificate") != std::string::npos;
}

// The server's tables are others than the functions expect.
bool is_other_table(const server_error& failure) {
    return is_one_of(failure, {"42703", "42704", "42804", "42P10"});
}

bool is_foreign_reply(const server_error& failure) {
    return failure.message.find("received invalid response") != std::string::npos ||
           failure.message.find("expected authentication request") != std::string::npos;
}

}  // namespace

std::string first_line(std::string_view message) {
    message = message.substr(0, message.find('\n'));
    while (message.ends_with('.') || message.ends_with(' '))
        message.remove_suffix(1);
    return std::string(message);
}

server_error error_in(const PGresult* result) {
    const auto field = [result](int code) {
        const char* text = ::PQresultErrorField(result, code);
        return std::string(text == nullptr ? "" : text);
    };
    server_error failure{field(PG_DIAG_SQLSTATE), first_line(field(PG_DIAG_MESSAGE_PRIMARY))};
    if (failure.message.empty()) failure.message = first_line(::PQresultErrorMessage(result));
    return failure;
}

// libpq offers the SQLSTATE of a failed connection only in the text: "FATAL:  28P01: password …".
server_error error_in(const PGconn* connection) {
    const std::string_view text = ::PQerrorMessage(connection);
    for (auto at = text.find(":  "); at != std::string_view::npos; at = text.find(":  ", at + 1)) {
        const auto rest = text.substr(at + 3);
        if (rest.size() > 7 && is_sqlstate(rest.substr(0, 5)) && rest.substr(5, 2) == ": ")
            return {std::string(rest.substr(0, 5)), first_line(rest.substr(7))};
    }
    // "connection to server at … failed: Connection refused\n\tIs the server running …?"
    auto message = text;
    if (message.starts_with("connection to server"))
        if (const auto end = message.find(" failed: "); end != std::string_view::npos)
            message.remove_prefix(end + 9);
    return {"", first_line(message)};
}

bool ends_session(const server_error& failure) noexcept {
    return is_one_of(failure, {"25006", "0A000", "26000", "42P05"}) || is_shutdown(failure);
}

bool is_shutdown(const server_error& failure) noexcept {
    return is_one_of(failure, {"57P01", "57P02", "57P03", "57P04", "57P05"}) ||
           is_class(failure, "08");
}

error missing_schema_error(const error_place& place, const std::string& reason) {
    return {errc::refused,
            place.server + " has no locks in the " + place.locks() + " (" + reason +
                "); let an administrator run the output of `pawl schema --role ROLE`."};
}

error call_error(const server_error& failure, const error_place& place) {
    const auto begin = place.server + ": ";
    if (failure.sqlstate == "25006")
        return {errc::unavailable,
                begin + "it accepts no writes at present, " + quote(failure) + "."};
    if (failure.sqlstate == "42501" || is_class(failure, "28"))
        return {errc::refused, begin + quote(failure) + "; let an administrator grant the rights " +
                                   "for the " + place.locks() +
                                   " with the output of `pawl schema --role ROLE`."};
    if (is_one_of(failure, {"42883", "3F000", "42P01"}))
        return missing_schema_error(place, quote(failure));
    if (is_other_table(failure))
        return {errc::refused, begin + "the " + place.locks() + " is not as Pawl makes it, " +
                                   quote(failure) +
                                   "; let an administrator repair it, or name another one."};
    if (is_one_of(failure, {"22021", "22P05"}))
        return {errc::bad_option,
                begin +
                    "its encoding cannot store a name or label of this lock: " + quote(failure) +
                    "; use other characters, or a database with the encoding UTF8."};
    if (failure.sqlstate == "P0001") return {errc::refused, begin + quote(failure) + "."};
    if (may_pass(failure)) return {errc::unavailable, begin + quote(failure) + "."};
    return {errc::protocol, begin + "unexpected error, " + quote(failure) + "."};
}

error connect_error(const server_error& failure, const error_place& place, bool needs_password) {
    const auto begin = place.server + ": ";
    if (needs_password)
        return {errc::refused, begin +
                                   "it wants a password; put one into the URL, the environment "
                                   "variable PGPASSWORD or libpq's password file, which only its "
                                   "owner may read (chmod 600)."};
    if (failure.sqlstate == "3D000")
        return {errc::bad_option, begin + quote(failure) + "; name one that exists in the URL."};
    if (failure.sqlstate.empty() && is_foreign_reply(failure))
        return {errc::protocol, begin + "it does not speak the protocol of PostgreSQL, " +
                                    quote(failure) + "; check host and port."};
    // Of libpq, about a parameter: no server was asked.
    if (failure.sqlstate.empty() && failure.message.starts_with("invalid "))
        return {errc::bad_option,
                begin + quote(failure) + "; see the parameters of libpq in PostgreSQL's manual."};
    if (failure.sqlstate.empty() &&
        failure.message.find("server does not support SSL") != std::string::npos)
        return {errc::refused, begin + quote(failure) +
                                   "; set ssl = on in the server, or choose another sslmode."};
    if (failure.sqlstate.empty() && is_tls_failure(failure))
        return {errc::refused, begin + quote(failure) +
                                   "; check sslmode, sslrootcert and the "
                                   "server's certificate."};
    if (failure.sqlstate.empty()) return {errc::unreachable, begin + quote(failure) + "."};
    if (is_class(failure, "28"))
        return {errc::refused,
                begin + quote(failure) + "; check user, password and the server's pg_hba.conf."};
    if (may_pass(failure)) return {errc::unavailable, begin + quote(failure) + "."};
    return {errc::refused, begin + quote(failure) + "."};
}

}  // namespace pawl::postgres
