# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Functions over the list in backends.cmake, and what CMake makes from the list.
#   pawl_known_backends, pawl_backends   the names of all backends, and of those in this build
#   pawl_backend_NAME_KEYWORD            an entry's values

# Declares a backend and its option PAWL_WITH_NAME.
function(pawl_backend name)
    set(lists URLS NAMESPACES EXPORTS PACKAGE LIBRARIES HEADERS PKG_CONFIG PARTS)
    # The last ones are for other readers of the list.
    set(of_others DEBIAN DEBIAN_TESTS CONAN MAY_SLEEP)
    cmake_parse_arguments(arg IN_PROCESS "TITLE;DIALECT" "${lists};${of_others}" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "backends.cmake: ${name} has ${arg_UNPARSED_ARGUMENTS}")
    endif()
    foreach(keyword IN LISTS lists ITEMS TITLE DIALECT IN_PROCESS)
        set(pawl_backend_${name}_${keyword} "${arg_${keyword}}" PARENT_SCOPE)
    endforeach()
    string(TOUPPER PAWL_WITH_${name} option)
    if(arg_IN_PROCESS)
        set(${option} ON)
        set(${option} ON PARENT_SCOPE)
    elseif(arg_PACKAGE)
        set(are_found ON)
        foreach(package IN LISTS arg_PACKAGE)
            find_package(${package} QUIET)
            if(NOT ${package}_FOUND)
                set(are_found OFF)
            endif()
        endforeach()
        foreach(header IN LISTS arg_HEADERS)
            find_path(pawl_folder_of_${header} ${header})
            mark_as_advanced(pawl_folder_of_${header})
            if(NOT pawl_folder_of_${header})
                set(are_found OFF)
            endif()
        endforeach()
        list(JOIN arg_PACKAGE " and " needed)
        list(JOIN arg_HEADERS " and " needed_headers)
        if(needed_headers)
            string(APPEND needed " and ${needed_headers}")
        endif()
        option(${option} "${arg_TITLE} (needs ${needed})" ${are_found})
    else()
        option(${option} "${arg_TITLE}" ON)
    endif()
    set(pawl_known_backends ${pawl_known_backends} ${name} PARENT_SCOPE)
    if(${option})
        set(pawl_backends ${pawl_backends} ${name} PARENT_SCOPE)
    endif()
endfunction()

# The values of a keyword of all backends in this build, each once.
function(pawl_backends_values result keyword)
    set(all "")
    foreach(name IN LISTS pawl_backends)
        list(APPEND all ${pawl_backend_${name}_${keyword}})
    endforeach()
    list(REMOVE_DUPLICATES all)
    set(${result} "${all}" PARENT_SCOPE)
endfunction()

# PAWL_WITH_NAME=0 or 1 for the sources of a target.
function(pawl_define_backends target)
    foreach(name IN LISTS pawl_known_backends)
        string(TOUPPER ${name} upper)
        target_compile_definitions(${target} PRIVATE
            PAWL_WITH_${upper}=$<BOOL:${PAWL_WITH_${upper}}>)
    endforeach()
endfunction()

# A part that several backends share: the libraries pawl_NAME and pawl_sync_NAME, from src/NAME. The
# file src/NAME/part.cmake sets `libraries`, which it links.
function(pawl_add_part name)
    pawl_add_library(pawl_${name} src/${name})
    include(${PROJECT_SOURCE_DIR}/src/${name}/part.cmake)
    target_link_libraries(pawl_${name} PUBLIC pawl_core PRIVATE ${libraries})
    pawl_add_sync_library(pawl_${name} LINK pawl_sync_core)
    target_link_libraries(pawl_sync_${name} PRIVATE ${libraries})
endfunction()

# The parts that the backends of this build name, in pawl_parts; and the libraries pawl_NAME and
# pawl_sync_NAME of each backend, from src/NAME. The file src/NAME/backend.cmake, if there is one,
# adds to them.
function(pawl_add_backends)
    pawl_backends_values(pawl_parts PARTS)
    set(pawl_parts ${pawl_parts} PARENT_SCOPE)
    foreach(name IN LISTS pawl_parts)
        pawl_add_part(${name})
    endforeach()
    foreach(name IN LISTS pawl_backends)
        foreach(package IN LISTS pawl_backend_${name}_PACKAGE)
            find_package(${package} REQUIRED)
        endforeach()
        set(libraries ${pawl_backend_${name}_LIBRARIES})
        list(TRANSFORM pawl_backend_${name}_PARTS PREPEND pawl_ OUTPUT_VARIABLE asio_parts)
        list(TRANSFORM pawl_backend_${name}_PARTS PREPEND pawl_sync_ OUTPUT_VARIABLE sync_parts)
        pawl_add_library(pawl_${name} src/${name})
        target_link_libraries(pawl_${name} PUBLIC pawl_core PRIVATE ${asio_parts} ${libraries})
        foreach(header IN LISTS pawl_backend_${name}_HEADERS)
            if(NOT pawl_folder_of_${header})
                message(FATAL_ERROR "The backend ${name} needs ${header}; install it, or leave "
                    "the backend out.")
            endif()
            target_include_directories(pawl_${name} SYSTEM PRIVATE ${pawl_folder_of_${header}})
        endforeach()
        include(${PROJECT_SOURCE_DIR}/src/${name}/backend.cmake OPTIONAL)
        pawl_add_sync_library(pawl_${name} LINK ${sync_parts} pawl_sync_core)
        target_link_libraries(pawl_sync_${name} PRIVATE ${libraries})
    endforeach()
