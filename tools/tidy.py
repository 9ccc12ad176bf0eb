#!/usr/bin/env python3
"""The house rules that no formatter knows. Run by ./dev tidy; prints path:line: what is wrong.

Without arguments it reads all files that git knows or would add. tools/tidy_test.py shows each
rule fail.
"""
import re
import subprocess
import sys
from pathlib import Path

from cpp import blank_out, conditional_expressions, conditions, functions, lambdas

COLUMNS = 100
FILE_LINES, FUNCTION_LINES = 500, 70
AIM_FILE_LINES, AIM_FUNCTION_LINES = 300, 40

# Folder of src/ -> folders of src/ that it may include, beside its own and include/.
ARROWS = {
    "core": set(),
    "registry": {"core"},
    "conformance": {"core"},
    "redis": {"core"},
    "sqlite": {"core"},
    "memory": {"core"},
}
# Where the doors to time and chance may be opened.
DOORS = {"src/core/real_runtime.cpp", "src/core/types.cpp", "src/core/guard.cpp"}
# SQLite calls these back, or answers them, on a thread that may sleep while the file is busy.
MAY_SLEEP = {"src/sqlite/database.cpp", "src/sqlite/schema.cpp"}
CLOCKS = re.compile(
    r"\b(?:(?:steady|system|high_resolution)_clock::now|boot_clock::now\b|random_device|mt19937|"
    r"getrandom|clock_gettime|gettimeofday|sleep_for|sleep_until|usleep|nanosleep|steady_timer|"
    r"system_timer|s?rand\s*\()")
SLEEPS = re.compile(r"\b(?:sleep_for|usleep|nanosleep|sleep)\s*\(")
SKIPPED_TESTS = re.compile(r"GTEST_SKIP|DISABLED_")
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

    def error(self, path, line, text):
        self.errors.append(f"{path}:{line}: {text}")

    def note(self, path, line, text):
        self.notes.append(f"{path}:{line}: {text}")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_text(path, text, report):
    """Rules for every text file: width, length, and what must never be checked in."""
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
        if path.name in ("tidy.py", "tidy_test.py", "CONTRIBUTING.md"):
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


def folder_of(path):
    """("src", "redis") for src/redis/x.cpp, ("cli",) for cli/x.cpp."""
    parts = path.parts
    return parts[:2] if parts[0] == "src" and len(parts) > 2 else parts[:1]


def included_folder(path, kind, target, root):
    """The folder of src/ that an #include leads to, "public" for include/, or None for others'."""
    if target.startswith("pawl/"):
        return "public"
    if kind == '"' and (root / path.parent / target).is_file():
        where = (root / path.parent / target).resolve().relative_to(root.resolve())
        return where.parts[1] if where.parts[0] == "src" and len(where.parts) > 2 else None
    if (root / "src" / target).is_file():
        return target.split("/")[0]
    if target in ("redis_scripts.hpp", "redisson_scripts.hpp"):
        return "redis"
    return None


def check_includes(path, text, report, root):
    here = folder_of(path)
    if here[0] not in ("include", "src", "cli", "examples", "bench"):
        return
    allowed = {"public"}
    if here == ("bench",):
        allowed.add("redis")  # measures the same scripts without the library
    if here[0] == "src":
        allowed |= ARROWS.get(here[1], set()) | {here[1]}
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        to = included_folder(path, match[1], match[2], root)
        if to is not None and to not in allowed:
            report.error(path, number, f"{'/'.join(here)} must not include {match[2]} "
                                       f"(allowed: {', '.join(sorted(allowed))})")
        if match[2].startswith("boost/redis") and here != ("src", "redis"):
            report.error(path, number, "Boost.Redis belongs to src/redis")


def check_coroutines(path, code, report):
    for match in STRUCTURED_AWAIT.finditer(code):
        report.error(path, line_of(code, match.start()),
                     "structured binding of a co_await; name the result first")
    for kind, found in (("a condition", conditions), ("?:", conditional_expressions)):
        for offset, text in found(code):
            if re.search(r"\bco_await\b", text):
                report.error(path, line_of(code, offset),
                             f"co_await inside {kind}; name the result first")
    for first, body in lambdas(code):
        if re.search(r"\bco_(?:await|return|yield)\b", body):
            report.error(path, first, "a lambda that is a coroutine; name a function")


