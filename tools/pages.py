# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""House rules for pages: their C++ is code of programs that the build compiles."""
import re
from functools import lru_cache
from pathlib import Path

_BLOCK = re.compile(r"^([ ]*)```(?:cpp|c\+\+|hpp)[ ]*\n(.*?)^\1```", re.S | re.M)
_FOLDERS = ("examples", "tests", "conformance", "bench")


def _words(code):
    return re.sub(r"\s+", " ", code).strip()


@lru_cache
def _programs(root):
    return [_words(path.read_text()) for folder in _FOLDERS
            for path in sorted((root / folder).rglob("*.[ch]pp"))]


def _is_in_order(parts, program):
    at = 0
    for part in parts:
        at = program.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def check_code(path, text, report, root):
    """A … in a block stands for code that the page leaves out."""
    for match in _BLOCK.finditer(text):
        parts = [_words(part) for part in match[2].split("…")]
        if not any(_is_in_order(parts, program) for program in _programs(Path(root))):
            report.error(path, text.count("\n", 0, match.start()) + 1,
                         "C++ that is in no program of " + " or ".join(_FOLDERS[:2]) +
                         "; put it into examples/pages")
