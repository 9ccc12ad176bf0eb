# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Debian packages of suites that the machine's apt does not read, for ./dev. Sourced. They are
# unpacked under .deps and not installed, and apt's sources stay as they are.

# Calls COMMAND MIRROR SUITE for each suite on each mirror of the machine's apt, until it succeeds.
from_suites() {
    local command=$1 mirror suite
    shift
    for suite in "$@"; do
        while read -r mirror; do
            if "$command" "$mirror" "$suite"; then
                return 0
            fi
        done < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
    done
    return 1
}

suite_state=$root/.deps/apt
suite_options=(-q -o "Dir::Etc::sourcelist=$suite_state/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$suite_state/lists" -o "Dir::Cache=$suite_state/cache"
    -o Acquire::Languages=none -o APT::Sandbox::User=root)

# With suite_options, apt then knows only this suite. It gets its own lists and its own cache, and
# checks signatures and checksums as always.
read_suite() {
    local mirror=$1 suite=$2
    rm -rf "$suite_state"
    mkdir -p "$suite_state"/{lists,cache/archives}/partial
    printf 'deb %s %s main\n' "$mirror" "$suite" >"$suite_state/sources.list"
    apt-get "${suite_options[@]}" update >"$suite_state/log" 2>&1
}

# FOLDER PACKAGE…: of the suite that read_suite has read.
unpack_from_suite() {
    local folder=$1 package
    shift
    (cd "$suite_state" && apt-get "${suite_options[@]}" download "$@" >>log 2>&1) || return 1
    rm -rf "$folder" "$folder.part"
    for package in "$suite_state"/*.deb; do
        dpkg -x "$package" "$folder.part" || return 1
    done
    mv "$folder.part" "$folder"
    rm -rf "$suite_state"
}