def check_doors(path, text, code, report):
    name = path.as_posix()
    if name.startswith("src/") and name not in DOORS and not name.startswith("src/conformance/"):
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
                                           "comment what the pause is itself")
    for match in SKIPPED_TESTS.finditer(code):
        report.error(path, line_of(code, match.start()), "a test that does not run")


def check_scripts(path, text, code, report):
    if not path.as_posix().startswith(("src/", "cli/")):
        return
    for match in SCRIPT_TEXT.finditer(text):
        report.error(path, line_of(text, match.start()),
                     "Lua in C++; scripts are src/redis/scripts/*.lua")
    for match in SCRIPT_JOIN.finditer(code):
        report.error(path, line_of(code, match.start()),
                     "a script put together; what varies goes into KEYS and ARGV")


def check_cpp(path, text, report, root):
    code = blank_out(text)
    if path.suffix == ".hpp" and "#pragma once" not in text:
        report.error(path, 1, "no #pragma once")
    if path.parts[0] == "include" and not text.startswith("//"):
        report.error(path, 1, "a public header begins with what it promises")
    check_length(path, text, report)
    check_functions(path, code, report)
    check_includes(path, text, report, root)
    check_coroutines(path, code, report)
    check_doors(path, text, code, report)
    check_scripts(path, text, code, report)


def anchor(heading):
    """The fragment that the usual Markdown viewers make of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def without_fences(text):
    return re.sub(r"^(```|~~~).*?^\1", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)


def anchors_of(text):
    found = {anchor(h) for h in re.findall(r"^#+\s+(.*)$", without_fences(text), flags=re.M)}
    return found | set(re.findall(r'(?:id|name)="([^"]+)"', text))


def check_links(path, text, report, root):
    text = without_fences(text)
    for match in re.finditer(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", text):
        target, _, fragment = match[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        there = root / path.parent / target if target else root / path
        line = line_of(text, match.start())
        if not there.exists():
            report.error(path, line, f"a link to {match[1]}, which is not there")
        elif fragment and there.suffix == ".md" and fragment not in anchors_of(there.read_text()):
            report.error(path, line, f"a link to {match[1]}: no such heading")


NAMED_TEST = re.compile(r"`(unit|conformance|chaos|cli|storm|simulation|fuzz)\.(\w+)(?:\.(\w+))?`")


def tests_of(root, folder):
    return "".join(each.read_text() for each in (root / "tests" / folder).glob("*_test.cpp"))


# Backends' promises are tests without a suite of their own.
def is_test(root, folder, suite, name):
    if name is None:
        return any(f'"{suite}"' in each.read_text()
                   for each in (root / "src/conformance").glob("*.cpp"))
    return re.search(rf"^TEST(_F|_P)?\({suite}, {name}\)", tests_of(root, folder), re.M)


def check_named_tests(path, text, report, root):
    for match in NAMED_TEST.finditer(text):
        if not is_test(root, *match.groups()):
            report.error(path, line_of(text, match.start()), f"no test has the name {match[0]}")


def is_binary(path):
    # Inputs of fuzz targets are bytes, whatever they look like.
    return path.suffix in (".png", ".ico", ".gz") or path.is_relative_to("tests/fuzz/corpus")


def check_file(path, root, report):
    if is_binary(path) or not (root / path).is_file():
        return
    try:
        text = (root / path).read_text()
    except UnicodeDecodeError:
        report.error(path, 1, "not UTF-8")
        return
    if path.name == "LICENSE" or path.suffix in (".svg", ".json"):
        return
    check_text(path, text, report)
    if path.suffix in (".cpp", ".hpp"):
        check_cpp(path, text, report, root)
    elif path.suffix == ".md":
        check_links(path, text, report, root)
        check_named_tests(path, text, report, root)
    elif path.suffix in (".py", ".sh", ".lua") or path.name == "dev":
        check_length(path, text, report)


def project_files(root):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.split("\0") if name]


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    notes = "--notes" in arguments
    names = [Path(a) for a in arguments if not a.startswith("--")]
    report = Report()
    for path in names or project_files(root):
        check_file(path, root, report)
    for line in report.errors + (report.notes if notes else []):
        print(line)
    print(f"{len(report.errors)} to repair, {len(report.notes)} above the aimed length"
          + ("" if notes else " (tools/tidy.py --notes lists these)"))
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
