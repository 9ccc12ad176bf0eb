#!/bin/sh
# What becomes of the Boost inside Pawl's static libraries, so that it meets that of a program in
# peace. docs/decisions/018-two-libraries-from-one-build.md has the reasons.
#   boost_symbols.sh weaken NM OBJCOPY AR ARCHIVE MEMBER
#       The functions of MEMBER, which has nothing but Boost, give way to the program's own copies.
#   boost_symbols.sh rename ARCHIVE RESULT
#       RESULT is ARCHIVE with namespace boost under another name, unknown to any other code.
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

# `5boost` is how each mangled name spells the namespace, in tables of symbols, names of sections
# and of types alike; Asio has two functions besides that are called as those of C are. New names
# are as long as the old ones, so nothing moves.
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

action=$1
shift
"$action" "$@"
