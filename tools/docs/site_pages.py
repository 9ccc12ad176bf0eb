# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The folder of pages: where each file goes, the frame around each page, and the search."""
import html
import json
import posixpath
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from highlight import highlight
from markdown import Markdown, plain
from reference import GROUPS, ReferencePages, include_of, url_of

# The order of the navigation. Pages that are not named here follow in the order of their names.
SECTIONS = {
    "Guide": ["README.md", "docs/guide/tutorial.md", "docs/guide/family.md", "docs/guide/urls.md",
              "docs/guide/choosing-a-store.md",
              "docs/guide/guarantees.md", "docs/guide/layers.md", "docs/guide/once.md",
              "docs/guide/fenced-writes.md", "docs/guide/reconciliation.md",
              "docs/guide/durability.md",
              "docs/guide/managed.md",
              "docs/guide/failover.md", "docs/guide/production.md", "docs/guide/cli.md",
              "docs/guide/schedules.md",
              "docs/guide/testing-your-code.md",
              "docs/guide/no-lock-needed.md", "docs/guide/idempotency-key.md",
              "docs/guide/linking.md",
              "docs/guide/performance.md", "docs/guide/threats.md",
              "docs/guide/changes.md", "docs/guide/"],
    "Backends": ["docs/backends/redis.md", "docs/backends/sentinel.md", "docs/backends/cluster.md",
                 "docs/backends/redlock.md", "docs/backends/security.md",
                 "docs/backends/scriptless.md",
                 "docs/backends/redisson.md",
                 "docs/backends/interop.md", "docs/backends/"],
    "Reference": ["docs/reference/README.md", "docs/reference/"],
    "Contributing": ["CONTRIBUTING.md", "docs/contributing/internals.md",
                     "docs/contributing/testing.md", "docs/contributing/models.md",
                     "docs/contributing/writing-a-backend.md",
                     "docs/contributing/", "SECURITY.md", "CHANGELOG.md", "bench/"],
    "Decisions": ["docs/decisions/README.md", "docs/decisions/"],
}
# Names that must be in the reference, except in pages about earlier versions.
_OURS = re.compile(r"(?:pawl::\w+|blocking|errc|lock_mode|loss_reason|\w+_options)::\w+(?:\(\))?|"
                   r"pawl/[\w/]+\.hpp")
_FIELD = re.compile(r"[{,] ?\.(\w+) =")
_OLD = ("CHANGELOG.md", "docs/decisions/", "docs/guide/changes.md")
PICTURES = (".svg", ".png")


def page_url(path):
    """Where a Markdown file goes: docs/guide/urls.md to guide/urls.html."""
    name = path.removeprefix("docs/").removesuffix(".md")
    if posixpath.basename(name) == "README":
        name = posixpath.join(posixpath.dirname(name), "index")
    return (name if "/" in name else name.lower()) + ".html"


def title_of(text):
    return re.sub(r"[`*]", "", re.search(r"^# +(.*)$", text, re.M)[1])


