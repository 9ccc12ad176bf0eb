#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The house rules that no formatter knows. ./dev tidy runs it; it prints path:line: violation.

Without arguments it reads all files that git knows or would add. --counts prints how many places
break the rules for names, prose and structure, by folder. tools/tidy_test.py shows each rule fail.
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import class_sizes
import licence
import prose
import words
from backends import backends
from cpp import blank_out, conditional_expressions, conditions, functions, lambdas
from pages import check_code

COLUMNS = 100
FILE_LINES, FUNCTION_LINES = 500, 70
AIM_FILE_LINES, AIM_FUNCTION_LINES = 300, 40
BACKENDS = backends()

# Component -> the components that it may include, besides itself, those inside it and include/. A
# folder without an entry belongs to the component around it. A component on the right stands for
# those inside it, too. Each backend may include src/core and its parts only, and each part src/core
# only, unless its folders have an order.
MAY_INCLUDE = {
    **{f"src/{part}": {"src/core"} for entry in BACKENDS.values()
       for part in entry.get("PARTS", ())},
    **{f"src/{name}": {"src/core", *(f"src/{part}" for part in entry.get("PARTS", ()))}
       for name, entry in BACKENDS.items()},
    "src/http": {"src/core", "src/net"},
    "src/core/util": set(),
    "src/core/store": {"src/core/util"},
    "src/core/lease": {"src/core/util"},
    "src/core/engine": {"src/core/lease", "src/core/store", "src/core/util"},
    "src/core/async": {"src/core/engine", "src/core/lease", "src/core/util"},
    "src/core/blocking": {"src/core/engine", "src/core/lease", "src/core/util"},
    "src/redis/transport": {"src/core", "src/net"},
    "src/redis/topology": {"src/core", "src/redis/transport"},
    "src/redis/scripting": {"src/core", "src/redis/topology", "src/redis/transport"},
    "src/redis/common": {"src/core", "src/redis/scripting", "src/redis/topology",
                         "src/redis/transport"},
    "src/redis/cluster": {"src/core", "src/net", "src/redis/topology",
                         "src/redis/transport"},
    "src/redis/sentinel": {"src/core", "src/net", "src/redis/topology",
                         "src/redis/transport"},
    "src/redis/doctor": {"src/core", "src/net", "src/redis/topology",
                         "src/redis/transport"},
    "src/redis/rights": {"src/redis/common", "src/redis/sentinel", "src/redis/transport"},
    "src/redis/native": {"src/core", "src/redis/common", "src/redis/doctor", "src/redis/scripting",
                         "src/redis/topology", "src/redis/transport"},
    "src/redis/redisson": {"src/core", "src/redis/common", "src/redis/doctor",
                           "src/redis/scripting", "src/redis/topology", "src/redis/transport"},
    "src/redis/redlock": {"src/core", "src/net", "src/redis/common", "src/redis/doctor",
                          "src/redis/scripting", "src/redis/topology", "src/redis/transport"},
    "src/redis/scriptless": {"src/core", "src/redis/common", "src/redis/doctor",
                             "src/redis/topology", "src/redis/transport"},
    "src/registry": {"src/core"},
    "src/guard": set(),
    "conformance": set(),
    "include": set(),
    "cli/ui": set(),
    "cli/config": {"cli/ui"},
    "cli/verbs": {"cli/config", "cli/ui"},
    "cli/run": {"cli/config", "cli/ui", "cli/verbs"},
    "cli/cron": {"cli/config", "cli/run", "cli/ui", "cli/verbs"},
    "cli": set(),
    "examples": set(),
    # Measures the same scripts without the library.
    "bench": {"examples", "src/redis/native", "src/redis/scripting"},
}
MADE_HEADERS = {**{f"{name}_schema.hpp": f"src/{name}/made" for name in BACKENDS},
                "guard_redis_scripts.hpp": "src/guard/redis/made",
                "redis_scripts.hpp": "src/redis/native/made",
                "redisson_scripts.hpp": "src/redis/redisson/made",
                "redlock_scripts.hpp": "src/redis/redlock/made"}
# A view of the program's own connection.
MAY_INCLUDE_BOOST_REDIS = {"include/pawl/guard/boost_redis.hpp"}
# The only files of the library that read clocks or random sources.
MAY_READ_CLOCKS = {"src/core/util/real_runtime.cpp", "src/core/util/types.cpp",
                   "src/core/lease/loss_watchdog.cpp"}
# Code that a backend runs on a thread of its own.
MAY_SLEEP = {f"src/{name}/{file}" for name, entry in BACKENDS.items()
             for file in entry.get("MAY_SLEEP", ())}
