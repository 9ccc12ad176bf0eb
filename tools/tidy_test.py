#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Each house rule fails where it should, and only there."""
import sys
import tempfile
import unittest
from pathlib import Path

import licence
import tidy
from cpp import blank_out, functions, lambdas

ROOT = Path(__file__).resolve().parent.parent


def errors(name, text, others=()):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for other, content in ((name, text), *others):
            (root / other).parent.mkdir(parents=True, exist_ok=True)
            (root / other).write_text(content)
        report = tidy.Report()
        tidy.check_file(Path(name), root, report)
        return [line.split(": ", 1)[1] for line in report.errors if "no licence" not in line]


class Reading(unittest.TestCase):
    def test_comments_and_literals_are_blanks(self):
        code = blank_out('int a; // {\nauto b = "}\\""; auto c = R"x({)x"; '
                         "int d = 1'000; char e = '{';")
        self.assertNotIn("{", code)
        self.assertNotIn("}", code)
        self.assertIn("int d = 1'000", code)
        self.assertEqual(code.count("\n"), 1)

    def test_functions_with_their_heads(self):
        code = blank_out("""namespace a {
class b {
public:
    b() : x_{1}, y_(2) {}
    int
    f(int c) const noexcept {
        if (c) { return 1; }
        return 2;
    }
    int x_{0}, y_;
};
auto g() -> int {
    return 1;
}
const std::vector<int> h = make({1, 2});
}
""")
        self.assertEqual(sorted(set(functions(code))), [(4, 4), (5, 9), (12, 14)])

    def test_lambdas_without_those_inside(self):
        code = blank_out("void f() {\n  g([x](int y) mutable -> int {\n"
                         "    h([] { return 1; }); return 2;\n });\n"
                         "  int a[] = {1};\n  b[1] = {2};\n}\n")
        lambdas_of_code = list(lambdas(code))
        self.assertEqual([line for line, _ in lambdas_of_code], [3, 2])
        self.assertNotIn("return 1", lambdas_of_code[1][1])


