# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The payments are in a SQLite database in memory.
find_package(SQLite3 QUIET)
set(example_is_possible ${SQLite3_FOUND})
set(example_libraries SQLite::SQLite3)
