#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Checks the models of models/ with Spin, for ./dev models.

models.py [--jobs N] [--long | --only-long] [--list] [MODEL[/RUN]]...

The head of each model has a line for each run: `// holds RUN FLAGS`, `// breaks RUN PROPERTY FLAGS`
(a broken variant, which must violate the property), `// limit RUN PROPERTY FLAGS` (the same, for a
limit that the real protocol has), `// long RUN FLAGS` (holds, and needs --long) or `// full RUN
FLAGS` (the same, with a short form RUN_in_order, which has a smaller bound and needs no --long).
"""
import argparse
import concurrent.futures
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "models"
RUN_SECONDS = 900
MEMORY_MB = 3000
MAX_DEPTH = 1_000_000

_RUN = re.compile(r"^// (holds|breaks|limit|long|full) +(\w+)(.*)$", re.M)
_PROPERTY = re.compile(r"^hidden byte (\w+);", re.M)
_INCLUDE = re.compile(r'^#include "(\w+\.pml)"', re.M)
_COMPILER = ("gcc", "-w", "-DSAFETY", f"-DMEMLIM={MEMORY_MB}", "-DVECTORSZ=2048",
             "-o", "pan", "pan.c")


@dataclass(frozen=True)
class Run:
    model: str
    source: Path
    name: str
    flags: tuple
    violated: str = ""  # the property that must be violated; empty: all hold
    is_limit: bool = False
    is_long: bool = False
    is_short_form: bool = False  # of a long run

    @property
    def expected(self):
        if not self.violated:
            return "holds"
        return ("limit: " if self.is_limit else "breaks ") + self.violated


@dataclass(frozen=True)
class Result:
    run: Run
    verdict: str
    states: int = 0
    depth: int = 0
    seconds: float = 0.0

    @property
    def is_right(self):
        return self.verdict == ("breaks " + self.run.violated if self.run.violated else "holds")


class BadModel(Exception):
    pass


def properties_of(text):
    """The variables that the model asserts, in the section `The properties`."""
    section = text.partition("// The properties.")[2].partition("\n\n")[0]
    return _PROPERTY.findall(section)


def parts_of(path):
    """The files that the model includes, and those that these include. All are in one folder."""
    parts = [path.parent / name for name in _INCLUDE.findall(path.read_text())]
    return parts + [file for part in parts for file in parts_of(part)]


def runs_of(path, folder):
    """The runs that the model's head declares. Each property must have a run that violates it."""
    text = path.read_text()
    model = path.relative_to(folder).with_suffix("").as_posix()
    texts = [file.read_text() for file in (path, *parts_of(path))]
    properties = [name for each in texts for name in properties_of(each)]
    knows_order = any("#ifdef IN_ORDER" in each for each in texts)
    runs = []
    for kind, name, rest in _RUN.findall(text):
        words = rest.split()
        flags = tuple(word for word in words if word.startswith("-D"))
        others = [word for word in words if not word.startswith("-D")]
        must_fail = kind in ("breaks", "limit")
        if len(others) != must_fail or (must_fail and others[0] not in properties):
            raise BadModel(f"{path}: the line of the run '{name}' must name "
                           f"{'one property' if must_fail else 'flags only'}")
        runs.append(Run(model, path, name, flags, others[0] if must_fail else "",
                        kind == "limit", kind in ("long", "full")))
        if kind == "full":
            if not knows_order:
                raise BadModel(f"{path}: the run '{name}' has no short form without IN_ORDER")
            runs.append(Run(model, path, name + "_in_order", (*flags, "-DIN_ORDER"),
                            is_short_form=True))
    if not any(run.expected == "holds" for run in runs):
        raise BadModel(f"{path}: no line declares a run that holds")
    for each in properties:
        if all(run.violated != each for run in runs):
            raise BadModel(f"{path}: no run violates '{each}', so it may be true of anything")
    if len({run.name for run in runs}) != len(runs):
        raise BadModel(f"{path}: two runs have one name")
    return runs


def all_runs(folder):
    return [run for path in sorted(folder.rglob("*.pml")) if not path.name.startswith("_")
            for run in runs_of(path, folder)]


def chosen_runs(runs, names, with_long):
    """`names` are models or MODEL/RUN; none means all. Long runs replace their short forms."""
    chosen = []
    for name in names:
        matches = [run for run in runs if name in (run.model, f"{run.model}/{run.name}")]
        if not matches:
            models = ", ".join(sorted({run.model for run in runs}))
            raise BadModel(f"There is no model or run '{name}'; the models: {models}. "
                           "--list shows the runs.")
        chosen += [run for run in matches if name == f"{run.model}/{run.name}" or
                   not (run.is_short_form if with_long else run.is_long)]
    return chosen if names else [run for run in runs if
                                 not (run.is_short_form if with_long else run.is_long)]


