// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "libpq_connection.hpp"

#include <new>

namespace pawl::postgres {

using no_fork = core::close_on_fork::no_fork;

void libpq_connection::start(const parameters& all) {
    std::vector<const char*> names, values;
    for (const auto& [name, value] : all) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    const no_fork guard;
    connection_ = ::PQconnectStartParams(names.data(), values.data(), 0);
    if (connection_ == nullptr) throw std::bad_alloc();
    if (const int socket = ::PQsocket(connection_); socket >= 0) forked_copy_.add(socket, guard);
    ::PQsetErrorVerbosity(connection_, PQERRORS_VERBOSE);
    ::PQsetNoticeReceiver(connection_, on_notice, this);
}

// By default, libpq prints notices. The warning of a cancelled wait has no code of its own, and its
// text may be in any language.
void libpq_connection::on_notice(void* self, const PGresult* notice) {
    const char* function = ::PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    if (function != nullptr && std::string_view(function) == "SyncRepWaitForLSN")
        static_cast<libpq_connection*>(self)->has_cancelled_wait_ = true;
    const char* severity = ::PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity == nullptr || std::string_view(severity) != "FATAL") return;
    static_cast<libpq_connection*>(self)->last_words_ = error_in(notice);
}

PostgresPollingStatusType libpq_connection::poll() {
    unwatch();
    const no_fork guard;
    forked_copy_.forget(guard);
    const auto status = ::PQconnectPoll(connection_);
    if (const int socket = ::PQsocket(connection_); socket >= 0) forked_copy_.add(socket, guard);
    return status;
}

bool libpq_connection::watch() {
    if (descriptor_.is_open()) return true;
    if (connection_ == nullptr || ::PQsocket(connection_) < 0) return false;
    boost::system::error_code failure;
    descriptor_.assign(::PQsocket(connection_), failure);
    return !failure;
}

void libpq_connection::unwatch() noexcept {
    if (!descriptor_.is_open()) return;
    try {
        descriptor_.release();
    } catch (...) {  // std::terminate is the alternative: libpq closes the socket in any case
    }
}

void libpq_connection::close() noexcept {
    if (connection_ == nullptr) return;
    unwatch();
    const no_fork guard;
    forked_copy_.forget(guard);
    ::PQfinish(connection_);
    connection_ = nullptr;
}

}  // namespace pawl::postgres
