// The tables, and whether a file is one of ours.
#pragma once

#include "database.hpp"

namespace pawl::sqlite {

// Makes the tables where the file is new. Throws database_error, errc::bad_option when the file
// belongs to another program, errc::refused when it was made by a newer Pawl.
void prepare_schema(database& on, runtime& time, const std::string& boot);

}  // namespace pawl::sqlite
