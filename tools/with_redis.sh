#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Runs a command with a private Redis server: tools/with_redis.sh COMMAND…
# PAWL_URL, and {url} in the COMMAND, name the server. It listens on a free port of the loopback and
# ends with the command.
set -euo pipefail

(($# > 0)) || {
    echo "Usage: $0 COMMAND…" >&2
    exit 64
}
folder=$(mktemp -d)
server=
finish() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
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
export PAWL_URL=redis://127.0.0.1:$port
if [[ -t 2 ]]; then
    echo "Redis is at $PAWL_URL" >&2
fi
"${@//'{url}'/$PAWL_URL}" &
command=$!
trap 'kill -TERM "$command" 2>/dev/null || true; exit 130' INT TERM
status=0
wait "$command" || status=$?
exit "$status"
