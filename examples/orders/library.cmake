# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The shop's code, its layers and the outside, for the program `orders` and the tests: an object
# library. Its libraries are those of the databases that this build has.
include_guard(GLOBAL)
add_library(example_orders OBJECT
    ${CMAKE_CURRENT_LIST_DIR}/layers.cpp
    ${CMAKE_CURRENT_LIST_DIR}/order_creation.cpp
    ${CMAKE_CURRENT_LIST_DIR}/outside.cpp
    ${CMAKE_CURRENT_LIST_DIR}/outside_client.cpp
    ${CMAKE_CURRENT_LIST_DIR}/outside_memory.cpp
    ${CMAKE_CURRENT_LIST_DIR}/tables.cpp)
pawl_own(example_orders)
target_link_libraries(example_orders PUBLIC pawl::asio)
target_include_directories(example_orders PUBLIC ${PROJECT_SOURCE_DIR}/examples)
