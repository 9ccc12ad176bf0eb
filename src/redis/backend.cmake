# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The scripts of the three layouts of keys, as headers; and the compiled part of Boost.Redis.
include(embed_scripts)
set(generated ${PROJECT_BINARY_DIR}/generated)
set(script_headers ${generated}/redis_scripts.hpp ${generated}/redisson_scripts.hpp
    ${generated}/redlock_scripts.hpp)
pawl_embed_scripts(${CMAKE_CURRENT_LIST_DIR}/native/scripts ${generated}/redis_scripts.hpp)
pawl_embed_scripts(${CMAKE_CURRENT_LIST_DIR}/redisson/scripts ${generated}/redisson_scripts.hpp
    pawl::redis::redisson::scripts)
pawl_embed_scripts(${CMAKE_CURRENT_LIST_DIR}/redlock/scripts ${generated}/redlock_scripts.hpp
    pawl::redlock::scripts)
target_sources(pawl_redis PRIVATE ${script_headers})
# For clang-tidy, which needs the headers and no library.
add_custom_target(pawl_script_headers DEPENDS ${script_headers})
add_dependencies(pawl_redis pawl_script_headers)
pawl_weaken_boost(pawl_redis boost_redis.cpp)
