#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# symbols.sh NM STATIC SHARED: the symbols that the libraries in these folders export.
set -euo pipefail
nm=$1 static=$2 shared=$3
status=0

# SENTENCE LINES: there must be no lines.
expect_none() {
    if [[ -n $2 ]]; then
        printf '%s\n%s\n' "$1" "$(head -n5 <<<"$2")" >&2
        status=1
    fi
}

# KEYWORD...: the values in the list of backends.
values_of() {
    sed -nE "s/^ *($(IFS='|' && echo "$*")) +([^)]*)\)?$/\2/p" \
        "$(dirname "$0")/../../cmake/backends.cmake"
}

# NAME...: the names as they are mangled, as alternatives of a regular expression.
mangled() {
    local name part separator=''
    for name in "$@"; do
        printf '%s' "$separator"
        for part in ${name//::/ }; do printf '%s%s' ${#part} "$part"; done
        separator='|'
    done
}

for archive in "$static"/libpawl*.a; do
    case $archive in
        *_asio*)
            # B is the variable that refuses an older Boost.
            expect_none "$archive has functions of Boost that the program's own cannot replace:" \
                "$("$nm" --defined-only --extern-only "$archive" 2>/dev/null | grep ' [TDRB] ' |
                    grep -v '4pawl\|do_use_service' || true)"
            ;;
        *_conformance*) ;;
        *)
            expect_none "$archive shows its Boost to the program:" \
                "$("$nm" "$archive" 2>/dev/null | grep 5boost || true)"
            expect_none "$archive defines what is not Pawl's:" \
                "$("$nm" --defined-only --extern-only "$archive" 2>/dev/null | grep ' [TDRB] ' |
                    grep -v pawl || true)"
            ;;
    esac
done

exported=$("$nm" -D --defined-only "$shared/libpawl.so")
expect_none "libpawl.so shows more than Pawl's own names:" \
    "$(grep -v ' _Z[A-Z]*4pawl' <<<"$exported" |
        grep -v ' link_either_pawl_or_pawl_asio_but_not_both$' || true)"
expect_none "libpawl.so shows functions that need its private Boost:" \
    "$(grep 5pawl_ <<<"$exported" || true)"
# shellcheck disable=SC2046 # one name a word
inside=$(mangled core $(values_of NAMESPACES PARTS)) public=$(mangled $(values_of EXPORTS))
expect_none "libpawl.so shows what is inside:" \
    "$(grep -E " _Z[A-Z]*4pawl($inside)" <<<"$exported" |
        grep -vE " _ZNK?4pawl($public)E" || true)"
for library in pawl pawl_asio; do
    soname="soname: .lib$library\.so\.[0-9]*\.[0-9]*."
    if ! readelf -d "$shared/lib$library.so" | grep -q "$soname"; then
        echo "lib$library.so has no soname of its own." >&2
        status=1
    fi
done
exit "$status"
