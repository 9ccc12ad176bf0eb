# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# valkey-server 8 or later for the tests of ./dev test, at .deps/valkey/usr/bin/valkey-server. It is
# not installed, so no service of the machine changes. Sourced.

valkey_server=$root/.deps/valkey/usr/bin/valkey-server

is_valkey() {
    local major
    major=$("$1" --version 2>/dev/null | sed -n 's/^Valkey server v=\([0-9]*\)\..*/\1/p')
    ((${major:-0} >= 8))
}

fetch_valkey_from() {
    read_suite "$1" "$2" || return 1
    apt-cache "${suite_options[@]}" show valkey-server >/dev/null 2>&1 || return 1
    printf 'Fetching valkey-server (1 MB) of %s from the mirror that apt uses\n' "$2"
    unpack_from_suite "$root/.deps/valkey" valkey-server valkey-tools
}

# Its libraries are those of redis-server. If there is no Valkey, prints the reason, and ctest
# counts its tests as one that was not run: a test that does not run must not count as passed.
need_valkey() {
    local installed codename
    if is_valkey "$valkey_server"; then
        return
    fi
    say "Valkey 8 or later, for the tests"
    installed=$(command -v valkey-server || true)
    if [[ -n $installed ]] && is_valkey "$installed"; then
        mkdir -p "${valkey_server%/*}"
        ln -sf "$installed" "$valkey_server"
        return
    fi
    if command -v apt-cache >/dev/null; then
        codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-sid}")
        if from_suites fetch_valkey_from "$codename-backports" "$codename" &&
            is_valkey "$valkey_server"; then
            return
        fi
    fi
    say "The tests on Valkey are NOT run: no valkey-server 8 or later was found. Install one, or" \
        "let apt use a mirror of Debian, and repeat ./dev test."
}
