// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Exclusive locks shared with Java services that use ShedLock: docs/backends/shedlock.md.
#pragma once

#include <pawl/types.hpp>

#include <string>

namespace pawl {

// The table of ShedLock's JDBC provider. In the options of a database, it takes the place of Pawl's
// own tables.
struct shedlock_table {
    // As in the Java services: TABLE or SCHEMA.TABLE, without quotes. Each part is a letter or '_',
    // then up to 62 letters, digits and '_'.
    std::string name = "shedlock";
    // Must be true, which states that all other programs take the time from the database, in Java
    // with usingDbTime(). Else their clocks decide, and two holders are possible.
    bool others_use_database_time = false;
    // How long a lock stays taken after its acquisition, at least, also when it is released before.
    // 0 to 24 h.
    duration lock_at_least{};
};

}  // namespace pawl
