// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A transaction on the program's own connection. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>

namespace pawl::guard {

// Begins a transaction, and rolls it back in the destructor unless it was committed. In SQLite it
// is a writer from its beginning (BEGIN IMMEDIATE), so that it cannot fail later because another
// one wrote. The isolation is the session's default. Not thread-safe; the connection must outlive
// this object.
class transaction {
public:
    // Throws errc::unsupported inside an open transaction, and database_error.
    explicit transaction(connection& db);
    ~transaction();
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;

    // Throws `conflict` if the transaction must be repeated, and another database_error if the
    // database has ended it. If the connection broke, it is not known whether the commit counts.
    void commit();
    // Throws errc::unsupported if the transaction has ended, by a COMMIT of the caller's or after a
    // conflict. Call it before a statement that must not be carried out alone.
    void require_open() const;

private:
    connection& db_;
    bool is_open_ = true;
};

}  // namespace pawl::guard