endfunction()

# The table of from_url: generated/pawl_url_schemes.hpp. Its guards let a test compile the table for
# fewer backends than this build has.
function(pawl_write_url_schemes)
    set(declarations "")
    set(rows "")
    foreach(name IN LISTS pawl_backends)
        string(TOUPPER ${name} upper)
        string(APPEND declarations "#if PAWL_WITH_${upper}\n"
            "namespace ${name} {\nextern const core::backend_urls urls;\n}\n#endif\n")
        string(APPEND rows "#if PAWL_WITH_${upper}\n")
        foreach(url IN LISTS pawl_backend_${name}_URLS)
            string(REGEX MATCH "^([a-z0-9+.-]+)(:(//)?)(.*)$" matched "${url}")
            string(APPEND rows "    url_scheme{\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_2}\", "
                "\"${CMAKE_MATCH_4}\", &${name}::urls},\n")
        endforeach()
        string(APPEND rows "#endif\n")
    endforeach()
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pawl_url_schemes.hpp @ONLY CONTENT
"// Made from cmake/backends.cmake by the build.
#pragma once

#include <registry/url_scheme.hpp>

#include <array>

namespace pawl {

@declarations@
constexpr std::array url_schemes{
@rows@};

}  // namespace pawl
")
endfunction()

# Sets what the completions and the manual list: the beginnings of the URLs that the command takes,
# such as redis://, as pawl_schemes, pawl_schemes_zsh and pawl_schemes_mdoc.
function(pawl_list_schemes)
    set(schemes "")
    foreach(name IN LISTS pawl_backends)
        if(NOT pawl_backend_${name}_IN_PROCESS)
            list(APPEND schemes ${pawl_backend_${name}_URLS})
        endif()
    endforeach()
    list(TRANSFORM schemes REPLACE "^([a-z0-9+.-]+:(//)?).*$" "\\1")
    list(JOIN schemes " " joined)
    set(pawl_schemes "${joined}" PARENT_SCOPE)
    string(REPLACE ":" "\\:" joined "${joined}")
    set(pawl_schemes_zsh "${joined}" PARENT_SCOPE)
    # A colon at the end of a word is punctuation to mdoc, unless it is a word of its own.
    list(TRANSFORM schemes REPLACE ":$" " :")
    list(TRANSFORM schemes PREPEND ".Li ")
    list(POP_BACK schemes last)
    list(JOIN schemes " ,\n" joined)
    if(schemes)
        string(APPEND joined "\nor\n")
    endif()
    set(pawl_schemes_mdoc "${joined}${last} ." PARENT_SCOPE)
endfunction()

# Sets RESULT to the lines of a version script that export namespace pawl without the namespaces
# HIDDEN, and of those only EXPORTS. A pattern has no "all but this name", so there is one for each
# beginning of a hidden name: what goes on in another way is exported.
function(pawl_export_patterns result)
    cmake_parse_arguments(arg "" "" "HIDDEN;EXPORTS" ${ARGN})
    set(beginnings "")
    foreach(name IN LISTS arg_HIDDEN)
        string(LENGTH ${name} length)
        string(APPEND length ${name})  # as names are mangled: 5redis
        string(LENGTH ${length} end)
        math(EXPR last "${end} - 1")
        foreach(at RANGE ${last})
            string(SUBSTRING ${length} 0 ${at} beginning)
            string(SUBSTRING ${length} ${at} 1 next)
            list(APPEND beginnings "-${beginning}")  # never empty, which a list would lose
            if(NOT "${after_${beginning}}" MATCHES ${next})
                string(APPEND after_${beginning} ${next})
            endif()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES beginnings)
    set(lines "")
    foreach(each IN LISTS beginnings)
        string(SUBSTRING ${each} 1 -1 beginning)
        set(name "4pawl${beginning}[!${after_${beginning}}]*")
        string(APPEND lines "        _ZN${name}; _ZNK${name}; _ZT[ISV]N${name};\n")
    endforeach()
    foreach(function IN LISTS arg_EXPORTS)
        set(mangled "4pawl")
        string(REPLACE "::" ";" parts ${function})
        foreach(part IN LISTS parts)
            string(LENGTH ${part} length)
            string(APPEND mangled ${length}${part})
        endforeach()
        string(APPEND lines "        _ZN${mangled}E*; _ZNK${mangled}E*;\n")
    endforeach()
    set(${result} "${lines}" PARENT_SCOPE)
endfunction()