def verdict_of(output, exit_status):
    """What the output of the verifier says, and its states and depth."""
    states = re.search(r"^ *(\d+) states, stored", output, re.M)
    depth = re.search(r"depth reached (\d+)", output)
    errors = re.search(r"errors: (\d+)", output)
    numbers = (int(states[1]) if states else 0, int(depth[1]) if depth else 0)
    violated = re.search(r"^pan:\d+: assertion violated (\w+)", output, re.M)
    if violated:
        return "breaks " + violated[1], *numbers
    if re.search(r"^pan:\d+: invalid end state", output, re.M):
        return "stuck in a step", *numbers
    if "max search depth too small" in output:
        return "too deep", *numbers
    if exit_status != 0 or not errors or errors[1] != "0" or numbers[0] == 0 or \
            "Search not completed" in output:
        return "not finished", *numbers
    return "holds", *numbers


def check(run, out):
    """Runs Spin in a folder of its own, where the trail of a violation stays."""
    folder = out / run.model.replace("/", ".") / run.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in (run.source, *parts_of(run.source)):
        shutil.copy(file, folder)
    began = time.monotonic()
    # A violation is found soon, and then most of the time is the compiler's. So is -O2's gain.
    options = ["-O0" if run.violated else "-O1"]
    # Packed states take 1.3 to 1.9 times as long. Only long runs need that: others take 2 GB.
    if run.is_long:
        options.append("-DCOLLAPSE")
    for command in (("spin", "-a", *run.flags, run.source.name), (*_COMPILER, *options)):
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if made.returncode != 0 or "Error" in made.stdout:
            (folder / "output").write_text(made.stdout + made.stderr)
            return Result(run, "does not compile")
    try:
        checked = subprocess.run(("./pan", f"-m{MAX_DEPTH}"), cwd=folder, capture_output=True,
                                 text=True, timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        return Result(run, "not finished", seconds=time.monotonic() - began)
    (folder / "output").write_text(checked.stdout + checked.stderr)
    verdict, states, depth = verdict_of(checked.stdout, checked.returncode)
    return Result(run, verdict, states, depth, time.monotonic() - began)


HEAD = f"{'model':<20} {'run':<24} {'states':>11} {'depth':>7} {'time':>7}  verdict"


def row(result):
    run = result.run
    verdict = f"{run.expected}" if result.is_right else \
        f"WRONG: {result.verdict}; expected: {run.expected}"
    line = (f"{run.model:<20} {run.name:<24} {result.states:>11,} {result.depth:>7,} "
            f"{result.seconds:>5.0f} s  {verdict}")
    return line + (f"\n{'':<20} {' '.join(run.flags)}" if run.flags else "")


def explain(result, out):
    run = result.run
    folder = out / run.model.replace("/", ".") / run.name
    print(f"\n{run.model}/{run.name}: {result.verdict}, expected: {run.expected}.", file=sys.stderr)
    if result.verdict == "holds":
        print("The variant passes, so the model does not need what the variant leaves out. "
              "Find out what has changed.", file=sys.stderr)
    elif list(folder.glob("*.trail")):
        print(f"The steps: cd {folder} && spin -t -p -g {' '.join(run.flags)} {run.source.name}",
              file=sys.stderr)
    else:
        print(f"See {folder / 'output'}.", file=sys.stderr)


def check_all(runs, jobs, out=OUT):
    """Prints a row for each run as it ends. Returns the results that are not as expected."""
    print(HEAD, flush=True)
    wrong = []
    # The runs that hold take the longest.
    ordered = sorted(runs, key=lambda run: run.violated != "")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(check, run, out)
                                                     for run in ordered]):
            result = done.result()
            print(row(result), flush=True)
            if not result.is_right:
                wrong.append(result)
    for result in wrong:
        explain(result, out)
    return wrong


def main(arguments):
    parser = argparse.ArgumentParser(prog="./dev models", description="Checks the models.")
    parser.add_argument("names", nargs="*", metavar="MODEL[/RUN]")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (2)")
    parser.add_argument("--long", action="store_true", help="the long runs, too")
    parser.add_argument("--only-long", action="store_true", help="the long runs only")
    parser.add_argument("--list", action="store_true", help="list the runs")
    chosen = parser.parse_args(arguments)
    try:
        runs = all_runs(ROOT / "models")
        if chosen.only_long:
            runs = [run for run in runs if run.is_long]
        if chosen.list:
            runs = [run for run in runs if not chosen.names or run.model in chosen.names]
        else:
            runs = chosen_runs(runs, chosen.names, chosen.long or chosen.only_long)
    except BadModel as error:
        print(error, file=sys.stderr)
        return 2
    if chosen.list:
        for run in runs:
            print(f"{run.model}/{run.name}: {run.expected}{' (long)' if run.is_long else ''}")
        return 0
    for program in ("spin", "gcc"):
        if not shutil.which(program):
            print(f"There is no {program}; install the package {program}.", file=sys.stderr)
            return 2
    began = time.monotonic()
    wrong = check_all(runs, max(chosen.jobs, 1))
    print(f"\n{len(runs)} runs in {time.monotonic() - began:.0f} s, "
          f"{len(wrong)} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
