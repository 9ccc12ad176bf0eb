# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Pawl's examples against an installed Pawl; this file is installed as CMakeLists.txt.
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where Pawl is> && cmake --build build
cmake_minimum_required(VERSION 3.25)
project(pawl_examples LANGUAGES CXX)
find_package(pawl REQUIRED COMPONENTS asio)
find_package(SQLite3)
set(PAWL_EXAMPLES "" CACHE STRING "Names without .cpp, as in 01_threads;02_coroutines; empty: all")
enable_testing()

file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cpp$" "" name ${source})
    if((PAWL_EXAMPLES AND NOT name IN_LIST PAWL_EXAMPLES) OR
            (name STREQUAL "05_fencing" AND NOT SQLite3_FOUND))
        continue()  # the resource of 05_fencing is a SQLite table
    endif()
    add_executable(${name} ${source})
    # Programs for threads need pawl::pawl, those for event loops pawl::asio.
    file(STRINGS ${source} boost REGEX "#include <boost/" LIMIT_COUNT 1)
    if(boost)
        target_link_libraries(${name} PRIVATE pawl::asio)
    else()
        target_link_libraries(${name} PRIVATE pawl::pawl)
    endif()
    if(name STREQUAL "05_fencing")
        target_link_libraries(${name} PRIVATE SQLite::SQLite3)
    endif()
    add_test(NAME ${name} COMMAND ${name} memory:)
endforeach()

if(NOT PAWL_EXAMPLES)
    file(GLOB sources flash_sale/*.cpp support/*.cpp)
    add_executable(flash_sale ${sources})
    target_include_directories(flash_sale PRIVATE .)
    target_link_libraries(flash_sale PRIVATE pawl::pawl)
    target_compile_definitions(flash_sale PRIVATE PAWL_WITH_REDIS=$<TARGET_EXISTS:pawl::redis>)
endif()
