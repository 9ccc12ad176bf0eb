// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock for the transaction that a program already has open: docs/backends/postgres.md. It is an
// advisory lock of PostgreSQL. It has no lease and no token, and needs neither a schema of Pawl's
// nor a connection of its own, so it also works behind a proxy that shares connections.
#pragma once

#include <pawl/options.hpp>
#include <pawl/postgres_keys.hpp>

#include <string_view>

// libpq's PGconn.
struct pg_conn;

namespace pawl::postgres {

// How `lock_in_transaction` locks.
struct transaction_lock_options {
    duration wait = forever;                               // 0: one attempt
    lock_mode mode = lock_mode::exclusive;                 // or shared
    advisory_keys keys = advisory_keys::distributed_lock;  // with whom the lock is shared
};

// Locks the name until the transaction of this connection ends: by COMMIT, by ROLLBACK, by its
// first error, or by ROLLBACK TO a savepoint that is older than the lock. Blocks. False: the lock
// was not free within `wait`; the transaction goes on. A transaction may lock a name again.
//
// Throws errc::bad_name, errc::bad_option, and errc::unsupported outside a transaction, or in one
// that has failed; errc::unreachable if the connection is broken, and errc::unavailable for another
// error of the server, such as a deadlock, which has ended the transaction. The caller must not use
// the connection meanwhile.
bool lock_in_transaction(pg_conn* connection, std::string_view name,
                         const transaction_lock_options& options = {});

}  // namespace pawl::postgres
