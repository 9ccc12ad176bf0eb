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

# Where the headers of Boost lie that the folder was configured with.
boost_folder_of() {
    sed -n 's/^PAWL_BOOST_INCLUDE_DIR:[^=]*=//p' "$1/CMakeCache.txt"
}

# Most tests wait for leases to end and servers to start; PAWL_BUSY_TEST names those that work.
run_ctest() {
    local folder=$1 failed=0
    shift
    "${without_aslr[@]}" ctest --test-dir "$folder" -j $((4 * $(nproc))) --output-on-failure \
        --no-tests=error --output-junit tests.xml "$@" || failed=$?
    [[ $failed == 0 ]] || python3 tools/failed_tests.py "$folder/tests.xml"
    return "$failed"
}

# Sanitizers are slow: a sample of the simulation's seeds will do.
run_sanitized() {
    local folder=$1
    shift
    PAWL_SEEDS=${PAWL_SEEDS:-100} run_ctest "$folder" \
        -L '^(unit|conformance|simulation)$' "$@"
}

cpp_files() {
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
        xargs -0 sh -c 'for f; do [ -f "$f" ] && printf "%s\0" "$f"; done' sh
}
