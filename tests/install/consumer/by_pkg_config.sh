#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# by_pkg_config.sh COMPILER PKG_CONFIG PREFIX LIBDIR BOOST FOLDER: builds and runs programs there.
# The program for threads has no Boost on its include path: its headers need none. If BOOST is
# none, the headers of Boost are in PREFIX.
set -euo pipefail
compiler=$1 pkg_config=$2 prefix=$3 libdir=$4 boost=$5 folder=$6
here=$(dirname "$0")
boost_flags=()
[[ $boost == none ]] || boost_flags=(-isystem "$boost")

mkdir -p "$folder"
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig

# PACKAGE SOURCE [FLAG…]
build_and_run() {
    local package=$1 source=$2 program
    program=$folder/$(basename "$source" .cpp)
    shift 2
    read -r -a flags < <("$pkg_config" --cflags "$package")
    read -r -a libraries < <("$pkg_config" --libs "$package")
    "$compiler" -std=c++20 -Wall -Wextra -Werror "$@" "${flags[@]}" "$source" -o "$program" \
        "${libraries[@]}"
    LD_LIBRARY_PATH=$prefix/$libdir "$program"
}

build_and_run pawl "$here/threads.cpp"
# The linker would miss the library for this version of Boost.
build_and_run pawl-asio "$here/../beside/settings.cpp" "${boost_flags[@]}"
