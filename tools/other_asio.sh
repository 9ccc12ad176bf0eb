#!/usr/bin/env bash
# other_asio.sh FOLDER: Debian's own Boost into FOLDER/older and standalone Asio into
# FOLDER/standalone, headers only, unless they are there. For tests of programs that bring them.
# Nothing is installed: apt downloads the packages, and checks signatures and sums as ever.
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

# With lists of its own where those of the machine are missing or old: writing them needs root.
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