class Rules(unittest.TestCase):
    def fails(self, part, *arguments):
        result = errors(*arguments)
        self.assertEqual(len(result), 1, result)
        self.assertIn(part, result[0])

    def passes(self, *arguments):
        self.assertEqual(errors(*arguments), [])

    def test_columns(self):
        self.passes("src/core/util/a.cpp", "// " + "ö" * 97 + "\n")
        self.fails("101 columns", "src/core/util/a.cpp", "// " + "x" * 98 + "\n")

    def test_ends_and_tabs(self):
        self.fails("blanks at the end", "a.lua", "x \n")
        self.fails("a tab", "a.lua", "\tx\n")
        self.assertEqual(errors("a.go", "\tx\n"), [])
        self.fails("no end of line", "a.lua", "x")

    def test_unfinished_and_banners(self):
        self.fails("unfinished", "src/core/util/a.cpp", "// TODO: later\n")
        self.fails("banner", "src/core/util/a.cpp", "// ----- Part 1\n")
        self.fails("one machine", "docs/a.md", "See /home/me/pawl.\n")

    def test_lengths(self):
        self.fails("501 lines", "src/core/util/a.cpp", "int a;\n" * 501)
        self.passes("src/core/util/a.cpp", "int f() {\n" + "    g();\n" * 68 + "}\n")
        self.fails("function of 71 lines",
                   "src/core/util/a.cpp", "int f() {\n" + "    g();\n" * 69 + "}\n")

    def test_includes(self):
        lease = ("src/core/lease/lease.hpp", "#pragma once\n")
        link = ("src/redis/transport/link.hpp", "#pragma once\n")
        self.passes("src/redis/transport/a.cpp",
                    '#include "link.hpp"\n#include <core/lease/lease.hpp>\n', [lease, link])
        address = ("src/net/address.hpp", "#pragma once\n")
        self.passes("src/redis/transport/a.cpp", '#include "../../net/address.hpp"\n', [address])
        self.passes("src/net/a.cpp", '#include "../core/lease/lease.hpp"\n', [lease])
        self.fails("src/net must not",
                   "src/net/a.cpp", '#include "../redis/transport/link.hpp"\n', [link])
        self.fails("src/core/util must not",
                   "src/core/util/a.cpp", "#include <net/address.hpp>\n", [address])
        self.passes("cli/verbs/a.cpp", "#include <pawl/blocking.hpp>\n#include <vector>\n")
        self.fails("src/core/engine must not include redis/transport/link.hpp",
                   "src/core/engine/a.cpp", "#include <redis/transport/link.hpp>\n", [link])
        self.fails("src/memory must not",
                   "src/memory/a.cpp", '#include "../redis/transport/link.hpp"\n', [link])
        self.fails("cli/ui must not", "cli/ui/a.cpp", '#include "core/lease/lease.hpp"\n', [lease])
        self.fails("examples must not", "examples/a.cpp", "#include <core/lease/lease.hpp>\n",
                   [lease])
        self.fails("include must not", "include/pawl/a.hpp",
                   "// Says.\n#pragma once\n#include <core/lease/lease.hpp>\n", [lease])
        self.fails("Boost.Redis", "src/core/util/a.cpp", "#include <boost/redis/connection.hpp>\n")

    def test_includes_between_components(self):
        components = ["transport", "scripting", "common", "native"]
        headers = [(f"src/redis/{component}/a.hpp", "#pragma once\n") for component in components]
        for at, component in enumerate(components):
            for below in components[:at + 1]:
                self.passes(f"src/redis/{component}/b.cpp", f'#include "../{below}/a.hpp"\n',
                            headers)
            for above in components[at + 1:]:
                self.fails(f"src/redis/{component} must not", f"src/redis/{component}/b.cpp",
                           f'#include "../{above}/a.hpp"\n', headers)
        self.fails("src/redis/redisson must not", "src/redis/redisson/b.cpp",
                   '#include "../native/a.hpp"\n', headers)
        self.fails("src/redis/redisson must not", "src/redis/redisson/b.cpp",
                   '#include "redis_scripts.hpp"\n')
        self.passes("src/redis/native/b.cpp", '#include "redis_scripts.hpp"\n')
        # A file above the components includes all of them. None of them includes it.
        self.passes("src/redis/b.cpp", '#include "native/a.hpp"\n', headers)
        self.fails("src/redis/native must not", "src/redis/native/b.cpp", '#include "../b.hpp"\n',
                   [("src/redis/b.hpp", "#pragma once\n")])
        lease = [("src/core/lease/a.hpp", "#pragma once\n")]
        self.passes("src/core/engine/b.cpp", '#include "../lease/a.hpp"\n', lease)
        self.fails("src/core/util must not", "src/core/util/b.cpp", '#include "../lease/a.hpp"\n',
                   lease)
        for path in ("src/core/b.cpp", "src/core/other/b.cpp", "src/other/b.cpp"):
            self.fails("no component", path, "int a;\n")

    def test_headers(self):
        self.fails("pragma once", "src/core/util/a.hpp", "int a;\n")
        self.fails("begins with its promise", "include/pawl/a.hpp", "#pragma once\n")

    def test_coroutines(self):
        self.fails("structured binding", "src/core/util/a.cpp",
                   "task f() {\n    auto [a, b] = co_await g();\n}\n")
        self.fails("lambda that is a coroutine", "tests/unit/a.cpp",
                   "void f() {\n    spawn([&]() -> awaitable<void> { co_await g(); });\n}\n")
        self.passes("src/core/util/a.cpp", "task f() {\n    co_await g([] { return 1; });\n}\n")

    def test_awaiting_in_conditions(self):
        for line in ("if (co_await g()) h();", "while (a > 0 && co_await g(b(1))) {}",
                     "for (; co_await g();) {}", "switch (co_await g()) {}",
                     "if constexpr (a)\n        if (b(c)\n            && co_await g()) h();"):
            self.fails("co_await inside a condition", "src/core/util/a.cpp",
                       "task f() {\n    " + line + "\n}\n")
        for line in ("auto a = b ? co_await g() : c;", "co_return b ? c : co_await g();",
                     "h((co_await g()) ? 1 : 2);", "a[co_await g() ? 1 : 2] = {3};"):
            self.fails("co_await inside ?:", "src/core/util/a.cpp",
                       "task f() {\n    " + line + "\n}\n")
        for line in ("if (a) co_await g();", "co_await g(a ? b : c);",
                     "co_return co_await g({a ? 1 : 2});",
                     "const auto a = co_await g();\n    if (a) { co_await g(); } h(a ? 1 : 2);",
                     "if (a) { co_await g(); }\n    b = a ? 1 : 2;", "h(co_await g(), a ? 1 : 2);",
                     "// if (co_await g())", "for (auto& a : b) co_await g(a);"):
            self.passes("src/core/util/a.cpp", "task f() {\n    " + line + "\n}\n")

    def test_classes_that_are_too_large(self):
        functions = "".join(f"    void f{i}(int a, int b);\n" for i in range(31))
        data = "".join(f"    std::map<int, int> a{i}_, b{i}_;\n" for i in range(11))
        for body, sentence in ((functions, "c has 31 private functions"),
                               (data, "c has 22 data members")):
            text = "#pragma once\nclass c {\n" + body + "};\n"
            self.fails(sentence, "src/core/util/a.hpp", text)
            self.passes("src/core/util/a.hpp", text.replace("class c {", "class c {\npublic:")
                        if body is functions else text.replace("    std", "    static std"))
        nested = "struct d { int a, b; void f(); };\n"
        self.passes("src/core/util/a.hpp", "#pragma once\nclass c {\n" + nested * 11 + "};\n")

    def test_clocks(self):
        self.fails("ask the runtime",
                   "src/redis/native/a.cpp", "auto t = std::chrono::steady_clock::now();\n")
        self.passes("src/core/util/real_runtime.cpp", "auto t = clock_gettime(1, 2);\n")
        self.passes("src/redis/native/a.cpp", "// steady_clock::now would jump\n")
        self.fails("sleep in a test",
                   "tests/unit/a.cpp", "void f() { std::this_thread::sleep_for(1s); }\n")
        self.passes("tests/unit/a.cpp",
                    "// The fault lasts so long.\nvoid f() { sleep_for(1s); }\n")
        self.fails("does not run", "tests/unit/a.cpp", "TEST(a, DISABLED_b) {}\n")
        self.fails("snake case", "tests/unit/a.cpp", "TEST(Lock, is_free) {}\n")

    def test_scripts(self):
        self.fails("Lua in C++", "src/redis/native/a.cpp", 'auto a = "return redis.call(1)";\n')
        self.fails("put together", "src/redis/native/a.cpp",
                   "auto a = scripts::acquire.text + name;\n")

    def test_links(self):
        other = ("docs/b.md", "# Title\n\n## What `it` is\n")
        self.passes("docs/a.md", "[b](b.md) [c](b.md#what-it-is) [d](#here)\n# Here\n"
                                 "[e](https://example.com)\n", [other])
        self.fails("does not exist", "docs/a.md", "[b](c.md)\n")
        self.fails("no such heading", "docs/a.md", "[b](b.md#nowhere)\n", [other])
        self.passes("docs/a.md", "```\n[b](c.md)\n```\n")


