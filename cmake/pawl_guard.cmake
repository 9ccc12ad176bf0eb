# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The layers behind the lock: pawl_guard and pawl_sync_guard, from src/guard. The folder
# src/guard/NAME needs the client library of a backend, and is built with that backend. If it has a
# file guard.cmake, that file adds what the folder needs instead.
# The databases by the schemes of their URLs, also those that are not in this build.
set(rows "")
foreach(name IN LISTS pawl_known_backends)
    set(dialect ${pawl_backend_${name}_DIALECT})
    if(dialect)
        foreach(url IN LISTS pawl_backend_${name}_URLS)
            string(REGEX MATCH "^[a-z0-9+.-]+" scheme ${url})
            string(APPEND rows "    database_scheme{\"${scheme}\", dialect::${dialect}},\n")
        endforeach()
    endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pawl_database_schemes.hpp @ONLY CONTENT
"// Made from cmake/backends.cmake by the build.
#pragma once

#include <pawl/guard/connection.hpp>

#include <array>
#include <string_view>

namespace pawl::guard {

struct database_scheme {
    std::string_view scheme;
    guard::dialect dialect;
};
inline constexpr std::array database_schemes{
@rows@};

}  // namespace pawl::guard
")

pawl_add_library(pawl_guard src/guard)
get_target_property(sources pawl_guard SOURCES)
set(guard_libraries "")
foreach(name IN LISTS pawl_known_backends)
    if(NOT name IN_LIST pawl_backends)
        list(FILTER sources EXCLUDE REGEX "/src/guard/${name}/")
    elseif(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/guard/${name} AND
            NOT EXISTS ${PROJECT_SOURCE_DIR}/src/guard/${name}/guard.cmake)
        list(APPEND guard_libraries ${pawl_backend_${name}_LIBRARIES})
    endif()
endforeach()
list(FILTER sources EXCLUDE REGEX "/src/guard/cron/")
set_property(TARGET pawl_guard PROPERTY SOURCES ${sources})
target_link_libraries(pawl_guard PUBLIC pawl_core PRIVATE ${guard_libraries})
foreach(name IN LISTS pawl_backends)
    include(${PROJECT_SOURCE_DIR}/src/guard/${name}/guard.cmake OPTIONAL)
endforeach()
pawl_add_sync_library(pawl_guard LINK pawl_sync_core)
target_link_libraries(pawl_sync_guard PRIVATE ${guard_libraries})
