#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Runs a command with a private Redis server: tools/with_redis.sh [--redlock] COMMAND…
# PAWL_URL, and {url} in the COMMAND, name the server. It listens on a free port of the loopback and
# ends with the command. With --redlock, there are five independent servers for Redlock.
set -euo pipefail

count=1
if [[ ${1:-} == --redlock ]]; then
    count=5
    shift
fi
(($# > 0)) || {
    echo "Usage: $0 [--redlock] COMMAND…" >&2
    exit 64
}
folder=$(mktemp -d)
server=
servers=()
finish() {
    local each
    for each in "${servers[@]}" $server; do
        # KILL: a server that was frozen with STOP ends, too.
        kill -KILL "$each" 2>/dev/null || true
        wait "$each" 2>/dev/null || true
    done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Only a started server shows that its port was free. If it does not start, the next port is tried.
start() {
    local port=$1 line
    redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$folder" --daemonize no \
        >"$folder/log" 2>&1 &
    server=$!
    while kill -0 "$server" 2>/dev/null; do
        line=$(redis-cli -p "$port" info server 2>/dev/null |
            tr -d '\r' | grep '^process_id:' || true)
        if [[ $line == "process_id:$server" ]]; then
            return 0
        fi
        sleep 0.02
    done
    wait "$server" || true
    server=
    return 1
}

addresses=
while ((${#servers[@]} < count)); do
    for _ in $(seq 20); do
        port=$((20000 + RANDOM % 12000))
        if start "$port"; then
            break
        fi
    done
    [[ -n $server ]] || {
        cat "$folder/log" >&2
        echo "redis-server did not start: its log is above." >&2
        exit 69
    }
    servers+=("$server")
    server=
    addresses+=${addresses:+,}127.0.0.1:$port
done
if ((count == 1)); then
    export PAWL_URL=redis://$addresses
else
    export PAWL_URL=redlock://$addresses
fi
echo "Redis is at $PAWL_URL" >&2
if ((count > 1)); then
    echo "The processes of the servers, to kill (KILL) or freeze (STOP): ${servers[*]}" >&2
fi
"${@//'{url}'/$PAWL_URL}" &
command=$!
trap 'kill -TERM "$command" 2>/dev/null || true; exit 130' INT TERM
status=0
wait "$command" || status=$?
exit "$status"
