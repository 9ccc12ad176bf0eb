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

valkey_is_there() { is_valkey "$valkey_server"; }

fetch_valkey_from() {
    read_suite "$1" "$2" || return
    apt-cache "${suite_options[@]}" show valkey-server >/dev/null 2>&1 || return 1
    printf 'Fetching valkey-server (1 MB) of %s from the mirror that apt uses\n' "$2"
    unpack_from_suite "$root/.deps/valkey" valkey-server valkey-tools
}

# Its libraries are those of redis-server. If there is no Valkey, prints the reason, and ctest
# counts its tests as one that was not run: a test that does not run must not count as passed.
need_valkey() {
    local installed codename status=1
    if valkey_is_there; then
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
        status=0
        fetch_unless valkey_is_there fetch_valkey_from "$codename-backports" "$codename" ||
            status=$?
        if valkey_is_there; then
            return
        fi
    fi
    if ((status == 2)); then
        say "The tests on Valkey are NOT run: $fetch_failed ./dev test."
        return
    fi
    say "The tests on Valkey are NOT run: no valkey-server 8 or later was found. Install one, or" \
        "let apt use a mirror of Debian, and repeat ./dev test."
}

# Valkey 9 for the tests without scripts, at .deps/valkey9/valkey-server: a script that starts the
# newest server of Debian with the libraries of the same suite, since it needs a newer libc than
# this machine may have.
scriptless_server=$root/.deps/valkey9/valkey-server

knows_ifeq() {
    local major=0 minor=0
    read -r major minor < <("$1" --version 2>/dev/null |
        sed -n 's/^Valkey server v=\([0-9]*\)\.\([0-9]*\)\..*/\1 \2/p') || return 1
    ((major > 8 || (major == 8 && minor >= 1)))
}

scriptless_server_is_there() { knows_ifeq "$scriptless_server"; }

fetch_scriptless_from() {
    local folder=${scriptless_server%/*} loader libraries
    read_suite "$1" "$2" || return
    apt-cache "${suite_options[@]}" show valkey-server >/dev/null 2>&1 || return 1
    printf 'Fetching valkey-server and its libraries (10 MB) of %s from the mirror of apt\n' "$2"
    unpack_from_suite "$folder" valkey-server valkey-tools libc6 libatomic1 libjemalloc2 liblzf1 \
        libssl3t64 libsystemd0 libgcc-s1 libstdc++6 libcap2 libzstd1 zlib1g || return
    loader=$(cd "$folder" && find . -name 'ld-linux*.so.*' -print -quit)
    libraries=$(cd "$folder" && dirname "$(find . -name libssl.so.3)")
    cat >"$scriptless_server" <<SCRIPT
#!/bin/sh
here=\$(dirname "\$0")
exec "\$here/$loader" --library-path "\$here/${loader%/*}:\$here/$libraries" \
    "\$here/usr/bin/valkey-server" "\$@"
SCRIPT
    chmod +x "$scriptless_server"
    knows_ifeq "$scriptless_server"
}

# As need_valkey.
need_scriptless_server() {
    local installed status=1
    if scriptless_server_is_there; then
        return
    fi
    say "Valkey 8.1 or later, for the tests without scripts"
    installed=$(command -v valkey-server || true)
    if [[ -n $installed ]] && knows_ifeq "$installed"; then
        mkdir -p "${scriptless_server%/*}"
        ln -sf "$installed" "$scriptless_server"
        return
    fi
    if command -v apt-cache >/dev/null; then
        status=0
        fetch_unless scriptless_server_is_there fetch_scriptless_from sid trixie || status=$?
    fi
    case $status in
        0) return ;;
        2)
            say "The tests without scripts are NOT run: $fetch_failed ./dev test."
            return
            ;;
    esac
    say "The tests without scripts are NOT run: no valkey-server 8.1 or later was found. Install" \
        "one, or let apt use a mirror of Debian, and repeat ./dev test."
}
