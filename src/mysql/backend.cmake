# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The tables and procedures, as a header.
include(embed_sql)
set(schema_header ${PROJECT_BINARY_DIR}/generated/mysql_schema.hpp)
pawl_embed_sql(${CMAKE_CURRENT_LIST_DIR}/schema ${schema_header} pawl::mysql)
target_sources(pawl_mysql PRIVATE ${schema_header})
# For clang-tidy, which needs the header and no library.
add_custom_target(pawl_mysql_schema DEPENDS ${schema_header})
add_dependencies(pawl_mysql pawl_mysql_schema)
if(TARGET pawl_script_headers)
    add_dependencies(pawl_script_headers pawl_mysql_schema)
endif()
