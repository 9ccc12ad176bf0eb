# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The resource of 05_fencing is a SQLite table. Sets example_libraries, or example_is_possible to
# FALSE. For examples/CMakeLists.txt and installed.cmake.
find_package(SQLite3 QUIET)
set(example_is_possible ${SQLite3_FOUND})
set(example_libraries SQLite::SQLite3)
