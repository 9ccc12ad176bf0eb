// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A row that refuses the writes of a late holder: docs/guide/fenced-writes.md. It is in the table
// pawl_fence; a database without the table refuses the statement. The functions are thread-safe
// for different connections, and block. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/guard/fence_result.hpp>
#include <pawl/types.hpp>

#include <cstddef>
#include <string_view>

namespace pawl::guard {

// The longest name of a resource, in bytes. A name has at least one byte.
inline constexpr std::size_t longest_resource = 255;

// The first statement of a writer's transaction. Accepts the token if the resource has seen no
// larger one, remembers it, and keeps the row locked until the transaction ends, so that nobody
// writes in between. If it is refused, roll back. A rollback also forgets the token.
//
// All writers of a resource must call it, with tokens of one lock: tokens of different sources are
// not comparable. The result is as safe as the transaction: an asynchronous failover of the
// database can forget both.
//
// Throws errc::bad_option for a wrong name or token, errc::unsupported outside a transaction,
// `conflict` if the transaction must be repeated, and what `db` throws. In MySQL, which has no
// RETURNING, it takes two statements.
fence_result fence(connection& db, std::string_view resource, fencing_token token);

// For other client libraries: execute it in the writer's transaction. The answer is a row with the
// newest token. The write is accepted if that is `token`. MySQL, but not MariaDB, answers without a
// row: then execute `newest_fence_statement`, which answers in the same way. Never judge by the
// number of affected rows, which is 0 in MySQL for an equal token.
[[nodiscard]] statement fence_statement(dialect spoken, std::string_view resource,
                                        fencing_token token);
// Reads the newest token and keeps the row locked. Only behind `fence_statement`, in the same
// transaction: a plain SELECT would read what the transaction saw at its beginning.
[[nodiscard]] statement newest_fence_statement(dialect spoken, std::string_view resource);

}  // namespace pawl::guard
