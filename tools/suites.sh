# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Debian packages of suites that the machine's apt does not read, for ./dev. Sourced. They are
# unpacked under .deps and not installed, and apt's sources stay as they are.

# Calls COMMAND MIRROR SUITE for each suite on each mirror of the machine's apt, until it succeeds.
# The COMMAND fails with 1 if the suite lacks the package, and else with the status of read_suite or
# unpack_from_suite. Returns 1 if no suite has the package, and 2 if the fetching failed.
from_suites() {
    local command=$1 mirror suite status is_read=no failed=no
    shift
    for suite in "$@"; do
        while read -r mirror; do
            status=0
            "$command" "$mirror" "$suite" || status=$?
            case $status in
                0) return 0 ;;
                1) is_read=yes ;;
                2) failed=yes ;;
            esac
        done < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
    done
    if [[ $failed == yes || $is_read == no ]]; then
        return 2
    fi
    return 1
}

# Runs IS_THERE, and else from_suites with the other arguments, while no other ./dev does: all use
# the same folder, and the other one may have fetched the package meanwhile.
fetch_unless() {
    local is_there=$1
    shift
    mkdir -p "$root/.deps"
    (
        flock 9
        "$is_there" || from_suites "$@" 9>&-
    ) 9>"$root/.deps/lock"
}

fetch_failed="its package could not be fetched; see that apt's mirror can be reached, and repeat"

suite_state=$root/.deps/apt
suite_options=(-q -o "Dir::Etc::sourcelist=$suite_state/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$suite_state/lists" -o "Dir::Cache=$suite_state/cache"
    -o Acquire::Languages=none -o APT::Sandbox::User=root)

# With suite_options, apt then knows only this suite. It gets its own lists and its own cache, and
# checks signatures and checksums as always. Fails with 3: many mirrors lack the suite.
read_suite() {
    local mirror=$1 suite=$2
    rm -rf "$suite_state"
    mkdir -p "$suite_state"/{lists,cache/archives}/partial
    printf 'deb %s %s main\n' "$mirror" "$suite" >"$suite_state/sources.list"
    apt-get "${suite_options[@]}" update >"$suite_state/log" 2>&1 || return 3
}

# FOLDER PACKAGE…: of the suite that read_suite has read. Fails with 2.
unpack_from_suite() {
    local folder=$1 package
    shift
    (cd "$suite_state" && apt-get "${suite_options[@]}" download "$@" >>log 2>&1) || return 2
    rm -rf "$folder" "$folder.part"
    for package in "$suite_state"/*.deb; do
        dpkg -x "$package" "$folder.part" || return 2
    done
    mv "$folder.part" "$folder"
    rm -rf "$suite_state"
}
