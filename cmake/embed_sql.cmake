# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Turns a folder's *.sql, in the order of their names and without comments, into one C++ header with
# the array `schema_parts`. Two uses:
#   include(embed_sql) and pawl_embed_sql(FOLDER HEADER NAMESPACE) add the build rule;
#   cmake -D folder=… -D header=… -D space=… -P embed_sql.cmake writes the header.

cmake_policy(VERSION 3.25)

function(pawl_embed_sql folder header space)
    file(GLOB inputs CONFIGURE_DEPENDS ${folder}/*.sql)
    add_custom_command(
        OUTPUT ${header}
        COMMAND ${CMAKE_COMMAND} -D folder=${folder} -D header=${header} -D space=${space}
                -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        DEPENDS ${inputs} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        COMMENT "Embedding the SQL of ${space}" VERBATIM)
endfunction()

# All expansions are quoted: CMake would split SQL at its semicolons.
function(write_header)
    file(GLOB paths "${folder}/*.sql")
    list(SORT paths)
    list(LENGTH paths count)
    set(parts "")
    foreach(path IN LISTS paths)
        file(READ "${path}" text)
        string(REGEX REPLACE "[ \t]*--[^\n]*" "" text "${text}")
        string(REGEX REPLACE "\n\n+" "\n" text "${text}")
        string(REGEX REPLACE "^\n" "" text "${text}")
        if("${text}" MATCHES "\\)sql\"")
            message(FATAL_ERROR "${path} contains the end mark )sql\" of a C++ raw string")
        endif()
        string(APPEND parts "    R\"sql(${text})sql\",\n")
    endforeach()
    file(WRITE "${header}.new" "// Made from SQL files by the build.
#pragma once

#include <array>
#include <string_view>

namespace ${space} {

inline constexpr std::array<std::string_view, ${count}> schema_parts{
${parts}};

}  // namespace ${space}
")
    file(RENAME "${header}.new" "${header}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    write_header()
endif()
