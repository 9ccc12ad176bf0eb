#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# symbols.sh NM STATIC SHARED: the symbols that the libraries in these folders export.
set -euo pipefail
nm=$1 static=$2 shared=$3
status=0

# SENTENCE: standard input must be empty.
expect_none() {
    local lines
    lines=$(head -n5)
    if [[ -n $lines ]]; then
        printf '%s\n%s\n' "$1" "$lines" >&2
        status=1
    fi
}

for archive in "$static"/libpawl*.a; do
    case $archive in
        *_asio*) ;;
        *_conformance*) continue ;;
        *)
            { "$nm" "$archive" 2>/dev/null | grep 5boost || true; } |
                expect_none "$archive shows its Boost to the program:"
            { "$nm" --defined-only --extern-only "$archive" 2>/dev/null | grep ' [TDRB] ' |
                grep -v pawl || true; } | expect_none "$archive defines what is not Pawl's:"
            continue
            ;;
    esac
    # B is the variable that refuses an older Boost.
    { "$nm" --defined-only --extern-only "$archive" 2>/dev/null | grep ' [TDRB] ' |
        grep -v '4pawl\|do_use_service' || true; } |
        expect_none "$archive has functions of Boost that the program's own cannot replace:"
done

{ "$nm" -D --defined-only "$shared/libpawl.so" | grep -v ' _Z[A-Z]*4pawl' |
    grep -v ' link_either_pawl_or_pawl_asio_but_not_both$' || true; } |
    expect_none "libpawl.so shows more than Pawl's own names:"
inside='5pawl_|4pawl(3net|4core|5redis[^2]|6sqlite[^2])'
{ "$nm" -D --defined-only "$shared/libpawl.so" | grep -E "$inside" || true; } |
    expect_none "libpawl.so shows what is inside:"
for library in pawl pawl_asio; do
    soname="soname: .lib$library\.so\.[0-9]*\.[0-9]*."
    if ! readelf -d "$shared/lib$library.so" | grep -q "$soname"; then
        echo "lib$library.so has no soname of its own." >&2
        status=1
    fi
done
exit "$status"
