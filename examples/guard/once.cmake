# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The orders of `once` are in a SQLite file, in the folder in which the program runs.
find_package(SQLite3 QUIET)
set(example_is_possible ${SQLite3_FOUND})
set(example_libraries SQLite::SQLite3)
