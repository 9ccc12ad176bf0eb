#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# other_asio.sh FOLDER: the headers of Debian's Boost in FOLDER/older and of standalone Asio in
# FOLDER/standalone, unless they exist. For tests of programs that use one of these.
# Nothing is installed. apt downloads the packages and checks signatures and checksums as always.
set -euo pipefail
folder=$1

if [[ -e $folder/older/boost/asio.hpp && -e $folder/standalone/asio.hpp ]]; then
    exit 0
fi
part=$folder.part
rm -rf "$part"
mkdir -p "$part"/{packages,lists/partial,root,older,standalone}

download() {
    local boost
    boost=$(apt-cache "$@" depends libboost-dev | sed -n 's/.*Depends: \(libboost1\..*\)/\1/p')
    (cd "$part/packages" && apt-get -q "$@" download "$boost" libasio-dev)
}

# Uses its own package lists if those of the machine are missing or old: updating these needs root.
own_lists=(-o "Dir::State::lists=$part/lists" -o Acquire::Languages=none
    -o APT::Sandbox::User="$(id -un)")
download || {
    apt-get -q "${own_lists[@]}" update
    download "${own_lists[@]}"
}
for package in "$part"/packages/*.deb; do
    dpkg -x "$package" "$part/root"
done
mv "$part/root/usr/include/boost" "$part/older"
mv "$part/root/usr/include"/asio* "$part/standalone"
rm -rf "$part"/{packages,lists,root} "$folder"
mv "$part" "$folder"
