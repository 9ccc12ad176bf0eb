# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Schedules, which need cctz, are libraries of their own: pawl_schedules and pawl_sync_schedules.
find_path(PAWL_CCTZ_INCLUDE_DIR cctz/time_zone.h)
find_library(PAWL_CCTZ_LIBRARY cctz)
mark_as_advanced(PAWL_CCTZ_INCLUDE_DIR PAWL_CCTZ_LIBRARY)
set(has_cctz OFF)
if(PAWL_CCTZ_INCLUDE_DIR AND PAWL_CCTZ_LIBRARY)
    set(has_cctz ON)
endif()
option(PAWL_WITH_SCHEDULES "Schedules and `pawl cron` (needs cctz)" ${has_cctz})
if(PAWL_WITH_SCHEDULES)
    if(NOT has_cctz)
        message(FATAL_ERROR "Schedules need cctz; install libcctz-dev, or set "
            "PAWL_WITH_SCHEDULES=OFF.")
    endif()
    # The databases of this build that can keep records, by the schemes of their URLs.
    set(declarations "")
    set(rows "")
    foreach(name IN LISTS pawl_backends)
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/guard/cron/${name}/open.cpp)
            continue()
        endif()
        string(APPEND declarations
            "std::unique_ptr<connection> open_${name}(std::string_view, if_missing);\n")
        foreach(url IN LISTS pawl_backend_${name}_URLS)
            string(REGEX MATCH "^[a-z]+" scheme ${url})
            string(APPEND rows "    record_database{\"${scheme}\", &open_${name}},\n")
        endforeach()
    endforeach()
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pawl_record_databases.hpp @ONLY CONTENT
"// Made from cmake/backends.cmake by the build.
#pragma once

#include <pawl/guard/open_database.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace pawl::guard {

@declarations@
struct record_database {
    std::string_view scheme;
    std::unique_ptr<connection> (*open)(std::string_view url, if_missing file);
};
inline const std::vector<record_database> record_databases{
@rows@};

}  // namespace pawl::guard
")
    pawl_backends_values(schedule_libraries LIBRARIES)
    pawl_add_library(pawl_schedules src/guard/cron)
    get_target_property(sources pawl_schedules SOURCES)
    foreach(name IN LISTS pawl_known_backends)
        if(NOT name IN_LIST pawl_backends)
            list(FILTER sources EXCLUDE REGEX "/src/guard/cron/${name}/")
        endif()
    endforeach()
    set_property(TARGET pawl_schedules PROPERTY SOURCES ${sources})
    target_include_directories(pawl_schedules SYSTEM PRIVATE ${PAWL_CCTZ_INCLUDE_DIR})
    target_link_libraries(pawl_schedules PUBLIC pawl PRIVATE cctz ${schedule_libraries})
    pawl_add_sync_library(pawl_schedules LINK pawl_sync)
    target_link_libraries(pawl_sync_schedules PRIVATE cctz ${schedule_libraries})
endif()
