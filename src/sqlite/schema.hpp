// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tables, and the check whether a file is one of Pawl's.
#pragma once

#include "database.hpp"

namespace pawl::sqlite {

// Makes the tables in a new file. Throws database_error; errc::bad_option if the file belongs to
// another program; errc::refused if a newer Pawl made it.
void prepare_schema(database& connection, runtime& time, const std::string& boot_id);

}  // namespace pawl::sqlite
