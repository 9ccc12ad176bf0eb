# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Child processes, temporary folders and a Redis server of one's own: for the flash sale, the orders
# and the benchmarks.
include_guard(GLOBAL)
add_library(example_support STATIC ${CMAKE_CURRENT_LIST_DIR}/process.cpp)
pawl_own(example_support)
target_include_directories(example_support PUBLIC ${PROJECT_SOURCE_DIR}/examples)
