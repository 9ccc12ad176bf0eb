// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_errors.hpp"

#include <string_view>

namespace pawl::etcd {
namespace {

bool has(const call_status& status, std::string_view text) {
    return status.message.find(text) != std::string::npos;
}

// Not carried out.
bool is_refused_by_member(const call_status& status) {
    return has(status, "no leader") || has(status, "learner") || has(status, "too many requests") ||
           has(status, "not capable");
}

error sentence_of(const call_status& status, const std::string& subject, bool has_login) {
    switch (status.code) {
    case call_status::not_grpc:
        return {errc::protocol, subject + " is not etcd's port for clients: " + status.message +
                                    "; check host and port."};
    case call_status::too_long:
        return {errc::unsupported,
                subject + ": " + status.message + "; ask for fewer locks at a time.", false};
    case call_status::unimplemented:
        return {errc::protocol, subject + " does not know a call of etcd 3.4 (" + status.message +
                                    "); use etcd 3.4 or later."};
    case call_status::permission_denied:
        return {errc::refused, subject + " refuses this user the keys of the locks (" +
                                   status.message +
                                   "); grant its role reading and writing under the namespace."};
    case call_status::unauthenticated:
    case call_status::invalid_argument:
        if (!has_login)
            return {errc::refused, subject + " wants a user and a password (" + status.message +
                                       "); write etcd://USER:PASSWORD@HOST, or name a file with "
                                       "password_file."};
        return {errc::refused, subject + " does not accept this user and password (" +
                                   status.message + "); check them."};
    case call_status::resource_exhausted:
        if (has(status, "space exceeded"))
            return {errc::unavailable,
                    subject +
                        " is full: its database has reached the quota; compact and defragment "
                        "it, and disarm the alarm with `etcdctl alarm disarm`."};
        return {errc::unavailable, subject + " is overloaded (" + status.message + ")."};
    case call_status::not_found:
        return {errc::unavailable, subject + ": the lease has ended (" + status.message +
                                       "); the request is repeated with another one."};
    default: break;
    }
    if (is_refused_by_member(status))
        return {errc::unavailable, subject + " cannot serve now: " + status.message + "."};
    return {errc::unreachable, subject + ": " + status.message + "."};
}

}  // namespace

bool needs_login(const call_status& status) {
    return status.code == call_status::unauthenticated ||
           (status.code == call_status::invalid_argument &&
            (has(status, "auth revision") || has(status, "user name is empty")));
}

bool is_member_failure(const call_status& status) {
    return status.code == call_status::unavailable ||
           status.code == call_status::deadline_exceeded || is_refused_by_member(status);
}

bool may_have_effect(const error& failure) noexcept {
    return failure.reason() == errc::unreachable || failure.reason() == errc::protocol;
}

call_error to_error(const call_status& status, const std::string& subject, bool has_login) {
    // Other arguments than those of a login are Pawl's mistake.
    const bool is_argument = status.code == call_status::invalid_argument && !has(status, "auth") &&
                             !has(status, "user name");
    if (is_argument)
        return {error(errc::protocol,
                      subject + " does not accept a request of Pawl: " + status.message + "."),
                status.code};
    return {sentence_of(status, subject, has_login), status.code};
}

}  // namespace pawl::etcd
