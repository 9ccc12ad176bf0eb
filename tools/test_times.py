#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Prints where the time of `./dev test` went.

test_times.py REPORT [STEP SECONDS]...: REPORT is the file of `ctest --output-junit`. Tests run in
parallel, so the times of the groups add up to more than the time of the run.
"""
import sys
import xml.etree.ElementTree as xml


def groups_of(report: str) -> list[tuple[str, int, float, float, str]]:
    """The groups of tests: name, tests, sum of their times, the longest time, and whose it is."""
    tests: dict[str, list[tuple[float, str]]] = {}
    for test in xml.parse(report).getroot().iter("testcase"):
        name = test.get("name", "")
        tests.setdefault(name.split(".")[0], []).append((float(test.get("time", "0")), name))
    rows = [(group, len(each), sum(time for time, _ in each), *max(each))
            for group, each in tests.items()]
    return sorted(rows, key=lambda row: -row[2])


def main() -> None:
    report, steps = sys.argv[1], sys.argv[2:]
    print("\n== Where the time went")
    for name, seconds in zip(steps[::2], steps[1::2]):
        print(f"{name:<24}{int(seconds) // 60:>4} min {int(seconds) % 60:02} s")
    print(f"\n{'tests':<16}{'count':>6}{'sum of times':>14}{'longest':>10}")
    for group, count, total, longest, slowest in groups_of(report):
        print(f"{group:<16}{count:>6}{total:>12.0f} s{longest:>8.0f} s  {slowest}")


if __name__ == "__main__":
    main()