class Site:
    def __init__(self, root, out, reference, names):
        self.root = root
        self.out = out
        self.names = names
        self.reference = ReferencePages(reference, names)
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                                cwd=root, check=True, capture_output=True, text=True).stdout
        self.tracked = [name for name in listed.split("\n") if (root / name).is_file() and name]
        self.pages = {path: (root / path).read_text() for path in self.tracked
                      if path.endswith(".md")}
        self.sources = set(reference.sources)
        self.entries = []
        self.broken = []

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        here = Path(__file__).resolve().parent
        for asset in ("style.css", "script.js"):
            self._write(asset, (here / asset).read_text())
        for path, text in self.pages.items():
            self._page(path, text)
        for file in self.reference.files():
            self._reference_page(file)
        for path in sorted(self.sources):
            self._source_page(path)
        for name, kind, where, text in self.reference.search_entries():
            self.entries.append([name, kind, where, text])
        index = json.dumps(self.entries, ensure_ascii=False, separators=(",", ":"))
        self._write("search.js", "window.searchEntries = " + index + ";\n")
        self._write("search.html", self._frame(
            "search.html", "Search", '<h1>Search</h1><div id="found"></div>', []))
        self.broken += check_site(self.out)
        return self.broken

    def _write(self, name, text):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _page(self, path, text):
        url = page_url(path)
        base = "../" * url.count("/")
        markdown = Markdown(link=lambda target: self._link(path, target, base),
                            code=lambda code: self._name(path, code, base))
        body = markdown.render(text)
        if path == "docs/reference/README.md":
            body += self.reference.index(base)
        title = title_of(text)
        for section in markdown.sections[1:]:
            where = url if section.level == 1 else f"{url}#{section.anchor}"
            name = section.title if section.level == 1 else f"{title}: {section.title}"
            self.entries.append([html.unescape(name), "page", where,
                                 plain("\n".join(section.text))])
        self._write(url, self._frame(url, title, body, _outline(body)))

    def _name(self, path, code, base):
        """A code span of a page: a link if it names a header, or one public name only."""
        if not path.startswith(_OLD):
            unknown = [name for name in _FIELD.findall(code) if name not in self.names.words]
            if _OURS.fullmatch(code) and not self.names.find(code.removesuffix("()"), "pawl"):
                unknown.append(code)
            self.broken += [f"{path}: no public header has the name {name}" for name in unknown]
        if "::" in code or "_" in code or code.endswith(".hpp"):
            return self.reference.code(code, "pawl", base)
        return None

    def _link(self, path, target, base):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        name, _, fragment = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        fragment = "#" + fragment if fragment else ""
        if file.endswith(".md"):
            return base + page_url(file) + fragment
        if file.endswith(PICTURES):
            self._copy(file)
            return base + "files/" + file
        if f"include/{include_of(file)}" == file and include_of(file) in self.names.places:
            return base + url_of(file)
        self._want_source(file)
        return f"{base}source/{file}.html"

    def _copy(self, file):
        target = self.out / "files" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if (self.root / file).is_file():
            shutil.copyfile(self.root / file, target)

    def _want_source(self, file):
        inside = [path for path in self.tracked if path.startswith(file + "/")]
        self.sources.update([file, *inside] if inside or file in self.tracked else [])

    def _reference_page(self, file):
        url = url_of(file)
        title, body = self.reference.page(file, "../" * url.count("/"))
        self.entries.append([title, "header", url,
                             plain(self.reference.reference.sources[file].introduction())])
        self._write(url, self._frame(url, title, body, _outline(body)))

    def _source_page(self, path):
        url = f"source/{path}.html"
        base = "../" * url.count("/")
        if (self.root / path).is_dir():
            inside = [name for name in self.tracked if name.startswith(path + "/")]
            rows = "".join(f'<li><a href="{base}{self._place(name)}">'
                           f"{html.escape(name.removeprefix(path + '/'))}</a></li>"
                           for name in inside)
            body = f"<h1>{path}</h1><ul>{rows}</ul>"
        else:
            text = (self.root / path).read_text(errors="replace")
            language = {"hpp": "cpp", "Makefile": "", "txt": "cmake"}.get(
                path.rpartition(".")[2], path.rpartition(".")[2])
            lines = "".join(f'<span id="L{number}">{line}\n</span>' for number, line in
                            enumerate(_lines(highlight(text, language)), 1))
            body = f'<h1>{path}</h1><pre class="file"><code>{lines}</code></pre>'
        self._write(url, self._frame(url, path, body, []))

    def _place(self, file):
        if file.endswith(".md"):
            return page_url(file)
        if file.endswith(PICTURES):
            self._copy(file)
            return "files/" + file
        return f"source/{file}.html"

    def _frame(self, url, title, body, outline):
        base = "../" * url.count("/")
        contents = "".join(f'<li class="depth{level}"><a href="#{name}">{text}</a></li>'
                           for level, name, text in outline)
        contents = f'<nav class="outline"><p>On this page</p><ul>{contents}</ul></nav>' \
            if len(outline) > 1 else ""
        name = title if title == "Pawl" else f"{title} – Pawl"
        return _FRAME.format(base=base, title=html.escape(name), body=body, contents=contents,
                             navigation=self._navigation(url, base))

    def _navigation(self, current, base):
        out = []
        placed = set()
        for section, patterns in SECTIONS.items():
            links = []
            for pattern in patterns:
                for path in sorted(self.pages):
                    if path not in placed and (path == pattern or pattern.endswith("/") and
                                               path.startswith(pattern)):
                        placed.add(path)
                        title = "Overview" if path == "README.md" else title_of(self.pages[path])
                        links.append((page_url(path), title))
            if section == "Reference":
                group = None
                for file in self.reference.listed():
                    if self.reference.group(file) != group:
                        group = self.reference.group(file)
                        links.append((None, GROUPS[group]))
                    links.append((url_of(file), include_of(file).removeprefix("pawl/")))
            out.append(_section(section, links, current, base))
        return "".join(out)


