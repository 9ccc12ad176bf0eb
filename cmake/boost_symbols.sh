#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Changes the symbols of Boost in Pawl's static libraries, so that they do not collide with a
# program's own Boost. docs/decisions/018-two-libraries-from-one-build.md has the reasons.
#   boost_symbols.sh weaken NM OBJCOPY AR ARCHIVE MEMBER
#       Makes the functions of MEMBER weak, so that the program's own copies replace them.
#   boost_symbols.sh rename ARCHIVE RESULT
#       RESULT is ARCHIVE with another name for namespace boost.
#   boost_symbols.sh hide NM MAP RESULT ARCHIVE...
#       RESULT is the version script MAP without the functions of Pawl that need the private Boost.
set -eu

weaken() {
    nm=$1 objcopy=$2 ar=$3 archive=$4 member=$5
    folder=$archive.weaken
    rm -rf "$folder"
    mkdir "$folder"
    object=$folder/$member
    (cd "$folder" && "$ar" x "$archive" "$member")
    "$nm" --defined-only --extern-only "$object" | awk '{ print $3 }' >"$object.list"
    "$objcopy" --weaken-symbols="$object.list" "$object"
    "$ar" r "$archive" "$object"
    rm -rf "$folder"
}

# Every mangled name spells the namespace `5boost`, in symbol tables and in the names of sections
# and types. Asio also has two functions with C linkage. The new names have the same length as the
# old ones, so that all offsets stay.
rename() {
    archive=$1 result=$2
    if LC_ALL=C grep -q '\.gnu\.lto_' "$archive"; then
        echo "$archive has link-time-optimised members; build Pawl without -flto." >&2
        exit 1
    fi
    LC_ALL=C sed 's/5boost/5pawl_/g
        s/asio_\(detail_posix_thread_function\|signal_handler\)/pawl_\1/g' "$archive" \
        >"$result.part"
    mv "$result.part" "$result"
}

# A program has no types of the private Boost, so it cannot call these functions of the async API.
# In a version script an exact name has precedence over a pattern.
hide() {
    nm=$1 map=$2 result=$3
    shift 3
    {
        sed '/local:/q' "$map"
        "$nm" --defined-only --extern-only "$@" 2>/dev/null |
            sed -n 's/^.* \(_Z[A-Z]*4pawl.*5pawl_.*\)$/        \1;/p' | LC_ALL=C sort -u
        sed '1,/local:/d' "$map"
    } >"$result.part"
    mv "$result.part" "$result"
}

action=$1
shift
"$action" "$@"
