#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# prepare.sh BUILD: installs the peers of ./dev bench peers and their drivers from their registries
# into the build folder. A peer that cannot be installed is reported in one line; run.py then leaves
# its rows out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tools/packages.sh
source tools/interop.sh
build=$1
sources=bench/peers

# LANGUAGE TOOL COMMAND…: runs the command if the tool is installed.
prepare() {
    local language=$1 tool=$2 log=$build/bench/peers/$1.log
    shift 2
    if ! command -v "$tool" >/dev/null; then
        say "The peers in $language are not measured: there is no $tool"
    elif ! timeout 280 "$@" >"$log" 2>&1; then
        say "The peers in $language are not measured: see $log"
    fi
}

# Otherwise old classes would run if this fails.
java_driver() {
    rm -rf "$build/bench/peers/java"
    javac -cp "$build/interop/redisson/lib/*" -d "$build/bench/peers/java" \
        "$sources/java/Driver.java"
}
export -f java_driver
export build sources

mkdir -p "$build/bench/peers"
prepare_java redisson "$build/interop/redisson"
fetch=tests/interop/plain/fetch.sh
prepare java javac bash -c java_driver
prepare go go "$fetch" go "$build/bench/peers/go" "$sources/go"
prepare js npm "$fetch" js "$build/tests/interop_plain/js"
prepare py python3 "$fetch" py "$build/bench/peers/py" "$sources/py"