class Names(unittest.TestCase):
    def fails(self, part, text, name="src/core/util/a.cpp"):
        result = errors(name, text)
        self.assertEqual(len(result), 1, (text, result))
        self.assertIn(part, result[0])

    def passes(self, text, name="src/core/util/a.cpp"):
        self.assertEqual(errors(name, text), [], text)

    def test_members_and_parameters(self):
        for text in ("struct a {\n    int what;\n};\n", "class a {\n    b<int> one_{1};\n};\n",
                     "void f(const a& what);\n", "void f(std::vector<a> mine) {}\n",
                     "void f(a&& who, int b) {}\n", "a f(b... found) {}\n", "bool here(int a);\n",
                     "struct a {\n    bool said() const;\n};\n", "enum class a { b, found };\n",
                     "template <typename thing>\nint a;\n", "struct who {};\n",
                     "struct a {\n    error what() const;\n};\n"):
            self.fails("say what it is", text)

    def test_names_that_may_stand(self):
        for text in ("struct a : std::exception {\n    const char* what() const noexcept;\n};\n",
                     "int a = error.what() + b.found;\n", "// what here\nauto a = \"one\";\n",
                     "int made_here;\nint what_for;\n", "a() : one_(1), what{2} {}\n",
                     "int f() { return mine; }\n", "bool a = b < c && d > found;\n",
                     "void f() { a >> b >> who; }\n", "int a = b & mine, c = d * one;\n"):
            self.passes(text)

    def test_locals_of_more_than_five_lines(self):
        for head in ("int one = 1;", "const auto [a, one] = b();", "for (auto& one : list) {",
                     "try { } catch (const error& one) {", "auto a = [](int one) {",
                     "auto a = [one = 1] {", "if (int one = 1; b) {"):
            tail = "    }\n" if head.endswith("{") else ""
            for blanks, check in ((3, self.passes), (4, lambda text: self.fails("6 lines", text))):
                check("void f() {\n    " + head + "\n" + "    g();\n" * blanks
                      + "    h(one);\n" + tail + "}\n")
        # Counted to the last mention in its own block.
        self.passes("void f() {\n    for (int one : a) b(one);\n" + "    g();\n" * 9
                    + "    for (int one : a) b(one);\n}\n")

    def test_old_words(self):
        self.fails("say lease_handle", "struct taken;\ntaken a;\n")
        self.fails("say local_successor", "int f(int heir_of_it);\n")
        self.fails("say acquire_attempt", "int a = visit(b);\n")
        self.passes("int a = std::visit(b, c);\nint untaken;\n// taken\n")
        self.passes("int several = 2;\n", "examples/a.cpp")
        self.fails("in a path; say notifier", "int a;\n", "src/memory/doorbell.cpp")
        self.fails("in a path; say capabilities", "int a;\n", "tests/unit/promises_test.cpp")
        self.passes("return 1\n", "src/redis/native/scripts/acquire.lua")

    def test_lua(self):
        lines = "f()\n" * 4
        for text in (f"local a, found = 1\n{lines}return found\n", "function f(a, mine)\nend\n",
                     "local function said()\nend\n",
                     f"for one in f() do\n{lines}g(one)\nend\n"):
            self.fails("say what it is", text, "a.lua")
        for text in (f"local found = 1\nreturn found\n{lines}return a.found\n",
                     f"local one = 1\ng(one)\n{lines}local one = 2\ng(one)\n",
                     f'-- local found\n{lines}return "local one = heir"\n'):
            self.passes(text, "a.lua")
        self.fails("say local_successor", "local heir = 1\n", "a.lua")


