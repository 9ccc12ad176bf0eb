#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Repeats the output of the failed tests at the end of a long run.

failed_tests.py REPORT: REPORT is the file of `ctest --output-junit`.
"""
import sys
import xml.etree.ElementTree as xml

LINES_EACH = 60


def main() -> None:
    for test in xml.parse(sys.argv[1]).getroot().iter("testcase"):
        if test.get("status") != "fail":
            continue
        output = (test.findtext("system-out") or "").splitlines()
        print(f"\n== failed: {test.get('name')}")
        if len(output) > LINES_EACH:
            print(f"(the last {LINES_EACH} of {len(output)} lines)")
        print("\n".join(output[-LINES_EACH:]))


if __name__ == "__main__":
    main()
