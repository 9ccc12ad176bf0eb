#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Short runs of pawl_real soak: lines, report, exit status, interruption. Argument: the program."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

PROGRAM = sys.argv.pop()
LINE = re.compile(r"^ *\d:\d\d:\d\d +(\w+) +\d+ +(\d+) ", re.M)


class Soak(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.html"

    def start(self, *arguments):
        run = subprocess.Popen([PROGRAM, "soak", *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True,
                               env=os.environ | {"TMPDIR": str(self.folder)})
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.addCleanup(run.stdout.close)
        return run

    def run_to_the_end(self, *arguments):
        run = self.start(*arguments)
        output = run.stdout.read()
        return run.wait(), output

    def kept_folders(self):
        return [each.name for each in self.folder.iterdir() if each.is_dir()]

    def check_page(self):
        page = self.page.read_text()
        drawing = re.search(r"<svg .*</svg>", page, re.S)
        self.assertIsNotNone(drawing, page)
        ElementTree.fromstring(drawing[0])
        return page

    def test_a_run_prints_lines_and_writes_the_report(self):
        status, output = self.run_to_the_end("--for", "3s", "--on", "redis,sqlite,memory",
                                             "--round", "1s", "--every", "1s", "--seed", "4",
                                             "--html", self.page)
        self.assertEqual(status, 0, output)
        lines = LINE.findall(output)
        self.assertEqual([name for name in dict(lines)], ["redis", "sqlite", "memory"], output)
        holds = [int(count) for _, count in lines]
        self.assertEqual(holds, sorted(holds), output)
        self.assertGreater(holds[-1], 0, output)
        self.assertIn("Every promise was kept.", output)
        page = self.check_page()
        for name in ("redis", "sqlite", "memory"):
            self.assertIn(f"<th>{name}</th>", page)
        self.assertIn("Every promise was kept.", page)
        self.assertEqual(self.kept_folders(), [])

    def journal_of_first_round(self, run):
        while True:
            for journal in self.folder.glob("pawl-soak-*/memory-1/0.journal"):
                return journal
            self.assertIsNone(run.poll(), "it has ended")

    def test_a_broken_promise_is_status_1_and_keeps_its_records(self):
        run = self.start("--for", "1h", "--on", "memory", "--round", "2s", "--seed", "5",
                         "--first-failure", "--html", self.page)
        # As if a client had recorded two holds with one token.
        with self.journal_of_first_round(run).open("a") as journal:
            journal.write("".join(f"got {hold} 0 7 1 2 3\n" for hold in (1 << 60, 2 << 60)))
        output = run.stdout.read()
        self.assertEqual(run.wait(), 1, output)
        failure = re.search(r"A promise is broken: 1 equal tokens. \(round 1, --seed 5, records in "
                            r"(\S+)\)", output)
        self.assertIsNotNone(failure, output)
        records = Path(failure[1])
        self.assertIn("equal tokens: [hold ", (records / "details.txt").read_text())
        self.assertTrue((records / "0.journal").exists())
        self.assertIn("1 equal tokens", self.check_page())

    def test_ctrl_c_ends_it_with_the_report(self):
        run = self.start("--for", "8h", "--on", "redis,memory", "--round", "1h", "--every", "1s",
                         "--seed", "4", "--html", self.page)
        output = ""
        while not LINE.search(output):
            line = run.stdout.readline()
            self.assertNotEqual(line, "", output)
            output += line
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: servers and clients, too
        output += run.stdout.read()
        self.assertEqual(run.wait(), 0, output)
        self.assertIn("The environment 'memory' was not reached.", self.check_page())

    def test_bad_input_is_one_sentence_and_status_2(self):
        for arguments, sentence in (
                (["--on", "moon"], "There is no --on 'moon'; there are: redis, "),
                (["--for", "soon"], "'soon' is no time for --for; use 90s, 5min or 1h."),
                (["--html", str(self.folder / "none" / "page.html")],
                 "page.html' cannot be written; name another --html.")):
            with self.subTest(arguments):
                status, output = self.run_to_the_end(*arguments)
                self.assertEqual(status, 2, output)
                self.assertIn(sentence, output)
                self.assertEqual(output.count("\n"), 1, output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
