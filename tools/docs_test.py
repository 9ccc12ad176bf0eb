#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The documentation tool: pages become right HTML, and comments find their names."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "docs"))

from headers import Reference, Source, undocumented, unknown_names  # noqa: E402
from highlight import highlight  # noqa: E402
from markdown import Markdown, plain  # noqa: E402
from reference import Names, ReferencePages  # noqa: E402
from site_pages import check_site, page_url  # noqa: E402


class Declarations(unittest.TestCase):
    # Doxygen's column may be inside the attribute.
    def test_of_a_function_with_an_attribute_ends_at_its_semicolon(self):
        with tempfile.TemporaryDirectory() as folder:
            text = "struct a {\n    [[nodiscard]] int b();\n    int c();\n};\n"
            Path(folder, "a.hpp").write_text(text)
            source = Source("a.hpp", Path(folder))
            for column in (5, 7, 11, 17, 23):
                start, end = source.statement(2, column, "function")
                self.assertEqual(source.text[start:end].strip(), "[[nodiscard]] int b();")


class Rendering(unittest.TestCase):
    def test_inline(self):
        self.assertEqual(Markdown().inline("**a** *b* `c<d>` <e> [f `g`](h.md#i)"),
                         "<strong>a</strong> <em>b</em> <code>c&lt;d&gt;</code> &lt;e&gt; "
                         '<a href="h.md#i">f <code>g</code></a>')

    def test_code_and_names_are_no_emphasis(self):
        self.assertEqual(Markdown().inline("`a*b` c*d*e 2 * 3 * 4 \\*f*"),
                         "<code>a*b</code> c*d*e 2 * 3 * 4 *f*")

    def test_table_with_bars_in_code(self):
        html = Markdown().render("| a | b |\n|--|--:|\n| `x|y` | 1 \\| 2 |")
        self.assertIn('<td><code>x|y</code></td><td class="right">1 | 2</td>', html)

    def test_lists(self):
        html = Markdown().render("- a\n  b\n  - c\n- d\n\n3. e\n\n   ```sh\n   f\n   ```")
        self.assertEqual(html.replace("\n", ""),
                         "<ul><li>ab<ul><li>c</li></ul></li><li>d</li></ul>"
                         '<ol start="3"><li><p>e</p><pre class="sh"><code>f</code></pre></li></ol>')

    def test_headings_get_the_anchors_of_the_usual_viewers(self):
        markdown = Markdown()
        html = markdown.render("# A `b`, c\n## d\ntext\n## d")
        self.assertIn('<h1 id="a-b-c">', html)
        self.assertEqual([each.anchor for each in markdown.sections], ["", "a-b-c", "d", "d-1"])
        self.assertEqual(markdown.sections[2].text, ["text"])

    def test_indented_code(self):
        self.assertEqual(Markdown().render("a\n\n    f();\n\nb"),
                         '<p>a</p>\n<pre class="cpp"><code>f();</code></pre>\n<p>b</p>')

    def test_comments_of_pages_are_not_shown(self):
        self.assertEqual(Markdown().render("a\n<!-- b -->\nc"), "<p>a</p>\n<p>c</p>")

    def test_highlight(self):
        self.assertEqual(highlight('return "a//b"; // c', "cpp"),
                         '<span class="keyword">return</span> <span class="string">"a//b"</span>; '
                         '<span class="comment">// c</span>')
        self.assertEqual(highlight("a < b", "unknown"), "a &lt; b")

    def test_words_for_the_search(self):
        self.assertEqual(plain("a [b](c.md) `d`\n| e | f |\n|--|--|"), "a b d e f")


