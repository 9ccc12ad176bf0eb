# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Turns a folder's *.lua into one C++ header. Two uses:
#   include(embed_scripts) and pawl_embed_scripts(FOLDER HEADER [NAMESPACE [TYPE_HEADER]]) add the
#   build rule;
#   cmake -D folder=… -D header=… [-D space=… -D type_header=…] -P embed_scripts.cmake writes the
#   header.
# The default NAMESPACE is pawl::redis::scripts. There, `redis::script` is the type that TYPE_HEADER
# defines; the default is redis/scripting/script.hpp.
# A line `--@include NAME.lua` is replaced by that file's text; files named `_*.lua` are such parts.
# Lines that are comments become empty, so that servers get the code only, with its line numbers.

cmake_policy(VERSION 3.25)

function(pawl_embed_scripts folder header)
    list(POP_FRONT ARGN space type_header)
    file(GLOB inputs CONFIGURE_DEPENDS ${folder}/*.lua)
    add_custom_command(
        OUTPUT ${header}
        COMMAND ${CMAKE_COMMAND} -D folder=${folder} -D header=${header} -D space=${space}
                -D type_header=${type_header} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        DEPENDS ${inputs} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        COMMENT "Embedding the Redis scripts" VERBATIM)
endfunction()

# All expansions are quoted: CMake would split Lua at its semicolons and brackets.
function(read_script path result)
    file(READ "${path}" text)
    while("${text}" MATCHES "(^|\n)(--@include +([A-Za-z0-9_]+\\.lua) *)(\n|$)")
        set(line "${CMAKE_MATCH_2}")
        set(part "${folder}/${CMAKE_MATCH_3}")
        if(NOT EXISTS "${part}")
            message(FATAL_ERROR "${path} includes ${CMAKE_MATCH_3}, which is not in ${folder}")
        endif()
        file(READ "${part}" included)
        if("${included}" MATCHES "(^|\n)--@include ")
            message(FATAL_ERROR "${part} is a part and must not include others")
        endif()
        string(REGEX REPLACE "\n$" "" included "${included}")
        string(REPLACE "${line}" "${included}" text "${text}")
    endwhile()
    if("${text}" MATCHES "--\\[=*\\[")
        message(FATAL_ERROR "${path} has a block comment; comment each line with --")
    endif()
    string(REGEX REPLACE "(^|\n)[ \t]*--[^\n]*" "\\1" text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(write_header)
    file(GLOB paths "${folder}/*.lua")
    list(SORT paths)
    set(objects "")
    set(names "")
    set(count 0)
    foreach(path IN LISTS paths)
        get_filename_component(name "${path}" NAME_WE)
        if(name MATCHES "^_")
            continue()
        endif()
        read_script("${path}" text)
        if("${text}" MATCHES "\\)lua\"")
            message(FATAL_ERROR "${path} contains the end mark )lua\" of a C++ raw string")
        endif()
        string(SHA1 sha1 "${text}")
        string(APPEND objects "inline constexpr redis::script ${name}{\n"
               "    \"${name}\", R\"lua(${text})lua\",\n    \"${sha1}\"};\n\n")
        string(APPEND names "    ${name},\n")
        math(EXPR count "${count} + 1")
    endforeach()
    file(CONFIGURE OUTPUT "${header}" @ONLY CONTENT "// Made from Lua files by the build.
#pragma once

#include <@type_header@>

#include <array>

namespace @space@ {

@objects@inline constexpr std::array<redis::script, @count@> all{
@names@};

}  // namespace @space@
")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    if(NOT space)
        set(space pawl::redis::scripts)
    endif()
    if(NOT type_header)
        set(type_header redis/scripting/script.hpp)
    endif()
    write_header()
endif()
