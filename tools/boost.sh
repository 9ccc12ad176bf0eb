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

fetch_boost_from() {
    local package
    read_suite "$1" "$2" || return
    package=$(newest_boost "${suite_options[@]}")
    if [[ -z $package ]]; then
        return 1
    fi
    printf 'Fetching %s (12 MB) of %s from the mirror that apt uses\n' "$package" "$2"
    unpack_from_suite "$root/.deps/boost" "$package"
}

need_boost() {
    local package status=1
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
        status=0
        fetch_unless boost_is_there fetch_boost_from trixie-backports forky sid || status=$?
    fi
    case $status in
        0) return ;;
        2) fail "Boost 1.91 or later: $fetch_failed ./dev, or set BOOST_ROOT to the folder that" \
            "contains include/boost." ;;
    esac
    fail "No Boost 1.91 or later was found. Install its headers, and set BOOST_ROOT to the folder" \
        "that contains include/boost."
}