def _section(title, links, current, base):
    has_current = any(url == current for url, _ in links)
    rows = []
    for url, text in links:
        mark = ' aria-current="page"' if url == current else ""
        text = html.escape(text)
        rows.append(f'<li><a href="{base}{url}"{mark}>{text}</a></li>' if url
                    else f'<li class="group">{text}</li>')
    opened = " open" if has_current or title == "Guide" else ""
    return f"<details{opened}><summary>{title}</summary><ul>{''.join(rows)}</ul></details>"


def _outline(body):
    """(level, anchor, text) of the headings below the title."""
    found = re.findall(r'<h([23])(?: class="\w+")? id="([^"]+)">(.*?)</h\1>', body, re.S)
    out = []
    for level, name, text in found:
        text = re.sub(r'<a class="(?:mark|source)".*?</a>|<small>.*?</small>', "", text)
        out.append((level, name, re.sub(r"<[^>]*>", "", text).strip()))
    return out


def _lines(code):
    """Highlighted lines, each with its own tags."""
    opened = None
    for line in code.rstrip("\n").split("\n"):
        line = (opened or "") + line
        for tag in re.findall(r'<span class="\w+">|</span>', line):
            opened = None if tag == "</span>" else tag
        yield line + ("</span>" if opened else "")


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets = []
        self.anchors = set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            if attributes["id"] in self.anchors:
                self.targets.append(f"#the anchor {attributes['id']} is there twice")
            self.anchors.add(attributes["id"])
        for name in ("href", "src"):
            if attributes.get(name) is not None:
                self.targets.append(attributes[name])


def check_site(folder):
    """One line for each link of the pages that leads nowhere."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path.resolve()] = _Links()
        pages[path.resolve()].feed(path.read_text())
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            name, _, fragment = target.partition("#")
            if re.match(r"[a-z]+:", name):
                continue
            there = (path.parent / unquote(name)).resolve() if name else path
            if not there.is_file():
                broken.append(f"{path.relative_to(folder.resolve())}: no page for {target}")
            elif fragment and there in pages and unquote(fragment) not in pages[there].anchors:
                broken.append(f"{path.relative_to(folder.resolve())}: no place for {target}")
    return broken


_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="{base}style.css">
<script>
try {{ document.documentElement.dataset.theme = localStorage.getItem("pawl-theme") || ""; }}
catch (e) {{}}
</script>
</head>
<body data-base="{base}">
<header class="top">
<button class="menu" aria-label="Menu" aria-expanded="false">☰</button>
<a class="home" href="{base}index.html">Pawl</a>
<form class="search" role="search" action="{base}search.html">
<input type="search" placeholder="Search  ( / )" aria-label="Search" autocomplete="off">
<div class="results" hidden></div>
</form>
<button class="theme" aria-label="Light or dark">◐</button>
</header>
<div class="columns">
<nav class="site" aria-label="Pages">{navigation}</nav>
<main>{body}</main>
{contents}
</div>
<script src="{base}search.js" defer></script>
<script src="{base}script.js" defer></script>
</body>
</html>
"""
