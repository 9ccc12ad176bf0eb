#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Tests of ./dev: its commands reach their programs, with all arguments. Nothing is built."""
import os
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
# An apt whose mirror has one suite with one package, and a dpkg that unpacks it slowly.
APT = {
    "apt-get": """case "$*" in
    *indextargets*) echo mirror ;;
    *update*) $UPDATE ;;
    *download*) sleep 0.3; touch boost.deb ;;
    esac""",
    "apt-cache": """case "$*" in *Dir::Cache*) echo "$PACKAGE - headers" ;; esac""",
    "dpkg": """mkdir -p "$3/usr/include/boost"
    sleep 0.3
    echo '#define BOOST_VERSION 109200' >"$3/usr/include/boost/version.hpp" """,
}
NEED_BOOST = """set -euo pipefail
root=$PWD
for part in packages suites boost; do source tools/$part.sh; done
boost_is_there() { boost_is_new_enough "$boost_folder"; }
need_boost"""


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "tools").mkdir()
        (self.root / "cmake").mkdir()
        shutil.copy(ROOT / "dev", self.root)
        shutil.copy(ROOT / "cmake/backends.cmake", self.root / "cmake")
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
        self.add_program("build/tests/pawl_real")
        run = self.dev(command, "--on", "cluster", "--html", "a page.html")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("built: dev pawl_real\n", run.stdout)
        self.assertIn("iptables", run.stdout)
        self.assertEqual([line[10:] for line in run.stdout.splitlines()
                          if line.startswith("argument: ")],
                         [command, "--on", "cluster", "--html", "a page.html"])
        return run.stdout

    def test_proof_runs_its_program_with_all_arguments(self):
        self.check_command("proof")

    def test_soak_runs_its_program_with_all_arguments_and_a_valkey(self):
        self.assertIn("valkey\n", self.check_command("soak"))

    def ctest_arguments(self, *arguments):
        program = self.root / "programs" / "ctest"
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
        program.chmod(0o755)
        run = subprocess.run(
            ["bash", "-c", 'source tools/build.sh; run_ctest folder "$@"', "bash", *arguments],
            cwd=self.root, capture_output=True, text=True, check=True,
            env=dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}"))
        return run.stdout.splitlines()[8:]

    def test_long_tests_need_long(self):
        for arguments, passed in (
                ([], ["-LE", "^long$"]),
                (["--long"], []),
                (["-L", "unit"], ["-L", "unit", "-LE", "^long$"]),
                (["-LE", "a", "-R", "b"], ["-R", "b", "-LE", "^long$|a"]),
                (["-LE", "a", "--long", "-LE", "c"], ["-LE", "a|c"])):
            self.assertEqual(self.ctest_arguments(*arguments), passed, arguments)

    def test_quickstart_builds_the_example_only(self):
        for path, preset in (("build-quickstart/flash_sale", "quickstart"),
                             ("build/flash_sale", "dev")):
            self.add_program(path)
            run = self.dev("quickstart", "--redlock")
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn(f"built: {preset} flash_sale\n", run.stdout)
            self.assertIn("argument: --redlock\n", run.stdout)

    def test_quickstart_of_the_orders_shows_their_table(self):
        for path, preset in (("build-quickstart/orders", "quickstart"), ("build/orders", "dev")):
            self.add_program(path)
            run = self.dev("quickstart", "--orders", "--lanes")
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn(f"built: {preset} orders\n", run.stdout)
            self.assertIn("argument: --table\n", run.stdout)
            self.assertIn("argument: --lanes\n", run.stdout)
            packages = run.stdout.splitlines()[0]
            self.assertNotIn(packages, self.dev("quickstart").stdout)  # it needs a database

    def test_help_names_every_command(self):
        run = self.dev("help")
        self.assertEqual(run.returncode, 0, run.stderr)
        for command in ("quickstart", "build", "install", "test", "bench", "docs", "tidy",
                        "format", "asan", "tsan", "fuzz", "models", "proof", "soak", "server"):
            self.assertIn(f"./dev {command}", run.stdout)

    def test_server_prints_its_url_also_without_a_terminal(self):
        for argument, url in (([], "redis://"), (["--redlock"], "redlock://")):
            with subprocess.Popen([self.root / "dev", "server", *argument], text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
                self.assertIn(f"Redis is at {url}127.0.0.1:", server.stderr.readline())
                server.terminate()

    def test_server_refuses_other_arguments(self):
        for arguments in (["--help"], ["--redlok"], ["--redlock", "5"]):
            run = self.dev("server", *arguments)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn("./dev server takes only --redlock.", run.stdout + run.stderr)
            self.assertNotIn("packages: ", run.stdout)

    def start_need_boost(self, update="true", package="libboost1.92-dev"):
        programs = self.root / "programs"
        programs.mkdir(exist_ok=True)
        for name, script in APT.items():
            (programs / name).write_text("#!/bin/sh\n" + script)
            (programs / name).chmod(0o755)
        environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", UPDATE=update,
                           PACKAGE=package)
        return subprocess.Popen(["bash", "-c", NEED_BOOST], cwd=self.root, env=environment,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_two_commands_at_once_fetch_boost_once(self):
        running = [self.start_need_boost() for _ in range(2)]
        output = ""
        for each in running:
            text, _ = each.communicate()
            self.assertEqual(each.returncode, 0, text)
            output += text
        self.assertEqual(output.count("Fetching libboost1.92-dev"), 1, output)

    def test_a_mirror_that_fails_is_not_called_one_without_boost(self):
        for update, package, sentence in (("false", "libboost1.92-dev", "could not be fetched"),
                                          ("true", "", "No Boost 1.91 or later was found.")):
            run = self.start_need_boost(update, package)
            text, _ = run.communicate()
            self.assertEqual(run.returncode, 1, text)
            self.assertIn(sentence, text)

    def test_an_unknown_command_is_refused(self):
        run = self.dev("prof")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("There is no ./dev prof.", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
