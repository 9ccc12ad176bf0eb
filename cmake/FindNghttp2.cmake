# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Finds nghttp2, the frames of HTTP/2, and defines Nghttp2::Nghttp2. Debian's library has no CMake
# package of its own.
find_path(Nghttp2_INCLUDE_DIR nghttp2/nghttp2.h)
find_library(Nghttp2_LIBRARY NAMES nghttp2 nghttp2_static)
mark_as_advanced(Nghttp2_INCLUDE_DIR Nghttp2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nghttp2 REQUIRED_VARS Nghttp2_LIBRARY Nghttp2_INCLUDE_DIR)
if(Nghttp2_FOUND AND NOT TARGET Nghttp2::Nghttp2)
    add_library(Nghttp2::Nghttp2 UNKNOWN IMPORTED)
    set_target_properties(Nghttp2::Nghttp2 PROPERTIES
        IMPORTED_LOCATION "${Nghttp2_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Nghttp2_INCLUDE_DIR}")
endif()
