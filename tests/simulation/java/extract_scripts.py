#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Writes the Lua scripts of Redisson's jar into a file: a line for each, CLASS<tab>TEXT.

A script is a string constant of a class, so it is an entry of the class file's constant pool.
"""

import pathlib
import re
import sys
import zipfile

CLASS = re.compile(r"org/redisson/(?:renewal/)?(\w+)\.class")
# The sizes of the constants by tag, without the tag itself; text has its own length.
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4,
         19: 2, 20: 2}
TEXT, TWO_ENTRIES = 1, (5, 6)


def texts(class_file):
    count = int.from_bytes(class_file[8:10], "big")
    at, entry = 10, 1
    while entry < count:
        tag = class_file[at]
        if tag == TEXT:
            size = int.from_bytes(class_file[at + 1:at + 3], "big")
            yield class_file[at + 3:at + 3 + size].decode(errors="replace")
            at += 3 + size
        else:
            at += 1 + SIZES[tag]
        entry += 2 if tag in TWO_ENTRIES else 1


def scripts(jar):
    with zipfile.ZipFile(jar) as archive:
        for path in archive.namelist():
            name = CLASS.fullmatch(path)
            if not name:
                continue
            for text in texts(archive.read(path)):
                if "redis.call(" in text and "\n" not in text:
                    yield f"{name[1]}\t{text}\n"


def main(folder, output):
    jars = sorted(pathlib.Path(folder).glob("redisson-*.jar"))
    if not jars:
        sys.exit(f"There is no redisson-*.jar in {folder}, so no scripts of Java can be simulated; "
                 "`./dev test` fetches it, with java, javac and mvn.")
    pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(output).write_text("".join(scripts(jars[-1])))


if __name__ == "__main__":
    main(*sys.argv[1:])
