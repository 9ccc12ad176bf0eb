# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Configuring, building and testing, for ./dev. Sourced.

without_aslr=()

build_folder() {
    if [[ $1 == dev ]]; then echo build; else echo "build-$1"; fi
}

# Ninja configures again by itself when a CMake file changes, but not for the presets.
configure_preset() {
    local folder
    folder=$(build_folder "$1")
    need_boost
    if [[ ! -f $folder/build.ninja || CMakePresets.json -nt $folder/build.ninja ]]; then
        say "Configuring $folder"
        cmake --preset "$1"
    fi
}

build_preset() {
    local preset=$1
    shift
    configure_preset "$preset"
    say "Building $* in $(build_folder "$preset")"
    ninja -C "$(build_folder "$preset")" -j "$(nproc)" "$@"
}

# The folder with the headers of Boost for which a build folder was configured.
boost_folder_of() {
    sed -n 's/^PAWL_BOOST_INCLUDE_DIR:[^=]*=//p' "$1/CMakeCache.txt"
}

# Sets ctest_arguments to the arguments without --long. Without it the tests with the label `long`
# are left out. ctest takes several -LE as "and", so that one is joined with the caller's.
choose_tests() {
    local long='^long$' excluded=''
    ctest_arguments=()
    while (($# > 0)); do
        case $1 in
            --long) long='' ;;
            -LE | --label-exclude)
                excluded+="|${2:?$1 needs a pattern}"
                shift
                ;;
            *) ctest_arguments+=("$1") ;;
        esac
        shift
    done
    excluded=$long$excluded
    if [[ -n $excluded ]]; then
        ctest_arguments+=(-LE "${excluded#|}")
    fi
}

# Most tests wait for leases and servers and use little CPU. PAWL_BUSY_TEST marks the others.
run_ctest() {
    local folder=$1 failed=0
    shift
    choose_tests "$@"
    # The files of a build that has just ended would delay the writes of the tests for seconds.
    sync
    "${without_aslr[@]}" ctest --test-dir "$folder" -j $((4 * $(nproc))) --output-on-failure \
        --no-tests=error --output-junit tests.xml "${ctest_arguments[@]}" || failed=$?
    [[ $failed == 0 ]] || python3 tools/failed_tests.py "$folder/tests.xml"
    [[ $failed == 0 ]] || ! repeat_failed_tests "$folder" || failed=0
    return "$failed"
}

# Succeeds if the failed tests may be repeated, and each passes five times with nothing beside it.
repeat_failed_tests() {
    local folder=$1 pattern
    pattern=$(python3 tools/failed_tests.py "$folder/tests.xml" --to-repeat)
    [[ -n $pattern ]] || return 1
    say "Repeating the failed tests alone, five times"
    if "${without_aslr[@]}" ctest --test-dir "$folder" --output-on-failure --no-tests=error \
        --repeat until-fail:5 -R "$pattern"; then
        say "They FAILED beside other tests and passed five times alone: the machine was too busy" \
            "for them. Their output is above."
    else
        return 1
    fi
}

# Sanitizers are slow, so the simulation runs only some of its seeds, and storms are short.
run_sanitized() {
    local folder=$1
    shift
    # Its scripts are simulated.
    prepare_java redisson "$folder/interop/redisson"
    PAWL_SEEDS=${PAWL_SEEDS:-100} PAWL_STORM_SECONDS=${PAWL_STORM_SECONDS:-1} run_ctest "$folder" \
        -L '^(unit|conformance|simulation|lifetimes|guard|guard_redis|guard_http)$' "$@"
}

# The finished steps, each followed by its seconds.
step_times=()
current_step=""

begin_step() {
    if [[ -n $current_step ]]; then
        step_times+=("$current_step" $((SECONDS - step_began)))
    fi
    current_step=$1
    step_began=$SECONDS
}

cpp_files() {
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
        xargs -0 sh -c 'for f; do [ -f "$f" ] && printf "%s\0" "$f"; done' sh
}
