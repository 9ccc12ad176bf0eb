# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Finds the headers of Boost. pawl-config.cmake uses this file, too, so it is installed.

function(pawl_read_boost_version folder result)
    set(${result} "" PARENT_SCOPE)
    if(EXISTS "${folder}/boost/version.hpp")
        file(STRINGS "${folder}/boost/version.hpp" line REGEX "^#define BOOST_VERSION [0-9]+")
        if(line MATCHES "BOOST_VERSION ([0-9]+)")
            math(EXPR major "${CMAKE_MATCH_1} / 100000")
            math(EXPR minor "${CMAKE_MATCH_1} / 100 % 1000")
            math(EXPR patch "${CMAKE_MATCH_1} % 100")
            set(${result} "${major}.${minor}.${patch}" PARENT_SCOPE)
        endif()
    endif()
endfunction()

# A validator for find_path. If `pawl_boost_exact` is set, only that version is valid.
function(pawl_boost_is_right result folder)
    pawl_read_boost_version("${folder}" version)
    if(version VERSION_LESS 1.91 OR
            (pawl_boost_exact AND NOT version VERSION_EQUAL pawl_boost_exact))
        set(${result} FALSE PARENT_SCOPE)
    endif()
endfunction()

# An error message for a folder that the user has named; empty if the folder is valid.
function(pawl_complain_of_boost result folder)
    set(${result} "" PARENT_SCOPE)
    set(right TRUE)
    pawl_boost_is_right(right "${folder}")
    if(right)
        return()
    endif()
    pawl_read_boost_version("${folder}" version)
    if(version)
        set(${result} "${folder} has Boost ${version}." PARENT_SCOPE)
    else()
        set(${result} "${folder} has no boost/version.hpp." PARENT_SCOPE)
    endif()
endfunction()

# The include folder and version of the Boost that CMake knows already, else of headers on the usual
# paths and HINTS. Both are empty if no Boost is valid. Sets pawl_boost_complaint to an error
# message if the folder in PAWL_BOOST_INCLUDE_DIR is not valid.
function(pawl_find_boost folder version)
    cmake_parse_arguments(arg "" "EXACT" "HINTS" ${ARGN})
    set(pawl_boost_exact "${arg_EXACT}")
    set(found "")
    set(candidates "")
    set(complaint "")
    if(PAWL_BOOST_INCLUDE_DIR)
        list(APPEND candidates ${PAWL_BOOST_INCLUDE_DIR})
        pawl_complain_of_boost(complaint "${PAWL_BOOST_INCLUDE_DIR}")
    endif()
    if(TARGET Boost::headers)
        get_target_property(of_target Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
        # Package managers name the folder per configuration: $<$<CONFIG:Release>:/folder>.
        list(TRANSFORM of_target REPLACE "^\\$<.*:(/[^>]*)>$" "\\1")
        list(APPEND candidates ${of_target})
    endif()
    foreach(candidate IN LISTS candidates)
        set(right TRUE)
        pawl_boost_is_right(right "${candidate}")
        if(right)
            set(found "${candidate}")
            break()
        endif()
    endforeach()
    if(NOT found)
        unset(PAWL_BOOST_INCLUDE_DIR CACHE)
        find_path(PAWL_BOOST_INCLUDE_DIR boost/version.hpp
            HINTS ${Boost_INCLUDE_DIR} ${Boost_ROOT}/include
                ${BOOST_ROOT}/include ${BOOST_ROOT} $ENV{BOOST_ROOT}/include $ENV{BOOST_ROOT}
            PATHS ${arg_HINTS} VALIDATOR pawl_boost_is_right
            DOC "A folder with boost/version.hpp of Boost >= 1.91")
        if(PAWL_BOOST_INCLUDE_DIR)
            set(found "${PAWL_BOOST_INCLUDE_DIR}")
        endif()
    endif()
    pawl_read_boost_version("${found}" found_version)
    if(complaint AND found)
        message(WARNING "PAWL_BOOST_INCLUDE_DIR is not what Pawl needs: ${complaint} "
            "${found} is used instead.")
    endif()
    set(pawl_boost_complaint "${complaint}" PARENT_SCOPE)
    set(${folder} "${found}" PARENT_SCOPE)
    set(${version} "${found_version}" PARENT_SCOPE)
endfunction()
