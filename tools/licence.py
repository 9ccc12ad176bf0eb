# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The licence lines that every source begins with. tools/tidy.py checks them."""
LINES = ("SPDX-License-Identifier: BSL-1.0", "Copyright (c) 2026 The Pawl authors")
RULE = "licence lines"

_MARKS = {".cpp": "//", ".hpp": "//", ".c": "//", ".java": "//", ".go": "//", ".js": "//",
          ".pml": "//",
          ".lua": "--", ".py": "#", ".sh": "#", ".cmake": "#", ".bash": "#", ".fish": "#"}
_NAMES = {"CMakeLists.txt": "#", "dev": "#", "run": "#", "_pawl": "#"}


def mark_of(path):
    """What begins a comment in a source; None where a file is not one, as pages and data."""
    name = path.name.removesuffix(".in")
    if path.parts[:3] == ("tests", "fuzz", "corpus"):
        return None
    return _NAMES.get(name) or next(
        (mark for suffix, mark in _MARKS.items() if name.endswith(suffix)), None)


def is_marked(text, mark):
    lines = text.split("\n", 3)
    # The first line of a program or of a zsh completion names its interpreter.
    if lines[0].startswith(("#!", "#compdef")):
        del lines[0]
    return lines[:2] == [f"{mark} {line}" for line in LINES]


def behind_lines(text):
    """What follows the licence lines of a C++ source."""
    return text.split("\n", 2)[2].lstrip() if is_marked(text, "//") else text


def check(path, text, report):
    mark = mark_of(path)
    if mark and not is_marked(text, mark):
        report.error(path, 1, "no licence lines; begin with " +
                     " and ".join(f'"{mark} {line}"' for line in LINES), RULE)
