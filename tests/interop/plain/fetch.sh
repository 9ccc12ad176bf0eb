#!/bin/sh
# fetch.sh LANGUAGE FOLDER [SOURCES]: the peers of one language, in the versions that are written
# down in SOURCES (the folder LANGUAGE beside this file), from its registry into FOLDER. What is
# there already is not fetched again.
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
