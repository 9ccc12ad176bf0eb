# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Boost 1.91 or later, for ./dev. Sourced.

boost_folder=$root/.deps/boost/usr/include

# The version in boost/version.hpp is 109200 for 1.92.0.
boost_is_new_enough() {
    local version
    version=$(sed -n 's/^#define BOOST_VERSION \([0-9]*\).*/\1/p' \
        "$1/boost/version.hpp" 2>/dev/null)
    ((${version:-0} >= 109100))
}

boost_is_there() {
    local folder
    local -a prefixes
    IFS=:';' read -r -a prefixes <<<"${CMAKE_PREFIX_PATH:-}:${BOOST_ROOT:-}:${Boost_ROOT:-}"
    for folder in "$boost_folder" /usr/include /usr/local/include "${prefixes[@]/%//include}"; do
        if boost_is_new_enough "$folder"; then
            return 0
        fi
    done
    return 1
}

# The newest libboost1.9x-dev, x >= 1, that apt knows with the given options.
newest_boost() {
    apt-cache "$@" search --names-only '^libboost1\.9[1-9]-dev$' |
        cut -d' ' -f1 | sort -V | tail -n1
}

# Searches one suite of a mirror that the machine's apt already uses. apt gets its own lists and its
# own cache here: it checks signatures and checksums as always, and the machine's sources stay.
fetch_boost_from() {
    local mirror=$1 suite=$2 state=$root/.deps/apt package
    rm -rf "$state"
    mkdir -p "$state"/{lists,cache/archives}/partial
    printf 'deb %s %s main\n' "$mirror" "$suite" >"$state/sources.list"
    local -a options=(-q -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache" -o Acquire::Languages=none
        -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >"$state/log" 2>&1 || return 1
    package=$(newest_boost "${options[@]}")
    if [[ -z $package ]]; then
        return 1
    fi
    printf 'Fetching %s (12 MB) of %s from the mirror that apt uses\n' "$package" "$suite"
    (cd "$state" && apt-get "${options[@]}" download "$package" >>log 2>&1) || return 1
    rm -rf "$root/.deps/boost" "$root/.deps/boost.part"
    dpkg -x "$state"/*.deb "$root/.deps/boost.part"
    mv "$root/.deps/boost.part" "$root/.deps/boost"
    rm -rf "$state"
}

fetch_boost() {
    local mirror suite
    for suite in trixie-backports forky sid; do
        while read -r mirror; do
            if fetch_boost_from "$mirror" "$suite"; then
                return 0
            fi
        done < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
    done
    return 1
}

need_boost() {
    local package
    if boost_is_there; then
        return
    fi
    say "Boost 1.91 or later: headers only"
    if command -v apt-cache >/dev/null; then
        package=$(newest_boost)
        if [[ -n $package ]]; then
            need_packages "$package"
            return
        fi
        if fetch_boost; then
            return
        fi
    fi
    fail "No Boost 1.91 or later was found. Install its headers, and set BOOST_ROOT to the folder" \
        "that contains include/boost."
}
