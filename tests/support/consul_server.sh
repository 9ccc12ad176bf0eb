# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Consul for the tests of ./dev test, at .deps/consul/usr/bin/consul: Debian 12 has none, so it is
# the package of Debian 11, whose licence is free. It is not installed, so no service of the machine
# changes. Sourced.

fetched_servers+=(need_consul)
consul_server=$root/.deps/consul/usr/bin/consul

is_consul() { [[ $("$1" version 2>/dev/null) == Consul\ v1.* ]]; }

consul_is_there() { is_consul "$consul_server"; }

fetch_consul_from() {
    read_suite "$1" "$2" || return
    apt-cache "${suite_options[@]}" show consul >/dev/null 2>&1 || return 1
    printf "Fetching consul (14 MB) of %s from apt's mirror\n" "$2"
    unpack_from_suite "$root/.deps/consul" consul || return
    consul_is_there
}

# As need_valkey.
need_consul() {
    local installed status=1
    if consul_is_there; then
        return
    fi
    say "Consul, for the tests"
    installed=$(command -v consul || true)
    if [[ -n $installed ]] && is_consul "$installed"; then
        mkdir -p "${consul_server%/*}"
        ln -sf "$installed" "$consul_server"
        return
    fi
    if command -v apt-cache >/dev/null; then
        status=0
        fetch_unless consul_is_there fetch_consul_from bullseye sid || status=$?
    fi
    case $status in
        0) return ;;
        2) say "The tests on Consul are NOT run: $fetch_failed ./dev test." ;;
        *)
            say "The tests on Consul are NOT run: no consul was found. Install one, or let apt" \
                "use a mirror of Debian, and repeat ./dev test."
            ;;
    esac
}
