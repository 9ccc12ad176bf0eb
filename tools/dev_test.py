#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Tests of ./dev: its commands reach their programs, with all arguments. Nothing is built."""
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Sourced last of those that matter.
STUBS = """
need_packages() { echo "packages: $*"; }
build_preset() { echo "built: $*"; }
need_valkey() { echo "valkey"; }
"""
PROGRAM = """#!/bin/sh
printf 'argument: %s\\n' "$@"
exit 3
"""


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(ROOT / "dev", self.root)
        for part in (ROOT / "tools").glob("*.sh"):
            shutil.copy(part, self.root / "tools")
        with (self.root / "tools" / "build.sh").open("a") as script:
            script.write(STUBS)

    def add_program(self, path):
        program = self.root / path
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)

    def dev(self, *arguments):
        return subprocess.run([self.root / "dev", *arguments], capture_output=True, text=True,
                              cwd="/")

    def check_command(self, command):
        self.add_program(f"build/tests/pawl_{command}")
        run = self.dev(command, "--on", "cluster", "--html", "a page.html")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn(f"built: dev pawl_{command}\n", run.stdout)
        self.assertIn("iptables", run.stdout)
        self.assertEqual([line[10:] for line in run.stdout.splitlines()
                          if line.startswith("argument: ")],
                         ["--on", "cluster", "--html", "a page.html"])
        return run.stdout

    def test_proof_runs_its_program_with_all_arguments(self):
        self.check_command("proof")

    def test_soak_runs_its_program_with_all_arguments_and_a_valkey(self):
        self.assertIn("valkey\n", self.check_command("soak"))

    def test_help_names_every_command(self):
        run = self.dev("help")
        self.assertEqual(run.returncode, 0, run.stderr)
        for command in ("quickstart", "build", "install", "test", "bench", "docs", "tidy",
                        "format", "asan", "tsan", "fuzz", "models", "proof", "soak", "server"):
            self.assertIn(f"./dev {command}", run.stdout)

    def test_an_unknown_command_is_refused(self):
        run = self.dev("prof")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("There is no ./dev prof.", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
