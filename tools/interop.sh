# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Prepares the programs of other languages for the interop tests of ./dev test. Sourced.

is_prepared() {
    [[ -f $1/prepared && -z $(find tests/interop/redisson -newer "$1/prepared" \
        '(' -name '*.java' -o -name pom.xml ')') ]]
}

# Compiles the Java programs and fetches Redisson. If that is not possible, prints the reason, and
# ctest does not list the tests: a test that does not run must not count as passed.
prepare_redisson() {
    local out=$1 program why=
    for program in java javac mvn; do
        command -v "$program" >/dev/null || why="there is no $program"
    done
    if [[ -z $why ]] && is_prepared "$out"; then
        return
    fi
    mkdir -p "$out"
    rm -f "$out/prepared"
    if [[ -z $why ]]; then
        say "Preparing Redisson for tests/interop"
        if timeout 300 mvn -q -B -f tests/interop/redisson/pom.xml "-Dout=$(realpath -m "$out")" \
            process-classes >"$out/maven.log" 2>&1; then
            touch "$out/prepared"
            return
        fi
        why="Maven could not build it, see $out/maven.log"
    fi
    say "tests/interop/redisson is NOT run: $why"
}
