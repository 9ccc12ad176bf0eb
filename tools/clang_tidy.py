#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""clang-tidy over the project: clang_tidy.py BUILD_FOLDER [SOURCE…|FOLDER…].

Without paths it checks src, conformance, cli and examples.

A source without findings is checked again only after a change of this source, of any header of the
project or of .clang-tidy. The stamps are in .cache/tidy.
"""
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / ".cache" / "tidy"
DEFAULT = ("src", "conformance", "cli", "examples")
FOLDERS = (*DEFAULT, "bench", "tests")


def digest(parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def shared_inputs(build):
    """A digest of the project's headers and of the configuration."""
    headers = sorted(path for folder in ("include", *FOLDERS)
                     for path in (ROOT / folder).rglob("*.hpp"))
    made = sorted((build / "generated").glob("*.hpp"))
    return digest(path.read_bytes() for path in [ROOT / ".clang-tidy", *headers, *made])


def sources_of(build, wanted):
    """{source: its compile command}, without generated sources."""
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = {}
    for entry in commands:
        path = Path(entry["file"])
        if path.is_relative_to(build) or not path.is_relative_to(ROOT):
            continue
        name = path.relative_to(ROOT)
        if any(name.is_relative_to(folder) for folder in wanted):
            sources[path] = entry["command"]
    return sources


def check(source, command, shared, build):
    """The findings, "" if there are none, or None if nothing changed since there were none."""
    stamp = STAMPS / digest([shared.encode(), command.encode(), source.read_bytes()])
    if stamp.exists():
        return None
    run = subprocess.run(["clang-tidy-16", "--quiet", "-p", str(build), str(source)],
                         capture_output=True, text=True)
    if run.returncode == 0:
        stamp.touch()
        return ""
    messages = [line for line in run.stderr.splitlines() if "warnings" not in line]
    return run.stdout + "\n".join(messages)


def main(arguments):
    build = (ROOT / arguments[0]).resolve()
    STAMPS.mkdir(parents=True, exist_ok=True)
    sources = sources_of(build, arguments[1:] or DEFAULT)
    shared = shared_inputs(build)
    failed = done = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The largest first, so that none is left alone at the end.
        ordered = sorted(sources, key=lambda path: -path.stat().st_size)
        answers = pool.map(lambda path: check(path, sources[path], shared, build), ordered)
        for source, answer in zip(ordered, answers):
            done += 1
            if answer is not None:
                verdict = "to repair" if answer else "clean"
                print(f"[{done}/{len(ordered)}] {source.relative_to(ROOT)}: {verdict}", flush=True)
            if answer:
                failed += 1
                print(answer, flush=True)
    print(f"{len(ordered)} sources, {failed} to repair")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
