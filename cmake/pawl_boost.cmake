# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Makes the target Boost::headers from Boost >= 1.91. The first of these is used: the Boost that
# CMake knows, headers on the usual paths, the headers that `./dev` keeps in .deps.
# Sets pawl_boost_version ("1.92.0"; empty without such a Boost).
include(pawl_find_boost)

if(NOT TARGET Boost::headers)
    find_package(Boost 1.91 CONFIG QUIET)
endif()
pawl_find_boost(pawl_boost_folder pawl_boost_version
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../.deps/boost/usr/include")
if(pawl_boost_folder AND NOT TARGET Boost::headers)
    add_library(Boost::headers INTERFACE IMPORTED)
    set_target_properties(Boost::headers PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${pawl_boost_folder}")
endif()
