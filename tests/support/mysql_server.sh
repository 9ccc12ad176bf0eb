# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# MySQL 9 for the tests of ./dev test, at .deps/mysql/mysqld: a script that starts the server of
# Debian's newest suite with the libraries of that suite, since Debian 12 has MariaDB in its place.
# It is not installed, so no service of the machine changes. Sourced.

fetched_servers+=(need_mysql)
mysql_server=$root/.deps/mysql/mysqld

is_mysql() {
    local major
    major=$("$1" --no-defaults --version 2>/dev/null | sed -n 's/.* Ver \([0-9]*\)\..*/\1/p')
    ((${major:-0} >= 8))
}

mysql_is_there() { is_mysql "$mysql_server"; }

fetch_mysql_from() {
    local folder=${mysql_server%/*} packages loader libraries
    read_suite "$1" "$2" || return
    apt-cache "${suite_options[@]}" show mysql-server-core >/dev/null 2>&1 || return 1
    mapfile -t packages < <(apt-cache "${suite_options[@]}" depends mysql-server-core |
        sed -n 's/^  Depends: \(lib[^ ]*\|zlib1g\)$/\1/p')
    printf "Fetching mysql-server-core and its libraries (50 MB) of %s from apt's mirror\n" "$2"
    # The last ones are libraries of libraries.
    unpack_from_suite "$folder" mysql-server-core "${packages[@]}" liblzma5 libunwind8 \
        libxxhash0 || return
    rm -rf "$folder"/usr/{bin,share/doc,share/man}
    loader=$(cd "$folder" && find . -name 'ld-linux*.so.*' -print -quit)
    libraries=$(cd "$folder" && dirname "$(find . -name libssl.so.3)")
    cat >"$mysql_server" <<SCRIPT
#!/bin/sh
here=\$(dirname "\$0")
defaults=\$1
shift
exec "\$here/$loader" --library-path "\$here/${loader%/*}:\$here/$libraries" \
    "\$here/usr/sbin/mysqld" "\$defaults" --basedir="\$here/usr" \
    --lc-messages-dir="\$here/usr/share/mysql" \
    --character-sets-dir="\$here/usr/share/mysql/charsets" \
    --plugin-dir="\$here/usr/lib/mysql/plugin" "\$@"
SCRIPT
    chmod +x "$mysql_server"
    is_mysql "$mysql_server"
}

# As need_valkey.
need_mysql() {
    local status=1
    if mysql_is_there; then
        return
    fi
    say "MySQL, for the tests"
    if command -v apt-cache >/dev/null; then
        status=0
        fetch_unless mysql_is_there fetch_mysql_from sid || status=$?
    fi
    case $status in
        0) return ;;
        2) say "The tests on MySQL are NOT run: $fetch_failed ./dev test." ;;
        *)
            say "The tests on MySQL are NOT run: Debian's unstable suite has no mysql-server-core" \
                "that runs here. Let apt use a mirror of Debian, and repeat ./dev test."
            ;;
    esac
}
