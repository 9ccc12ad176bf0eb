# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The build options, and the compiler flags that they select.

include(backends)
option(PAWL_BUILD_CLI "The command pawl (needs CLI11)" ${PROJECT_IS_TOP_LEVEL})
option(PAWL_BUILD_TESTS "Tests (needs GoogleTest, redis-server)" ${PROJECT_IS_TOP_LEVEL})
option(PAWL_BUILD_BENCH "Benchmarks (needs hiredis, redis-server, redis-benchmark)" OFF)
option(PAWL_BUILD_EXAMPLES "Examples" ${PROJECT_IS_TOP_LEVEL})
option(PAWL_INSTALL "Rules for `cmake --install`" ${PROJECT_IS_TOP_LEVEL})
option(PAWL_WARNINGS_AS_ERRORS "Stop at a warning in Pawl's own sources" OFF)
set(PAWL_SANITIZE "" CACHE STRING "address (with undefined behaviour), thread, fuzz, or empty")
set_property(CACHE PAWL_SANITIZE PROPERTY STRINGS "" address thread fuzz)

if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

# For C++ only: tests preload libraries written in C into other programs, which have no sanitizer.
if(PAWL_SANITIZE STREQUAL "address")
    set(sanitizers -fsanitize=address,undefined)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>")
elseif(PAWL_SANITIZE STREQUAL "thread")
    set(sanitizers -fsanitize=thread)
elseif(PAWL_SANITIZE STREQUAL "fuzz")
    # Only the fuzz targets link libFuzzer's main: see tests/fuzz.
    set(sanitizers -fsanitize=fuzzer-no-link,address,undefined)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>")
elseif(PAWL_SANITIZE)
    message(FATAL_ERROR "PAWL_SANITIZE is address, thread or fuzz, not \"${PAWL_SANITIZE}\".")
endif()
if(PAWL_SANITIZE)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${sanitizers};-fno-omit-frame-pointer>")
    add_link_options("$<$<LINK_LANGUAGE:CXX>:${sanitizers}>")
endif()

# Build folders share one cache: paths below the project are relative to it.
find_program(PAWL_CCACHE ccache)
if(PAWL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${PAWL_CCACHE})
endif()