CLOCKS = re.compile(
    r"\b(?:(?:steady|system|high_resolution)_clock::now|boot_clock::now\b|random_device|mt19937|"
    r"getrandom|clock_gettime|gettimeofday|sleep_for|sleep_until|usleep|nanosleep|steady_timer|"
    r"system_timer|s?rand\s*\()")
SLEEPS = re.compile(r"\b(?:sleep_for|usleep|nanosleep|sleep)\s*\(")
# These name what no other file may contain.
NAMES_THE_RULES = {"tidy.py", "tidy_test.py", "words.py", "prose.py", "CONTRIBUTING.md"}
SKIPPED_TESTS = re.compile(r"GTEST_SKIP|DISABLED_")
SNAKE_TEST = re.compile(r"\bTEST(?:_[FP])?\(\w+,\s*[a-z]")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
BANNER = re.compile(r"^\s*(?://|#|--)\s*[-=*#/]{4,}|/\*{4,}")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root)/\w|(?<![\w.$}])/home/\w")
STRUCTURED_AWAIT = re.compile(r"auto\s*&{0,2}\s*\[[^\]]*\]\s*=\s*co_await")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SCRIPT_TEXT = re.compile(r"redis\.p?call\(")
SCRIPT_JOIN = re.compile(r"\bscripts?(?:::\w+)?\.text\s*\+|"
                         r"\+\s*(?:\w+::)*scripts?(?:::\w+)?\.text\b")


class Report:
    def __init__(self):
        self.errors = []
        self.notes = []
        self.counts = Counter()

    def error(self, path, line, text, rule=None):
        self.errors.append(f"{path}:{line}: {text}")
        if rule:
            self.counts[rule, folder_of(path)] += 1

    def note(self, path, line, text):
        self.notes.append(f"{path}:{line}: {text}")


def folder_of(path):
    """A folder of the top, or one below it where these are large."""
    deep = path.parts[0] in ("cli", "docs", "src", "tests") and len(path.parts) > 2
    return "/".join(path.parts[:2] if deep else path.parts[:1] if len(path.parts) > 1 else ["top"])


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_text(path, text, report):
    """Rules for every text file: width, blanks, unfinished work, paths of one machine."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        # Prose wraps by itself; pkg-config, clang-tidy and go read single lines.
        one_line = path.suffix in (".md", ".in", ".sum") or path.name == ".clang-tidy"
        if len(line) > COLUMNS and not one_line:
            report.error(path, number, f"{len(line)} columns; at most {COLUMNS}")
        if line != line.rstrip():
            report.error(path, number, "blanks at the end of the line")
        if "\t" in line and path.suffix != ".go":  # gofmt's
            report.error(path, number, "a tab; use blanks")
        if path.name in NAMES_THE_RULES:
            continue
        if UNFINISHED.search(line):
            report.error(path, number, "unfinished work; finish it or leave it out")
        if BANNER.search(line):
            report.error(path, number, "a banner; a blank line is enough")
        if MACHINE_PATH.search(line):
            report.error(path, number, "a path of one machine")
    if text and not text.endswith("\n"):
        report.error(path, len(lines), "no end of line at the end")


def check_length(path, text, report):
    count = text.count("\n")
    if count > FILE_LINES:
        report.error(path, 1, f"{count} lines; at most {FILE_LINES}, aim for {AIM_FILE_LINES}")
    elif count > AIM_FILE_LINES:
        report.note(path, 1, f"{count} lines; aim for {AIM_FILE_LINES}")


def check_functions(path, code, report):
    for first, last in functions(code):
        count = last - first + 1
        if count > FUNCTION_LINES:
            report.error(path, first, f"a function of {count} lines; at most {FUNCTION_LINES}")
        elif count > AIM_FUNCTION_LINES:
            report.note(path, first, f"a function of {count} lines; aim for {AIM_FUNCTION_LINES}")


def component_of(folder):
    """The innermost component of a folder, or None."""
    around = (folder, *folder.parents)
    return next((each for each in around if each.as_posix() in MAY_INCLUDE), None)


def included_file(path, kind, target, root):
    """The file of the project that an #include means, or None."""
    if target in MADE_HEADERS:
        return Path(MADE_HEADERS[target])
    folders = [Path("include"), Path("src"), Path("cli"), Path("examples"), Path(".")]
    if kind == '"':
        folders.insert(0, path.parent)
    for folder in folders:
        if (root / folder / target).is_file():
            return (root / folder / target).resolve().relative_to(root.resolve())
    return Path("include") / target if target.startswith("pawl/") else None


def may_include(component, other):
    """Both are names of components. A component may include those inside it."""
    return other in ("include", component) or other.startswith(component + "/") or any(
        other == allowed or other.startswith(allowed + "/") for allowed in MAY_INCLUDE[component])