HEADER = """// What the file has.
#pragma once

namespace pawl {

// Describes both.
void first(int a);
void second();

void silent();

// A class with `fits`, not `ghost`; see std::list.
class box {
public:
    box() = default;
    int size = 0;  // behind the
                   // declaration
    int depth = 0;
    // Above.
    template <class T>
    bool fits(T other) const { return true; }
};

// one: the first.
enum class kind { one, two };

// As box, but flat.
struct tile {
    int size = 0;
    int colour = 0;
};

}  // namespace pawl
"""
XML = """<doxygen><compounddef kind="{kind}" id="{id}" prot="public">
<compoundname>{name}</compoundname><location file="include/pawl/box.hpp" line="{line}" column="1"/>
{members}</compounddef></doxygen>"""
MEMBER = """<memberdef kind="{0}" prot="public"><name>{1}</name><argsstring>{4}</argsstring>
<location file="include/pawl/box.hpp" line="{2}" column="{3}"/>{5}</memberdef>"""
ENUMERATORS = "".join(f"<enumvalue><name>{name}</name></enumvalue>" for name in ("one", "two"))


class PublicNames(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = Path(self.folder.name)
        (root / "include/pawl").mkdir(parents=True)
        (root / "include/pawl/box.hpp").write_text(HEADER)
        free = [("function", "first", 7, 6, "(int a)", ""), ("function", "second", 8, 6, "()", ""),
                ("function", "silent", 10, 6, "()", ""), ("enum", "kind", 25, 1, "", ENUMERATORS)]
        own = [("function", "box", 15, 5, "()=default", ""), ("variable", "size", 16, 9, "", ""),
               ("variable", "depth", 18, 9, "", ""), ("function", "fits", 21, 10, "(T)", "")]
        flat = [("variable", "size", 29, 9, "", ""), ("variable", "colour", 30, 9, "", "")]
        for kind, name, line, members in (("namespace", "pawl", 4, free),
                                          ("class", "pawl::box", 13, own),
                                          ("struct", "pawl::tile", 28, flat)):
            (root / f"{kind}.xml").write_text(XML.format(
                kind=kind, id=kind, name=name, line=line,
                members="".join(MEMBER.format(*each) for each in members)))
        self.reference = Reference(root, root)
        self.entities = {each.name: each for each in self.reference.files["include/pawl/box.hpp"]}

    def test_declarations_without_a_gap_share_a_comment(self):
        self.assertEqual([each.name for each in self.entities["first"].also], ["second"])
        self.assertNotIn("second", self.entities)

    def test_comments_above_and_behind(self):
        members = {each.name: each for each in self.entities["box"].members}
        self.assertEqual(members["size"].comment, "behind the\ndeclaration")
        self.assertEqual(members["fits"].comment, "Above.")
        self.assertEqual(members["fits"].signature, "template <class T>\nbool fits(T other) const;")

    def test_names_without_a_comment(self):
        found = [each.qualified for each in undocumented(self.entities.values())]
        self.assertEqual(sorted(found), ["pawl::box::depth", "pawl::kind::two", "pawl::silent",
                                         "pawl::tile::colour"])

    def test_names_in_comments_that_are_not_there(self):
        self.assertEqual(list(unknown_names(self.reference)),
                         [("include/pawl/box.hpp", 12, "ghost")])

    def test_names_in_comments_become_links(self):
        pages = ReferencePages(self.reference, Names(self.reference))
        self.assertEqual(pages.prose("See box::fits.", "pawl", "../"),
                         '<p>See <a href="../reference/box.html#box.fits"><code>box::fits</code>'
                         "</a>.</p>")
        title, body = pages.page("include/pawl/box.hpp", "../")
        self.assertEqual(title, "pawl/box.hpp")
        self.assertIn("What the file has.", body)


class Links(unittest.TestCase):
    def test_places_of_pages(self):
        self.assertEqual([page_url(path) for path in (
            "README.md", "docs/guide/urls.md", "docs/decisions/README.md", "CHANGELOG.md")],
            ["index.html", "guide/urls.html", "decisions/index.html", "changelog.html"])

    def test_links_that_lead_nowhere(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.html").write_text('<p id="x"><a href="b.html#y"></a><a href="#x"></a>'
                                           '<a href="c.html"></a><a href="b.html#z"></a>')
            (folder / "b.html").write_text('<p id="y">')
            self.assertEqual(check_site(folder), ["a.html: no page for c.html",
                                                  "a.html: no place for b.html#z"])


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=0).result.wasSuccessful() else 1)
