#!/usr/bin/env python3
"""Each house rule fails where it should, and only there."""
import sys
import tempfile
import unittest
from pathlib import Path

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
        return [line.split(": ", 1)[1] for line in report.errors]


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
        found = list(lambdas(code))
        self.assertEqual([line for line, _ in found], [3, 2])
        self.assertNotIn("return 1", found[1][1])


class Rules(unittest.TestCase):
    def one(self, part, *arguments):
        found = errors(*arguments)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def none(self, *arguments):
        self.assertEqual(errors(*arguments), [])

    def test_columns(self):
        self.none("src/core/a.cpp", "// " + "ö" * 97 + "\n")
        self.one("101 columns", "src/core/a.cpp", "// " + "x" * 98 + "\n")

    def test_ends_and_tabs(self):
        self.one("blanks at the end", "a.lua", "x \n")
        self.one("a tab", "a.lua", "\tx\n")
        self.assertEqual(errors("a.go", "\tx\n"), [])
        self.one("no end of line", "a.lua", "x")

    def test_unfinished_and_banners(self):
        self.one("unfinished", "src/core/a.cpp", "// TODO: later\n")
        self.one("banner", "src/core/a.cpp", "// ----- Part 1\n")
        self.one("one machine", "docs/a.md", "See /home/me/pawl.\n")

    def test_lengths(self):
        self.one("501 lines", "src/core/a.cpp", "int a;\n" * 501)
        self.none("src/core/a.cpp", "int f() {\n" + "    g();\n" * 68 + "}\n")
        self.one("function of 71 lines",
                 "src/core/a.cpp", "int f() {\n" + "    g();\n" * 69 + "}\n")

    def test_arrows(self):
        core = ("src/core/lease.hpp", "#pragma once\n")
        link = ("src/redis/link.hpp", "#pragma once\n")
        self.none("src/redis/a.cpp",
                  '#include "link.hpp"\n#include <core/lease.hpp>\n', [core, link])
        self.none("cli/a.cpp", "#include <pawl/blocking.hpp>\n#include <vector>\n")
        self.one("src/core must not include redis/link.hpp",
                 "src/core/a.cpp", "#include <redis/link.hpp>\n", [link])
        self.one("src/sqlite must not",
                 "src/sqlite/a.cpp", '#include "../redis/link.hpp"\n', [link])
        self.one("cli must not", "cli/a.cpp", '#include "core/lease.hpp"\n', [core])
        self.one("include must not", "include/pawl/a.hpp",
                 "// Says.\n#pragma once\n#include <core/lease.hpp>\n", [core])
        self.one("Boost.Redis", "src/core/a.cpp", "#include <boost/redis/connection.hpp>\n")

    def test_headers(self):
        self.one("pragma once", "src/core/a.hpp", "int a;\n")
        self.one("begins with what it promises", "include/pawl/a.hpp", "#pragma once\n")

    def test_coroutines(self):
        self.one("structured binding", "src/core/a.cpp",
                 "task f() {\n    auto [a, b] = co_await g();\n}\n")
        self.one("lambda that is a coroutine", "tests/unit/a.cpp",
                 "void f() {\n    spawn([&]() -> awaitable<void> { co_await g(); });\n}\n")
        self.none("src/core/a.cpp", "task f() {\n    co_await g([] { return 1; });\n}\n")

    def test_awaiting_in_conditions(self):
        for line in ("if (co_await g()) h();", "while (a > 0 && co_await g(b(1))) {}",
                     "for (; co_await g();) {}", "switch (co_await g()) {}",
                     "if constexpr (a)\n        if (b(c)\n            && co_await g()) h();"):
            self.one("co_await inside a condition", "src/core/a.cpp",
                     "task f() {\n    " + line + "\n}\n")
        for line in ("auto a = b ? co_await g() : c;", "co_return b ? c : co_await g();",
                     "h((co_await g()) ? 1 : 2);", "a[co_await g() ? 1 : 2] = {3};"):
            self.one("co_await inside ?:", "src/core/a.cpp", "task f() {\n    " + line + "\n}\n")
        for line in ("if (a) co_await g();", "co_await g(a ? b : c);",
                     "co_return co_await g({a ? 1 : 2});",
                     "const auto a = co_await g();\n    if (a) { co_await g(); } h(a ? 1 : 2);",
                     "if (a) { co_await g(); }\n    b = a ? 1 : 2;", "h(co_await g(), a ? 1 : 2);",
                     "// if (co_await g())", "for (auto& a : b) co_await g(a);"):
            self.none("src/core/a.cpp", "task f() {\n    " + line + "\n}\n")

    def test_doors(self):
        self.one("ask the runtime",
                 "src/redis/a.cpp", "auto t = std::chrono::steady_clock::now();\n")
        self.none("src/core/real_runtime.cpp", "auto t = clock_gettime(1, 2);\n")
        self.none("src/redis/a.cpp", "// steady_clock::now would jump\n")
        self.one("sleep in a test",
                 "tests/unit/a.cpp", "void f() { std::this_thread::sleep_for(1s); }\n")
        self.none("tests/unit/a.cpp", "// The fault lasts so long.\nvoid f() { sleep_for(1s); }\n")
        self.one("does not run", "tests/unit/a.cpp", "TEST(a, DISABLED_b) {}\n")

    def test_scripts(self):
        self.one("Lua in C++", "src/redis/a.cpp", 'auto a = "return redis.call(1)";\n')
        self.one("put together", "src/redis/a.cpp", "auto a = scripts::acquire.text + name;\n")

    def test_links(self):
        other = ("docs/b.md", "# Title\n\n## What `it` is\n")
        self.none("docs/a.md", "[b](b.md) [c](b.md#what-it-is) [d](#here)\n# Here\n"
                               "[e](https://example.com)\n", [other])
        self.one("not there", "docs/a.md", "[b](c.md)\n")
        self.one("no such heading", "docs/a.md", "[b](b.md#nowhere)\n", [other])
        self.none("docs/a.md", "```\n[b](c.md)\n```\n")


class NamedTests(unittest.TestCase):
    def test_must_be_there(self):
        other = [("tests/cli/a_test.cpp", "TEST_P(Suite, Name) {}\n"),
                 ("src/conformance/a.cpp", '{"a_promise", x},\n')]
        self.assertEqual(errors("a.md", "`cli.Suite.Name`, `conformance.a_promise`\n", other), [])
        self.assertEqual(errors("a.md", "`cli.Suite.Nam`\n", other),
                         ["no test has the name `cli.Suite.Nam`"])
        self.assertEqual(errors("a.md", "`unit.Suite.Name`\n", other),
                         ["no test has the name `unit.Suite.Name`"])
        self.assertEqual(errors("a.md", "`conformance.other`\n", other),
                         ["no test has the name `conformance.other`"])


class Corpora(unittest.TestCase):
    def test_inputs_of_fuzz_targets_are_bytes(self):
        self.assertEqual(errors("tests/fuzz/corpus/a/b", "\tno end"), [])
        self.assertNotEqual(errors("tests/fuzz/b.md", "\tno end"), [])


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=0).result.wasSuccessful() else 1)