def check_includes(path, text, report, root):
    component = component_of(path.parent)
    if component is None:
        if path.is_relative_to("src"):
            report.error(path, 1, f"{path.parent} belongs to no component; "
                                  "see MAY_INCLUDE in tidy.py")
        return
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        if match[2].startswith("boost/redis") and not path.is_relative_to("src/redis") and \
                path.as_posix() not in MAY_INCLUDE_BOOST_REDIS:
            report.error(path, number, "Boost.Redis belongs to src/redis")
        file = included_file(path, match[1], match[2], root)
        other = file and component_of(file.parent)
        if file and (other is None or not may_include(component.as_posix(), other.as_posix())):
            report.error(path, number, f"{component} must not include {match[2]} of "
                                       f"{other or file.parent}; see MAY_INCLUDE in tidy.py")


def unit_of(path):
    """A header and its source are one unit."""
    return path.with_suffix("").as_posix()


def includes_of(paths, root):
    """{unit: {unit that it includes: (path, line) of the first place}}."""
    graph = {}
    for path in paths:
        # Sources of tests may know each other's headers; there only the headers have an order.
        suffixes = (".hpp",) if path.parts[0] == "tests" else (".cpp", ".hpp")
        if path.suffix not in suffixes or not (root / path).is_file():
            continue
        included = graph.setdefault(unit_of(path), {})
        for number, line in enumerate((root / path).read_text().split("\n"), 1):
            match = INCLUDE.match(line)
            file = match and included_file(path, match[1], match[2], root)
            if file and unit_of(file) != unit_of(path):
                included.setdefault(unit_of(file), (path, number))
    return graph


def route(graph, start, goal):
    """The shortest list of units from one to another, or None."""
    previous = {start: None}
    reached = [start]
    for unit in reached:
        if unit == goal:
            units = [unit]
            while previous[units[-1]]:
                units.append(previous[units[-1]])
            return units[::-1]
        for other in graph.get(unit, ()):
            if other not in previous:
                previous[other] = unit
                reached.append(other)
    return None


def check_cycles(paths, root, report):
    graph = includes_of(paths, root)
    known = set()
    for unit, included in sorted(graph.items()):
        for other, (path, line) in sorted(included.items()):
            cycle = route(graph, other, unit)
            if cycle and frozenset(cycle) not in known:
                known.add(frozenset(cycle))
                report.error(path, line, f"an include cycle: {' -> '.join([unit, *cycle])}",
                             "include cycle")


def check_coroutines(path, code, report):
    for match in STRUCTURED_AWAIT.finditer(code):
        report.error(path, line_of(code, match.start()),
                     "structured binding of a co_await; name the result first")
    for kind, expressions in (("a condition", conditions), ("?:", conditional_expressions)):
        for offset, text in expressions(code):
            if re.search(r"\bco_await\b", text):
                report.error(path, line_of(code, offset),
                             f"co_await inside {kind}; name the result first")
    for first, body in lambdas(code):
        if re.search(r"\bco_(?:await|return|yield)\b", body):
            report.error(path, first, "a lambda that is a coroutine; name a function")


def check_clocks(path, text, code, report):
    name = path.as_posix()
    if name.startswith("src/") and name not in MAY_READ_CLOCKS:
        for match in CLOCKS.finditer(code):
            if name in MAY_SLEEP and match[0] == "sleep_for":
                continue
            report.error(path, line_of(code, match.start()),
                         f"{match[0].strip('(')} in the library; ask the runtime")
    if name.startswith("tests/") and not name.startswith("tests/support/"):
        lines = text.split("\n")
        for match in SLEEPS.finditer(code):
            number = line_of(code, match.start())
            if "// " not in lines[number - 1] and "// " not in lines[number - 2]:
                report.error(path, number, "a sleep in a test; wait for the effect, or say in a "
                                           "comment why the pause is the effect")
    for match in SKIPPED_TESTS.finditer(code):
        report.error(path, line_of(code, match.start()), "a test that does not run")
    for match in SNAKE_TEST.finditer(code):
        report.error(path, line_of(code, match.start()), "a test's name in snake case")


def check_scripts(path, text, code, report):
    if not path.as_posix().startswith(("src/", "cli/")):
        return
    for match in SCRIPT_TEXT.finditer(text):
        report.error(path, line_of(text, match.start()),
                     "Lua in C++; scripts are scripts/*.lua of a layout in src/redis")
    for match in SCRIPT_JOIN.finditer(code):
        report.error(path, line_of(code, match.start()),
                     "a script put together; variable parts go into KEYS and ARGV")


