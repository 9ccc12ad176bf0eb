# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The layers behind the lock: pawl_guard and pawl_sync_guard, from src/guard. The folder
# src/guard/NAME needs the client library of a backend, and is built with that backend.
pawl_add_library(pawl_guard src/guard)
get_target_property(sources pawl_guard SOURCES)
set(guard_libraries "")
foreach(name IN LISTS pawl_known_backends)
    if(NOT name IN_LIST pawl_backends)
        list(FILTER sources EXCLUDE REGEX "/src/guard/${name}/")
    elseif(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/guard/${name})
        list(APPEND guard_libraries ${pawl_backend_${name}_LIBRARIES})
    endif()
endforeach()
list(FILTER sources EXCLUDE REGEX "/src/guard/cron/")
set_property(TARGET pawl_guard PROPERTY SOURCES ${sources})
target_link_libraries(pawl_guard PUBLIC pawl_core PRIVATE ${guard_libraries})
pawl_add_sync_library(pawl_guard LINK pawl_sync_core)
target_link_libraries(pawl_sync_guard PRIVATE ${guard_libraries})
