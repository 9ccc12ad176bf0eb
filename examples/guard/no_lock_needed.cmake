# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# A Redis server, and hiredis.
find_library(PAWL_HIREDIS_LIBRARY hiredis)
find_path(PAWL_HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
if(NOT PAWL_WITH_REDIS OR NOT PAWL_HIREDIS_LIBRARY OR NOT PAWL_HIREDIS_INCLUDE_DIR)
    set(example_is_possible FALSE)
endif()
set(example_libraries ${PAWL_HIREDIS_LIBRARY})
set(example_server ${PROJECT_SOURCE_DIR}/tools/with_redis.sh)