def check_cpp(path, text, report, root):
    code = blank_out(text)
    if path.suffix == ".hpp" and "#pragma once" not in text:
        report.error(path, 1, "no #pragma once")
    if path.parts[0] == "include" and not licence.behind_lines(text).startswith("//"):
        report.error(path, 1, "a public header begins with its promise")
    check_length(path, text, report)
    check_functions(path, code, report)
    if path.parts[0] == "src":
        for line, sentence in class_sizes.too_large(text):
            report.error(path, line, sentence)
    check_includes(path, text, report, root)
    check_coroutines(path, code, report)
    check_clocks(path, text, code, report)
    check_scripts(path, text, code, report)
    words.check_names(path, code, report)


def anchor(heading):
    """The fragment that the usual Markdown viewers make of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def without_fences(text):
    return re.sub(r"^(```|~~~).*?^\1", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)


def anchors_of(text):
    headings = {anchor(h) for h in re.findall(r"^#+\s+(.*)$", without_fences(text), flags=re.M)}
    return headings | set(re.findall(r'(?:id|name)="([^"]+)"', text))


def check_links(path, text, report, root):
    text = without_fences(text)
    for match in re.finditer(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", text):
        target, _, fragment = match[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = root / path.parent / target if target else root / path
        line = line_of(text, match.start())
        if not file.exists():
            report.error(path, line, f"a link to {match[1]}, which does not exist")
        elif fragment and file.suffix == ".md" and fragment not in anchors_of(file.read_text()):
            report.error(path, line, f"a link to {match[1]}: no such heading")


NAMED_TEST = re.compile(r"`(unit|conformance|chaos|cli|storm|simulation|fuzz)\.(\w+)(?:\.(\w+))?`")


TESTS_OF = {"storm": "real/storm"}  # where that is not the folder of the name


def tests_of(root, kind):
    folder = root / "tests" / TESTS_OF.get(kind, kind)
    return "".join(each.read_text() for each in folder.glob("*_test.cpp"))


# Backends' promises are tests without a suite of their own.
def is_test(root, folder, suite, name):
    if name is None:
        return any(f'"{suite}"' in each.read_text()
                   for each in (root / "conformance").glob("*.cpp"))
    return re.search(rf"^TEST(_F|_P)?\({suite}, {name}\)", tests_of(root, folder), re.M)


def check_named_tests(path, text, report, root):
    for match in NAMED_TEST.finditer(text):
        if not is_test(root, *match.groups()):
            report.error(path, line_of(text, match.start()), f"no test has the name {match[0]}")


def is_binary(path):
    # Inputs of fuzz targets are bytes, whatever they look like.
    return path.suffix in (".png", ".ico", ".gz") or path.is_relative_to("tests/fuzz/corpus")


def check_words(path, text, report):
    prose.check_phrases(path, text, report)
    if path.suffix in (".md", ".1"):
        if path.suffix == ".1":
            text = prose.man_page(text)
        prose.check_page(path, text, report)
    else:
        prose.check_comments(path, text, report)
    if path.suffix in (".cpp", ".hpp", ".lua", ".py", ".sh"):
        words.check_file_name(path, report)


def check_file(path, root, report):
    if is_binary(path) or not (root / path).is_file():
        return
    try:
        text = (root / path).read_text()
    except UnicodeDecodeError:
        report.error(path, 1, "not UTF-8")
        return
    licence.check(path, text, report)
    if path.name == "LICENSE" or path.suffix in (".svg", ".json"):
        return
    check_text(path, text, report)
    if path.name not in NAMES_THE_RULES:
        check_words(path, text, report)
    if path.suffix in (".cpp", ".hpp"):
        check_cpp(path, text, report, root)
    elif path.suffix == ".md":
        check_links(path, text, report, root)
        check_code(path, text, report, root)
        check_named_tests(path, text, report, root)
    elif path.suffix == ".lua":
        check_length(path, text, report)
        words.check_lua_names(path, text, report)
    elif path.suffix in (".py", ".sh", ".pml") or path.name == "dev":
        check_length(path, text, report)


def project_files(root):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.split("\0") if name]


def print_counts(report):
    for rule in (*words.RULES, *prose.RULES, "include cycle", licence.RULE):
        folders = [f"{folder} {count}" for (each, folder), count in sorted(report.counts.items())
                   if each == rule]
        total = sum(count for (each, _), count in report.counts.items() if each == rule)
        print(f"{rule:20}{total:6}  {', '.join(folders)}".rstrip())


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    notes = "--notes" in arguments
    names = [Path(a) for a in arguments if not a.startswith("--")]
    report = Report()
    for path in names or project_files(root):
        check_file(path, root, report)
    if not names:
        check_cycles(project_files(root), root, report)
    if "--counts" in arguments:
        print_counts(report)
        return 1 if report.counts else 0
    for line in report.errors + (report.notes if notes else []):
        print(line)
    print(f"{len(report.errors)} to repair, {len(report.notes)} above the aimed length"
          + ("" if notes else " (tools/tidy.py --notes lists these)"))
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
