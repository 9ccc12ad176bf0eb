# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The libraries of ZooKeeper's server for the tests of ./dev test, at .deps/zookeeper/lib. Debian's
# package is an older version. Sourced.

fetched_servers+=(need_zookeeper)
zookeeper_folder=$root/.deps/zookeeper

zookeeper_is_there() {
    [[ -f $zookeeper_folder/prepared &&
        ! tests/support/zookeeper/pom.xml -nt $zookeeper_folder/prepared ]]
}

# As need_valkey.
need_zookeeper() {
    local program why=
    if zookeeper_is_there; then
        return
    fi
    for program in java mvn; do
        command -v "$program" >/dev/null || why="there is no $program"
    done
    if [[ -z $why ]]; then
        say "ZooKeeper, for the tests"
        mkdir -p "$zookeeper_folder"
        rm -rf "$zookeeper_folder/lib" "$zookeeper_folder/prepared"
        if timeout 300 mvn -q -B -f tests/support/zookeeper/pom.xml "-Dout=$zookeeper_folder" \
            process-classes >"$zookeeper_folder/maven.log" 2>&1; then
            touch "$zookeeper_folder/prepared"
            return
        fi
        why="Maven could not fetch it, see $zookeeper_folder/maven.log"
    fi
    say "The tests on ZooKeeper are NOT run: $why."
}
