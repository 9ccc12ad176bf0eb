// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "advisory_key.hpp"

#include "../core/engine/validate.hpp"

#include <pawl/error.hpp>
#include <pawl/postgres_transaction.hpp>

#include <libpq-fe.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace pawl::postgres {
namespace {

struct result_deleter {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using result_ptr = std::unique_ptr<PGresult, result_deleter>;

std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }

// The statements of a failed transaction are refused, so a rollback to the savepoint comes first.
class transaction {
public:
    explicit transaction(PGconn* connection) noexcept : connection_(connection) {}

    // The value of the first row and column.
    std::string run(const std::string& statement) {
        result_ptr result(PQexec(connection_, statement.c_str()));
        const auto status = PQresultStatus(result.get());
        if (status == PGRES_COMMAND_OK) return {};
        if (status == PGRES_TUPLES_OK) return PQgetvalue(result.get(), 0, 0);
        if (PQstatus(connection_) != CONNECTION_OK)
            throw error(errc::unreachable, "The connection of the transaction is broken: " +
                                               first_line(PQerrorMessage(connection_)));
        const auto* code = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
        failed_code_ = code == nullptr ? "" : code;
        throw error(errc::unavailable, "The lock in the transaction failed: " +
                                           first_line(PQerrorMessage(connection_)) +
                                           "; roll the transaction back, and repeat it.");
    }
    // Of the last error.
    [[nodiscard]] bool was_lock_timeout() const noexcept { return failed_code_ == "55P03"; }

private:
    PGconn* const connection_;
    std::string failed_code_;
};

void check(PGconn* connection, std::string_view name, const transaction_lock_options& options) {
    core::check_name(name);
    if (options.wait < duration{})
        throw error(errc::bad_option, "The wait is less than 0; 0 means one attempt.");
    if (options.mode == lock_mode::permits)
        throw error(errc::bad_option,
                    "A lock in a transaction has no permits; use lock_mode::exclusive or shared.");
    switch (PQtransactionStatus(connection)) {
    case PQTRANS_INTRANS: return;
    case PQTRANS_INERROR:
        throw error(errc::unsupported,
                    "The transaction has failed, and has no locks any more; roll it back first.");
    case PQTRANS_UNKNOWN:
        throw error(errc::unreachable, "The connection of the transaction is broken.");
    default:
        throw error(errc::unsupported,
                    "There is no transaction to lock in; send BEGIN first, or use a client.");
    }
}

}  // namespace

bool lock_in_transaction(PGconn* connection, std::string_view name,
                         const transaction_lock_options& options) {
    check(connection, name, options);
    const auto arguments = '(' + arguments_of(advisory_key_of(name, options.keys)) + ')';
    const std::string mode = options.mode == lock_mode::shared ? "_shared" : "";
    transaction open(connection);
    if (options.wait == duration{})
        return open.run("SELECT pg_catalog.pg_try_advisory_xact_lock" + mode + arguments) == "t";
    const auto lock = "SELECT pg_catalog.pg_advisory_xact_lock" + mode + arguments;
    if (options.wait == forever) {
        open.run(lock);
        return true;
    }
    // The time limit is an error, which would end the transaction without a savepoint. Its release
    // keeps the lock.
    const auto limit = std::clamp<std::int64_t>(options.wait / std::chrono::milliseconds(1), 1,
                                                std::numeric_limits<std::int32_t>::max());
    const auto usual = open.run("SELECT pg_catalog.current_setting('lock_timeout')");
    const auto set_limit = [&](const std::string& text) {
        open.run("SELECT pg_catalog.set_config('lock_timeout', '" + text + "', true)");
    };
    open.run("SAVEPOINT pawl_lock");
    try {
        set_limit(std::to_string(limit));
        open.run(lock);
    } catch (const error&) {
        if (!open.was_lock_timeout()) throw;
        open.run("ROLLBACK TO SAVEPOINT pawl_lock");
        open.run("RELEASE SAVEPOINT pawl_lock");
        return false;
    }
    set_limit(usual);
    open.run("RELEASE SAVEPOINT pawl_lock");
    return true;
}

}  // namespace pawl::postgres
