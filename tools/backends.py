# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Reads the list of backends, cmake/backends.cmake."""
import re
import shlex
from pathlib import Path

LIST = Path(__file__).resolve().parent.parent / "cmake" / "backends.cmake"
_ENTRY = re.compile(r"^pawl_backend\((\w+)\n(.*?)\)$", re.M | re.S)


def backends(text=None):
    """{name: {keyword: values}} in the order of the list."""
    entries = {}
    for name, lines in _ENTRY.findall(LIST.read_text() if text is None else text):
        values = entries.setdefault(name, {})
        for line in lines.splitlines():
            keyword, *words = shlex.split(line)
            values.setdefault(keyword, []).extend(words)
    return entries
