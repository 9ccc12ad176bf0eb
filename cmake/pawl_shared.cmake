# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# libpawl.so and libpawl_asio.so, each with all backends of this build. The targets of single
# backends are other names of these two libraries.
pawl_backends_values(needed LIBRARIES)
pawl_backends_values(hidden NAMESPACES)
pawl_backends_values(exports EXPORTS)
list(TRANSFORM pawl_parts PREPEND pawl_ OUTPUT_VARIABLE asio_parts)
list(TRANSFORM pawl_parts PREPEND pawl_sync_ OUTPUT_VARIABLE sync_parts)
pawl_export_patterns(pawl_exports HIDDEN core ${pawl_parts} ${hidden} EXPORTS ${exports})
# The part of libpawl_asio.so that each program contains. The linker detects a mixture of the two
# kinds only among the files of the program, not between a program and a shared library.
add_library(pawl_asio_link STATIC ${PROJECT_SOURCE_DIR}/src/core/util/library.cpp)
set_target_properties(pawl_asio_link PROPERTIES
    EXPORT_NAME asio_link POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
pawl_own(pawl_asio_link)
target_link_libraries(pawl_asio_link PRIVATE $<BUILD_INTERFACE:Boost::headers>)
pawl_set_kind(pawl_asio_link asio)

pawl_add_shared_library(pawl_shared NAME pawl KIND sync MARKER char
    ARCHIVES pawl_sync ${sync_backends} ${sync_parts} pawl_sync_guard pawl_sync_core
    PRIVATE ${needed} PUBLIC Threads::Threads)
pawl_add_shared_library(pawl_asio_shared NAME pawl_asio KIND asio MARKER "thread_local char"
    ARCHIVES pawl ${asio_backends} ${asio_parts} pawl_guard pawl_core PRIVATE ${needed}
    PUBLIC pawl_asio_link Threads::Threads
        $<BUILD_INTERFACE:Boost::headers> $<INSTALL_INTERFACE:pawl::boost>)
set(pawl_shared_libraries pawl_shared pawl_asio_shared pawl_asio_link)
set_target_properties(pawl_shared PROPERTIES EXPORT_NAME pawl)
set_target_properties(pawl_asio_shared PROPERTIES EXPORT_NAME asio)

function(pawl_add_other_name library name)
    add_library(${library}_${name} INTERFACE)
    target_link_libraries(${library}_${name} INTERFACE ${library})
    string(REGEX REPLACE "^pawl_|shared$" "" kind ${library})
    set_target_properties(${library}_${name} PROPERTIES EXPORT_NAME ${kind}${name})
    set(pawl_shared_libraries ${pawl_shared_libraries} ${library}_${name} PARENT_SCOPE)
endfunction()
foreach(name IN LISTS pawl_backends ITEMS guard core)
    pawl_add_other_name(pawl_shared ${name})
    pawl_add_other_name(pawl_asio_shared ${name})
endforeach()

# Only tests link the conformance suite, so it stays a static library.
add_library(pawl_shared_conformance STATIC $<TARGET_OBJECTS:pawl_conformance>)
target_link_libraries(pawl_shared_conformance PUBLIC pawl_asio_shared)
set_target_properties(pawl_shared_conformance PROPERTIES
    OUTPUT_NAME pawl_conformance EXPORT_NAME conformance LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/shared)
list(APPEND pawl_shared_libraries pawl_shared_conformance)
# `cmake --install` offers both kinds, so both are built for it. This only links archives again.
if(NOT PAWL_INSTALL AND NOT PAWL_BUILD_TESTS)
    set_target_properties(${pawl_shared_libraries} PROPERTIES
        EXCLUDE_FROM_ALL ON)
endif()
