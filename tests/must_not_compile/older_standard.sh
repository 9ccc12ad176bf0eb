#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# older_standard.sh COMPILER FLAG… -- HEADER…: the first error of a header must be the
# one that names the standard.
set -u
compile=()
while [[ $1 != -- ]]; do
    compile+=("$1")
    shift
done
shift
wanted='error: .*Pawl needs C\+\+20: compile with -std=c\+\+20'
status=0
refused=0
for header in "$@"; do
    if output=$("${compile[@]}" -x c++ "$header" 2>&1); then
        continue
    fi
    first=$(grep -m1 'error: ' <<<"$output")
    if [[ $first =~ $wanted ]]; then
        refused=$((refused + 1))
    else
        printf '%s: %s\n' "$header" "$first" >&2
        status=1
    fi
done
if ((refused < 20)); then
    printf 'Only %d headers refuse this standard.\n' "$refused" >&2
    status=1
fi
exit "$status"
