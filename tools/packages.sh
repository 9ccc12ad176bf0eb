# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Debian packages, for ./dev. Sourced.

# The first list is for the libraries and the command, the others for tests, bench and examples.
mapfile -t backend_packages < <(sed -n 's/^ *DEBIAN \([^)]*\).*/\1/p' cmake/backends.cmake)
install_packages=(g++ cmake ninja-build ccache libcli11-dev libcctz-dev tzdata
    ${backend_packages[*]})
read -ra server_packages <<<"$(
    sed -n 's/^ *DEBIAN_TESTS \([^)]*\).*/\1/p' cmake/backends.cmake | tr '\n' ' ')"
build_packages=("${install_packages[@]}" git libgtest-dev libgmock-dev libhiredis-dev
    liblua5.1-0-dev redis-server redis-tools pkg-config python3 util-linux zsh fish)
docs_packages=(doxygen)
orders_packages=(redis-server postgresql)
bench_packages=(strace valgrind)
models_packages=(spin gcc)
proof_packages=(iproute2 iptables)
tidy_packages=(clang-16 clang-tidy-16 clang-format-16)

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# apt has no time-out for the lock of the package lists.
apt_update() {
    local try
    for try in $(seq 30); do
        if apt-get -q update; then
            return
        fi
        if ((try == 3)); then
            printf 'apt-get update fails; trying on for a while, in case another apt is at work.\n'
        fi
        sleep 5
    done
    fail "apt-get update failed. Repair apt's sources and try again."
}

# The package postgresql would make a data folder, and serve it from the next boot on.
make_no_cluster() {
    local settings=/etc/postgresql-common/createcluster.conf
    if [[ ! -e $settings ]]; then
        mkdir -p "${settings%/*}"
        printf 'create_main_cluster = false\n' >"$settings"
    fi
}

# Installs without starting a daemon, such as a redis-server on the standard port.
apt_install() {
    local policy=/usr/sbin/policy-rc.d made=no status=0 service
    if [[ " $* " == *" postgresql "* ]]; then
        make_no_cluster
    fi
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        made=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 install "$@" || status=$?
    if [[ $made == yes ]]; then
        rm -f "$policy"
    fi
    if [[ $status == 0 && -d /run/systemd/system ]]; then
        for service in redis-server pgbouncer; do
            if [[ " $* " == *" $service "* ]]; then
                systemctl --quiet disable "$service" || true
            fi
        done
    fi
    return "$status"
}

missing_packages() {
    local package
    for package in "$@"; do
        if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            printf '%s\n' "$package"
        fi
    done
}

need_packages() {
    local missing
    command -v dpkg-query >/dev/null || return 0
    mapfile -t missing < <(missing_packages "$@")
    if ((${#missing[@]} == 0)); then
        return
    fi
    if ((EUID != 0)); then
        fail "Packages are missing. Install them with: sudo apt-get install ${missing[*]}"
    fi
    say "Installing packages: ${missing[*]}"
    apt_install "${missing[@]}" || {
        apt_update
        apt_install "${missing[@]}"
    } || fail "apt could not install ${missing[*]}."
}
