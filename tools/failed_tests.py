#!/usr/bin/env python3
"""Says again, after a thousand lines of other tests, what the failed ones said.

failed_tests.py REPORT: REPORT is what `ctest --output-junit` wrote.
"""
import sys
import xml.etree.ElementTree as xml

LINES_EACH = 60


def main() -> None:
    for test in xml.parse(sys.argv[1]).getroot().iter("testcase"):
        if test.get("status") != "fail":
            continue
        said = (test.findtext("system-out") or "").splitlines()
        print(f"\n== failed: {test.get('name')}")
        if len(said) > LINES_EACH:
            print(f"(the last {LINES_EACH} of {len(said)} lines)")
        print("\n".join(said[-LINES_EACH:]))


if __name__ == "__main__":
    main()
