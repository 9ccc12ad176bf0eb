#!/usr/bin/env bash
# by_pkg_config.sh COMPILER PKG_CONFIG PREFIX LIBDIR FOLDER: builds and runs threads.cpp in FOLDER.
# No Boost is on the include path: the headers for threads need none.
set -euo pipefail
compiler=$1 pkg_config=$2 prefix=$3 libdir=$4 folder=$5

mkdir -p "$folder"
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
read -r -a flags < <("$pkg_config" --cflags pawl)
read -r -a libraries < <("$pkg_config" --libs pawl)
"$compiler" -std=c++20 -Wall -Wextra -Werror "${flags[@]}" "$(dirname "$0")/threads.cpp" \
    -o "$folder/threads" "${libraries[@]}"
LD_LIBRARY_PATH=$prefix/$libdir "$folder/threads"
