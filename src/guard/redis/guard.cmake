# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The scripts of pawl_guard, as a header.
include(embed_scripts)
set(guard_scripts ${PROJECT_BINARY_DIR}/generated/guard_redis_scripts.hpp)
pawl_embed_scripts(${CMAKE_CURRENT_LIST_DIR}/scripts ${guard_scripts} pawl::guard::redis::scripts
    guard/redis/script.hpp)
target_sources(pawl_guard PRIVATE ${guard_scripts})
# For clang-tidy, which needs the header and no library.
add_custom_target(pawl_guard_script_header DEPENDS ${guard_scripts})
add_dependencies(pawl_guard pawl_guard_script_header)
if(TARGET pawl_script_headers)
    add_dependencies(pawl_script_headers pawl_guard_script_header)
endif()
