// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend over ShedLock's table. It needs no functions of Pawl's schema: each operation is one
// plain statement, which is a transaction of its own.
#pragma once

#include "session.hpp"

#include <pawl/shedlock.hpp>

#include <memory>
#include <string>

namespace pawl::sql {

// The texts of a database. $1 is a lock's name and $2 the text in `locked_by`. Those that change a
// hold answer with one row, its fence, and with none if there is no such hold.
struct shedlock_statements {
    std::string take;      // for $3 ms, if the row is there and its lease has ended
    std::string make_row;  // of a free lock, if it is missing
    std::string extend;    // by $3 ms from now
    std::string release;   // not before $3 ms after its beginning
    // Answer with rows of name, locked_by, the remaining ms, the beginning in ms since 1970, and
    // fence.
    std::string look;
    std::string list;  // all held locks; without parameters
};

[[nodiscard]] std::unique_ptr<backend> make_shedlock_backend(std::unique_ptr<connector> database,
                                                             shedlock_statements statements,
                                                             const shedlock_table& table,
                                                             const backend_context& context);

}  // namespace pawl::sql
