# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Prepares the programs of other languages for the interop tests of ./dev test. Sourced.

# NAME is a folder of tests/interop, and FOLDER what is made from it.
is_prepared() {
    local name=$1 folder=$2
    [[ -f $folder/prepared && -z $(find "tests/interop/$name" -newer "$folder/prepared" \
        '(' -name '*.java' -o -name pom.xml ')') ]]
}

# NAME FOLDER: compiles the Java programs and fetches the libraries that they use. If that is not
# possible, prints the reason, and ctest does not list the tests: a test that does not run must not
# count as passed.
prepare_java() {
    local name=$1 out=$2 program why=
    for program in java javac mvn; do
        command -v "$program" >/dev/null || why="there is no $program"
    done
    if [[ -z $why ]] && is_prepared "$name" "$out"; then
        return
    fi
    mkdir -p "$out"
    rm -f "$out/prepared"
    if [[ -z $why ]]; then
        say "Preparing Java for tests/interop/$name"
        if timeout 300 mvn -q -B -f "tests/interop/$name/pom.xml" "-Dout=$(realpath -m "$out")" \
            process-classes >"$out/maven.log" 2>&1; then
            touch "$out/prepared"
            return
        fi
        why="Maven could not build it, see $out/maven.log"
    fi
    say "tests/interop/$name is NOT run: $why"
}
