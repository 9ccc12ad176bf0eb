#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# fetch.sh LANGUAGE FOLDER [SOURCES]: fetches the peers of one language, in the versions of SOURCES
# (the folder LANGUAGE beside this file), from its registry into FOLDER. Files that are there
# already are not fetched again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
language=$1
folder=$2
sources=$(cd "${3:-$here/$language}" && pwd)

wanted=$(cat "$here/fetch.sh" "$sources"/* | cksum)
if [ "$(cat "$folder/fetched" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
rm -rf "$folder"
mkdir -p "$folder"
cp "$sources"/* "$folder"
cd "$folder"
case $language in
go) go build -mod=readonly -o peer . ;;
js) npm ci --no-audit --no-fund --ignore-scripts ;;
py) python3 -m pip install --quiet --disable-pip-version-check --no-deps --target . \
    --requirement requirements.txt ;;
esac
printf '%s\n' "$wanted" >fetched
