# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Finds MariaDB's client library and defines MariaDB::MariaDB. The library has no CMake package of
# its own.
find_path(MariaDB_INCLUDE_DIR mysql.h PATH_SUFFIXES mariadb mysql)
find_library(MariaDB_LIBRARY NAMES mariadb libmariadb)
mark_as_advanced(MariaDB_INCLUDE_DIR MariaDB_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MariaDB REQUIRED_VARS MariaDB_LIBRARY MariaDB_INCLUDE_DIR)
if(MariaDB_FOUND AND NOT TARGET MariaDB::MariaDB)
    add_library(MariaDB::MariaDB UNKNOWN IMPORTED)
    set_target_properties(MariaDB::MariaDB PROPERTIES
        IMPORTED_LOCATION "${MariaDB_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${MariaDB_INCLUDE_DIR}")
endif()
