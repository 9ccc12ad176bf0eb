# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Pawl's examples against an installed Pawl; this file is installed as CMakeLists.txt.
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=<where Pawl is> && cmake --build build
cmake_minimum_required(VERSION 3.25)
project(pawl_examples LANGUAGES CXX)
find_package(pawl REQUIRED COMPONENTS asio)
set(PAWL_EXAMPLES "" CACHE STRING "Names without .cpp, as in 01_threads;02_coroutines; empty: all")
enable_testing()

file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cpp$" "" name ${source})
    set(example_is_possible TRUE)
    set(example_libraries "")
    include(${name}.cmake OPTIONAL)  # what the example needs beside Pawl
    if((PAWL_EXAMPLES AND NOT name IN_LIST PAWL_EXAMPLES) OR NOT example_is_possible)
        continue()
    endif()
    add_executable(${name} ${source})
    # Programs for threads need pawl::pawl, those for event loops pawl::asio.
    file(STRINGS ${source} boost REGEX "#include <boost/" LIMIT_COUNT 1)
    if(boost)
        target_link_libraries(${name} PRIVATE pawl::asio ${example_libraries})
    else()
        target_link_libraries(${name} PRIVATE pawl::pawl ${example_libraries})
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
