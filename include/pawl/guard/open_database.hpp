// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A connection to the database of a lock service, for the layers behind the lock. Standard headers
// only.
#pragma once

#include <pawl/guard/connection.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::guard {

// True if open_database can open the database of a URL with this scheme, such as "postgresql".
[[nodiscard]] bool keeps_records(std::string_view scheme);

// What to do if the SQLite file is not there. Databases on servers are never made.
enum class if_missing : std::uint8_t {
    create,  // for those that write
    refuse   // database_error, for those that read
};

// Opens a connection to the database in which a service with this URL keeps its locks; null if the
// service is no database. For a SQLite file, opens FILE.records beside it, because the file itself
// has locks only. Waits for up to some seconds. The result owns the connection; close it before a
// fork. Throws pawl::error for the URL, and database_error.
[[nodiscard]] std::unique_ptr<connection> open_database(std::string_view url,
                                                        if_missing file = if_missing::create);

}  // namespace pawl::guard
