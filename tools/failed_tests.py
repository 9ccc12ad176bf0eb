#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""What to do about the failed tests of a long run.

failed_tests.py REPORT: repeats their output. REPORT is the file of `ctest --output-junit`.
failed_tests.py REPORT --to-repeat: prints a pattern for `ctest -R` that matches the failed tests if
they may be repeated, and nothing otherwise.

A test of real servers may fail because its machine is too busy, as a lease runs out in a process
that gets no processor. A few such tests may be repeated. The others are never repeated: they run
in virtual time or look for rare faults, and for them one failure is proof.
"""
import re
import sys
import xml.etree.ElementTree as xml

LINES_EACH = 60
MOST_REPEATED = 6
MAY_BE_REPEATED = re.compile(r"(chaos|cli|conformance|valkey\.(chaos|conformance))\.")
NOT_REPEATED = re.compile(r"/Memory$|\.Memory")


def pattern_of(names: list[str]) -> str:
    may_be = [name for name in names
              if MAY_BE_REPEATED.match(name) and not NOT_REPEATED.search(name)]
    if len(may_be) != len(names) or not 0 < len(names) <= MOST_REPEATED:
        return ""
    return "^(" + "|".join(re.escape(name) for name in names) + ")$"


def main() -> None:
    failed = [test for test in xml.parse(sys.argv[1]).getroot().iter("testcase")
              if test.get("status") == "fail"]
    if "--to-repeat" in sys.argv:
        print(pattern_of([test.get("name", "") for test in failed]))
        return
    for test in failed:
        output = (test.findtext("system-out") or "").splitlines()
        print(f"\n== failed: {test.get('name')}")
        if len(output) > LINES_EACH:
            print(f"(the last {LINES_EACH} of {len(output)} lines)")
        print("\n".join(output[-LINES_EACH:]))


if __name__ == "__main__":
    main()
