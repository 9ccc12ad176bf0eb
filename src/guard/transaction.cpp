// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "transaction_statements.hpp"

#include <pawl/guard/transaction.hpp>

namespace pawl::guard {

statement begin_statement(dialect spoken) {
    switch (spoken) {
    case dialect::sqlite: return {"BEGIN IMMEDIATE"};
    case dialect::mysql: return {"START TRANSACTION"};
    case dialect::postgres: break;
    }
    return {"BEGIN"};
}

error open_transaction_error() {
    return {
        errc::unsupported,
        "The connection already has an open transaction; commit it first, or set autocommit, and "
        "use a connection in one thread only."};
}

error ended_transaction_error() {
    return {errc::unsupported,
            "The transaction has ended before its commit; the work in it must neither commit, nor "
            "continue after a conflict."};
}

error left_transaction_error() {
    return {errc::unsupported,
            "The work of `at_least_once` has left a transaction open, in which the end of its "
            "record could be rolled back; commit it in the work, or use `once`."};
}

transaction::transaction(connection& db) : db_(db) {
    if (db.in_transaction()) throw open_transaction_error();
    db.execute(begin_statement(db.dialect()));
}

transaction::~transaction() {
    if (!is_open_ || !db_.in_transaction()) return;
    try {
        db_.execute({"ROLLBACK"});
    } catch (...) {  // the connection is broken, which ends the transaction
    }
}

void transaction::require_open() const {
    if (!db_.in_transaction()) throw ended_transaction_error();
}

void transaction::commit() {
    require_open();
    db_.execute({"COMMIT"});
    is_open_ = false;
}

}  // namespace pawl::guard