class Prose(unittest.TestCase):
    def fails(self, part, name, text):
        result = errors(name, text)
        self.assertEqual(len(result), 1, (text, result))
        self.assertIn(part, result[0])

    def passes(self, name, text):
        self.assertEqual(errors(name, text), [], text)

    def test_sense(self):
        self.fails("say what is allowed", "cli/ui/a.cpp", 'auto a = "a ttl of 0 makes no sense";\n')
        self.fails("say what is allowed", "docs/a.md", "Two of them make\nno sense.\n")
        self.passes("docs/a.md", "It is sensible.\n")

    def test_long_sentences(self):
        words = "word " * 33 + "word"
        self.passes("docs/a.md", f"{words} word. {words} word.\n\n{words}\n\n{words}\n")
        self.fails("36 words", "docs/a.md", f"Short. {words}\nword word.\n")
        self.fails("36 words", "docs/a.md", f"- {words}\n  word word\n- {words}\n")
        self.fails("36 words", "docs/a.md", f"| {words} | {words} word word |\n")
        self.fails("36 words", "docs/a.md", f"{words} `b` [word](https://c).\n")
        self.fails("36 words", "docs/a.md", f"{words} e.g. Word.\n")
        self.passes("docs/a.md", f"{words} `a b c d e\nf`.\n\n```\n{words}\n{words}\n```\n")
        self.passes("docs/a.md", f"A list:\n\n    {words} {words}\n\n# {words}\n{words}\n")
        self.passes("src/core/util/a.cpp", ("// " + "word " * 9 + "word\n") * 4)
        lines = words.replace(" ", "\n")
        self.fails("36 words", "cli/man/pawl.1", f".SH A\n.TP\n.B b\n{lines}\nword\n.I word.\n")
        self.passes("cli/man/pawl.1", f".nf\n{lines} word word\n.fi\n{lines}\n.TP\n{lines}\n")

    def test_who_without_a_noun(self):
        for text in ("Who waits is woken.", "A list of\nwho waits.", "It wakes who waits.",
                     "For who would ask.", "It ends; who waits is woken.", "To that who asks."):
            self.fails('"who" without', "docs/a.md", text + "\n")
            self.fails('"who" without', "src/core/util/a.hpp",
                       "#pragma once\n// " + text.replace("\n", "\n// ") + "\n")
            self.fails('"who" without', "a.lua", "-- " + text.replace("\n", "\n-- ") + "\n")
        for text in ("# Who may do it", "Who may do it?", "The waiter who asks.", "`Who` asks.",
                     "All those who wait, and who hold.", "It says who asks.", "A list of WHO."):
            self.passes("docs/a.md", text + "\n")
        self.passes("src/core/util/a.cpp",
                    'auto a = "Who waits";\n// By day.\nint b;  // who asks\n')

    def test_old_words(self):
        self.fails("say local successor", "docs/a.md", "The heir gets it.\n")
        self.fails("say notifier", "tools/a.py", '"""Rings the\ndoorbell."""\n')
        self.passes("docs/a.md", "An inherited lock.\n")


