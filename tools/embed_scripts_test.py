#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Tests of cmake/embed_scripts.cmake."""
import hashlib
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RULE = Path(__file__).resolve().parent.parent / "cmake" / "embed_scripts.cmake"
SCRIPT = re.compile(r'inline constexpr redis::script (\w+)\{\s*"(\w+)", R"lua\((.*?)\)lua",'
                    r'\s*"([0-9a-f]{40})"\};', re.S)


def embed(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        header = Path(folder) / "made.hpp"
        command = ["cmake", "-D", f"folder={folder}", "-D", f"header={header}", "-P", str(RULE)]
        run = subprocess.run(command, capture_output=True, text=True)
        return run, header.read_text() if header.exists() else ""


class Embedding(unittest.TestCase):
    def test_code_is_untouched_and_its_sum_is_right(self):
        text = ('local a = {1; 2}\nlocal b = "[[ ]] ${B} @C@ \\n \\; %d" -- kept; [x]\n'
                'return redis.call("GET", KEYS[1])\n')
        run, header = embed({"get.lua": text})
        self.assertEqual(run.returncode, 0, run.stderr)
        (variable, name, embedded, sha1), = SCRIPT.findall(header)
        self.assertEqual((variable, name, embedded), ("get", "get", text))
        self.assertEqual(sha1, hashlib.sha1(text.encode()).hexdigest())

    def test_parts_are_included_and_are_no_scripts(self):
        run, header = embed({"_one.lua": "local one = 1\n", "_two.lua": "local two = {3}\n",
                             "sum.lua": "-- sum\n--@include _one.lua\n--@include _two.lua\n"
                                        "return one\n"})
        self.assertEqual(run.returncode, 0, run.stderr)
        (_, _, embedded, sha1), = SCRIPT.findall(header)
        self.assertEqual(embedded, "\nlocal one = 1\nlocal two = {3}\nreturn one\n")
        self.assertEqual(sha1, hashlib.sha1(embedded.encode()).hexdigest())
        self.assertIn("std::array<redis::script, 1> all{\n    sum,\n}", header)

    def test_comments_become_empty_lines(self):
        run, header = embed({"_part.lua": "-- part\nlocal a = 1\n",
                             "a.lua": "-- a; [b]\n--\n--@include _part.lua\n    -- if\n"
                                      "return a - -1\n-- end"})
        self.assertEqual(run.returncode, 0, run.stderr)
        (_, _, embedded, _), = SCRIPT.findall(header)
        self.assertEqual(embedded, "\n\n\nlocal a = 1\n\nreturn a - -1\n")

    def test_what_cannot_be_embedded_is_said(self):
        run, _ = embed({"a.lua": "--@include _none.lua\n"})
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("_none.lua", run.stderr)
        run, _ = embed({"a.lua": "--@include _b.lua\n", "_b.lua": "--@include _c.lua\n",
                        "_c.lua": "\n"})
        self.assertIn("must not include", " ".join(run.stderr.split()))
        run, _ = embed({"a.lua": 'return ")lua"\n'})
        self.assertIn("end mark", run.stderr)
        run, _ = embed({"a.lua": "--[[\nfor b\n]]\nreturn 1\n"})
        self.assertIn("block comment", run.stderr)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=0).result.wasSuccessful() else 1)
