#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""A model that does not do as its head says fails, whatever the reason."""
import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

import models

HEAD = """// holds  base
// breaks broken is_small -DBROKEN
// limit  limited is_small -DBROKEN -DLIMITED
// long   slow -DSTEPS=9
"""
BODY = """
#ifndef STEPS
#define STEPS 3
#endif
byte count;

// The properties. Each is true, or the search ends.
hidden byte is_small;

active proctype Count() {
    end:
    do
    :: atomic {
           count < STEPS ->
           count++;
#ifdef BROKEN
           count = count + STEPS;
#endif
           is_small = count <= STEPS;
           assert(is_small)
       }
    od
}
"""


def in_folder(text, function):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.pml"
        path.write_text(text)
        return function(path, Path(folder))


class Heads(unittest.TestCase):
    def refuses(self, part, text):
        with self.assertRaises(models.BadModel) as refused:
            in_folder(text, models.runs_of)
        self.assertIn(part, str(refused.exception))

    def test_runs(self):
        runs = in_folder(HEAD + BODY, models.runs_of)
        self.assertEqual([(run.name, run.expected, run.flags) for run in runs],
                         [("base", "holds", ()), ("broken", "breaks is_small", ("-DBROKEN",)),
                          ("limited", "limit: is_small", ("-DBROKEN", "-DLIMITED")),
                          ("slow", "holds", ("-DSTEPS=9",))])

    def test_a_broken_variant_names_a_property(self):
        self.refuses("one property", HEAD.replace("broken is_small", "broken is_large") + BODY)
        self.refuses("one property", HEAD.replace("broken is_small", "broken") + BODY)

    def test_each_property_has_a_variant_that_violates_it(self):
        self.refuses("no run violates 'is_small'", "// holds base\n" + BODY)

    def test_some_run_holds(self):
        self.refuses("no line declares a run that holds", HEAD.split("\n", 1)[1].replace(
            "// long   slow -DSTEPS=9", "") + BODY)

    def test_parts_of_parts(self):
        def check(path, folder):
            (folder / "_outer.pml").write_text('#include "_inner.pml"\n')
            (folder / "_inner.pml").write_text(BODY)
            names = [part.name for part in models.parts_of(path)]
            return names, [run.violated for run in models.runs_of(path, folder)]
        names, violated = in_folder(HEAD + '#include "_outer.pml"\n', check)
        self.assertEqual(names, ["_outer.pml", "_inner.pml"])
        self.assertIn("is_small", violated)

    def test_choice_of_runs(self):
        runs = in_folder(HEAD + BODY, models.runs_of)
        self.assertEqual(len(models.chosen_runs(runs, [], False)), 3)
        self.assertEqual(len(models.chosen_runs(runs, ["a"], True)), 4)
        slow, = models.chosen_runs(runs, ["a/slow"], False)
        self.assertEqual(slow.name, "slow")
        with self.assertRaisesRegex(models.BadModel, "There is no model or run 'b'"):
            models.chosen_runs(runs, ["b"], False)

    def test_a_full_run_has_a_short_form(self):
        head = HEAD.replace("// long ", "// full ")
        self.refuses("no short form", head + BODY)
        body = BODY.replace("count++;", "count++;\n#ifdef IN_ORDER\n#endif\n")
        runs = in_folder(head + body, models.runs_of)
        for with_long, names in ((False, ["slow_in_order"]), (True, ["slow"])):
            self.assertEqual([run.name for run in models.chosen_runs(runs, [], with_long)
                              if run.name.startswith("slow")], names)
        short, = models.chosen_runs(runs, ["a/slow_in_order"], True)
        self.assertEqual(short.flags, ("-DSTEPS=9", "-DIN_ORDER"))

    def test_the_models_of_the_project(self):
        self.assertGreater(len(models.all_runs(models.ROOT / "models")), 30)


COMPLETE = "State-vector 1 byte, depth reached 7, errors: 0\n    12 states, stored\n"


class Verdicts(unittest.TestCase):
    def test_of_outputs(self):
        self.assertEqual(models.verdict_of(COMPLETE, 0), ("holds", 12, 7))
        broken = "pan:1: assertion violated is_small (at depth 3)\n" + \
            COMPLETE.replace("errors: 0", "errors: 1")
        self.assertEqual(models.verdict_of(broken, 0)[0], "breaks is_small")
        for trouble, verdict in (("pan:1: invalid end state (at depth 3)", "stuck in a step"),
                                 ("error: max search depth too small", "too deep"),
                                 ("Warning: Search not completed", "not finished")):
            self.assertEqual(models.verdict_of(trouble + "\n" + COMPLETE, 0)[0], verdict)
        self.assertEqual(models.verdict_of(COMPLETE, 1)[0], "not finished")
        self.assertEqual(models.verdict_of("", 0)[0], "not finished")
        self.assertEqual(models.verdict_of(COMPLETE.replace("12", "0"), 0)[0], "not finished")


@unittest.skipUnless(shutil.which("spin") and shutil.which("gcc"), "needs spin and gcc")
class Spin(unittest.TestCase):
    def wrong_runs(self, text):
        def check(path, folder):
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                wrong = models.check_all(models.runs_of(path, folder), 2, folder / "out")
            return sorted((each.run.name, each.verdict) for each in wrong)
        return in_folder(text, check)

    def test_right_model(self):
        self.assertEqual(self.wrong_runs(HEAD + BODY), [])

    def test_a_variant_that_passes_is_wrong(self):
        self.assertEqual(self.wrong_runs(HEAD + BODY.replace("count + STEPS", "count + 0")),
                         [("broken", "holds"), ("limited", "holds")])

    def test_a_model_that_fails_is_wrong(self):
        self.assertEqual(self.wrong_runs(HEAD.replace("base", "base -DBROKEN") + BODY),
                         [("base", "breaks is_small")])

    def test_a_step_that_blocks_is_wrong(self):
        self.assertEqual(
            self.wrong_runs(HEAD + BODY.replace("count++;", "count++; count != 3;")),
            [("base", "stuck in a step"), ("slow", "stuck in a step")])

    def test_a_model_with_an_error_is_wrong(self):
        wrong = self.wrong_runs(HEAD + BODY.replace("byte count;", "byte"))
        self.assertEqual({verdict for _, verdict in wrong}, {"does not compile"})


if __name__ == "__main__":
    unittest.main()