class Cycles(unittest.TestCase):
    def errors(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, includes in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("".join(f'#include "{each}"\n' for each in includes))
            report = tidy.Report()
            tidy.check_cycles([Path(name) for name in files], root, report)
            return report.errors

    def test_units_that_include_each_other(self):
        self.assertEqual(self.errors({"src/a.hpp": [], "src/a.cpp": ["a.hpp", "b.hpp"],
                                      "src/b.hpp": ["a.hpp"]}),
                         ["src/a.cpp:2: an include cycle: src/a -> src/b -> src/a"])
        self.assertEqual(self.errors({"src/a.hpp": ["c.hpp"], "src/b.hpp": ["a.hpp"],
                                      "src/c.hpp": [], "src/c.cpp": ["c.hpp", "b.hpp"]}),
                         ["src/a.hpp:1: an include cycle: src/a -> src/c -> src/b -> src/a"])
        self.assertEqual(self.errors({"src/a.hpp": [], "src/a.cpp": ["a.hpp", "b.hpp"],
                                      "src/b.hpp": [], "src/b.cpp": ["b.hpp", "c.hpp"],
                                      "src/c.hpp": []}), [])

    def test_in_tests_only_headers_have_an_order(self):
        self.assertEqual(self.errors({"tests/a.hpp": [], "tests/a.cpp": ["b.hpp"],
                                      "tests/b.hpp": ["a.hpp"]}), [])
        self.assertEqual(len(self.errors({"tests/a.hpp": ["b.hpp"], "tests/b.hpp": ["a.hpp"]})), 1)


class Licence(unittest.TestCase):
    LINES = "// SPDX-License-Identifier: BSL-1.0\n// Copyright (c) 2026 The Pawl authors\n"

    def errors(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
            report = tidy.Report()
            tidy.check_file(Path(name), Path(folder), report)
            return report.errors

    def test_sources_begin_with_it(self):
        for name, mark in (("src/core/util/a.cpp", "//"), ("tests/unit/a.hpp", "//"),
                           ("a.java", "//"), ("a.lua", "--"), ("a.py", "#"), ("dev", "#"),
                           ("tests/CMakeLists.txt", "#"), ("cmake/a.cmake.in", "#")):
            lines = self.LINES.replace("//", mark)
            more = "#pragma once\n"
            self.assertEqual(self.errors(name, lines + more), [])
            self.assertEqual(len(self.errors(name, more)), 1, name)
            self.assertEqual(len(self.errors(name, more + lines)), 1, name)
            self.assertEqual(len(self.errors(name, lines.replace("2026", "2027") + more)), 1, name)
        lines = self.LINES.replace("//", "#")
        self.assertEqual(self.errors("a.sh", "#!/bin/sh\n" + lines), [])
        self.assertEqual(len(self.errors("a.sh", "#!/bin/sh\n\n" + lines)), 1)
        for name in ("a.md", "a.json", "vcpkg.json", "tests/fuzz/corpus/a/b"):
            self.assertEqual(self.errors(name, "{}\n"), [])

    def test_a_public_header_begins_with_its_promise_behind_it(self):
        name, rest = "include/pawl/a.hpp", "#pragma once\n"
        self.assertEqual(self.errors(name, self.LINES + "\n// Says.\n" + rest), [])
        self.assertEqual(len(self.errors(name, self.LINES + "\n" + rest)), 1)


class Counts(unittest.TestCase):
    def test_hits_by_rule_and_folder(self):
        report = tidy.Report()
        for path in ("src/core/util/a.cpp", "src/core/b.cpp", "README.md", "docs/a.md"):
            report.error(Path(path), 1, "x", "old word")
        report.error(Path("a.md"), 1, "x")
        self.assertEqual(dict(report.counts), {("old word", "src/core"): 2, ("old word", "top"): 1,
                                               ("old word", "docs"): 1})


class NamedTests(unittest.TestCase):
    def test_must_be_there(self):
        other = [("tests/cli/a_test.cpp", "TEST_P(Suite, Name) {}\n"),
                 ("conformance/a.cpp", '{"a_promise", x},\n')]
        self.assertEqual(errors("a.md", "`cli.Suite.Name`, `conformance.a_promise`\n", other), [])
        self.assertEqual(errors("a.md", "`cli.Suite.Nam`\n", other),
                         ["no test has the name `cli.Suite.Nam`"])
        self.assertEqual(errors("a.md", "`unit.Suite.Name`\n", other),
                         ["no test has the name `unit.Suite.Name`"])
        self.assertEqual(errors("a.md", "`conformance.other`\n", other),
                         ["no test has the name `conformance.other`"])


class Pages(unittest.TestCase):
    PROGRAM = [("examples/a.cpp", "int main() {\n    first();  // a\n    second();\n"
                                  "    third();\n}\n")]

    def check(self, code):
        return errors("docs/a.md", f"```cpp\n{code}\n```\n", self.PROGRAM)

    def test_code_of_a_program(self):
        self.assertEqual(self.check("first();    // a\nsecond();"), [])
        self.assertEqual(self.check("first();\n…\nthird();"), [])

    def test_code_of_no_program(self):
        wrong = ["C++ that is in no program of examples or tests; put it into examples/pages"]
        self.assertEqual(self.check("other();"), wrong)
        self.assertEqual(self.check("third();\n…\nfirst();"), wrong)

    def test_other_languages(self):
        self.assertEqual(errors("docs/a.md", "```sh\nother\n```\n", self.PROGRAM), [])


class Corpora(unittest.TestCase):
    def test_inputs_of_fuzz_targets_are_bytes(self):
        self.assertEqual(errors("tests/fuzz/corpus/a/b", "\tno end"), [])
        self.assertNotEqual(errors("tests/fuzz/b.md", "\tno end"), [])


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=0).result.wasSuccessful() else 1)
