# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The pages of the reference: one for each public header."""
import html
import re

from backends import backends
from headers import CLASSES, is_detail
from highlight import highlight
from markdown import Markdown, plain

GROUPS = {
    "sync": "Sync API",
    "async": "Async API",
    "both": "Both APIs",
    "services": "Services",
    "spi": "For authors of backends",
}
_SERVICES = {f"pawl::{space}" for entry in backends().values() for space in entry["NAMESPACES"]}
_NAME = re.compile(r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*")
_BARE = re.compile(r"(?<![\w`:/.#-])[A-Za-z]\w*(?:::\w+)+(?:\(\))?|"
                   r"(?<![\w`:/.-])[a-z]+_\w+(?![\w`/]|\.\w)")
_FACET = re.compile(r"^(Completes\b|(?:Handler|Cancellation|Errors(?:, as errc)?|Throws|Returns|"
                    r"Requires|Thread[- ]safety|Thread-safe|Lifetime|Example)[:.]) ?")
_SIGNATURE = re.compile(r"(Handler: )(void\((?:[^()]|\([^()]*\))*\))")
_SHORT = re.compile(r"(.+?[.!?])(?:\s|$)", re.S)


def url_of(file):
    return "reference/" + file.removeprefix("include/pawl/").removesuffix(".hpp") + ".html"


def include_of(file):
    return file.removeprefix("include/")


def _scopes(scope):
    while scope:
        yield scope
        scope = scope.rpartition("::")[0]


def _walk(entities, owner=None):
    """(entity, the one whose comment it shares, the class or enum around it)"""
    for entity in entities:
        for each in [entity, *entity.also]:
            yield each, entity, owner
        yield from _walk(entity.members, entity)


class Names:
    """Where each public name is described."""

    def __init__(self, reference):
        self.places = {}
        self.anchors = {}
        self.types = set()  # without their scopes
        self._by_last = {}
        for file, entities in reference.files.items():
            used = set()
            for entity, _, owner in _walk(entities):
                anchor = self._anchor(entity, owner, used)
                self.anchors[id(entity)] = anchor
                if entity.kind in (*CLASSES, "enum", "typedef"):
                    self.types.add(entity.name)
                # The name of a constructor means the class.
                if not owner or entity.name != owner.name:
                    self.places.setdefault(entity.qualified, f"{url_of(file)}#{anchor}")
        for qualified in self.places:
            parts = qualified.split("::")
            for first in range(1, len(parts)):
                self._by_last.setdefault("::".join(parts[first:]), []).append(qualified)
        self.words = {qualified.rpartition("::")[2] for qualified in self.places}
        for file in reference.sources:
            if not is_detail(file) or file in reference.files:
                self.places[include_of(file)] = url_of(file)

    @staticmethod
    def _anchor(entity, owner, used):
        name = re.sub(r"[^\w.~-]", lambda m: f"-{ord(m[0]):x}", entity.name.replace(" ", "-"))
        anchor = first = f"{owner.name}.{name}" if owner else name
        while anchor in used:
            count = int(anchor.removeprefix(first).lstrip("-") or 1) + 1
            anchor = f"{first}-{count}"
        used.add(anchor)
        return anchor

    def find(self, text, scope="pawl", guess=True):
        """The URL of a name that is used in a scope, or None. Guesses only if one name fits."""
        for outer in _scopes(scope):
            if f"{outer}::{text}" in self.places:
                return self.places[f"{outer}::{text}"]
        if text in self.places:
            return self.places[text]
        found = self._by_last.get(text, [])
        return self.places[found[0]] if guess and len(found) == 1 else None


class ReferencePages:
    """Renders the pages; `base` is the way from the page to the root of the site."""

    def __init__(self, reference, names):
        self.reference = reference
        self.names = names
        self._groups = {}

    def group(self, file):
        """By what a program must include, not by what a comment says."""
        if file not in self._groups:
            name = file.removeprefix("include/pawl/")
            scopes = {entity.scope for entity in self.reference.files.get(file, [])}
            if name.startswith("spi/"):
                group = "spi"
            elif name.startswith("blocking"):
                group = "sync"
            elif scopes & _SERVICES:
                group = "services"
            else:
                group = "async" if self._needs_asio(file, set()) else "both"
            self._groups[file] = group
        return self._groups[file]

    def _needs_asio(self, file, seen):
        seen.add(file)
        included = re.findall(r"#include <(.+?)>", self.reference.sources[file].text)
        return any(name.startswith("boost/asio") or (
            f"include/{name}" in self.reference.sources and f"include/{name}" not in seen and
            self._needs_asio(f"include/{name}", seen)) for name in included)

    def files(self):
        """The documented headers by group, those that include all others of their group first."""
        listed = [file for file in self.reference.sources
                  if not is_detail(file) or file in self.reference.files]
        order = list(GROUPS)
        return sorted(listed, key=lambda file: (order.index(self.group(file)),
                                                file in self.reference.files, is_detail(file)))

    def listed(self):
        """Without the details, which are reached from the classes that inherit them."""
        return [file for file in self.files() if not is_detail(file)]

    def page(self, file, base):
        """(title, HTML) of a header."""
        source = self.reference.sources[file]
        title = include_of(file)
        out = [f'<p class="kicker">{GROUPS[self.group(file)]}</p>', f"<h1>{title}</h1>",
               self.prose(source.introduction(), "pawl", base)]
        if not is_detail(file):
            out.append('<pre class="cpp"><code>' + highlight(f"#include <{title}>", "cpp") +
                       "</code></pre>")
        entities = self.reference.files.get(file, [])
        if not entities:
            out.append(self._includes(source, base))
        for entity in entities:
            out.append(self._entity(entity, base, 2))
        return title, "\n".join(out)

    def _includes(self, source, base):
        rows = []
        for name in re.findall(r"#include <(pawl/.+?)>", source.text):
            where = self.names.places.get(name)
            if where:
                text = self.short(self.reference.sources[f"include/{name}"].introduction(), base)
                rows.append(f'<dt><a href="{base}{where}"><code>{name}</code></a></dt>'
                            f"<dd>{text}</dd>")
        return '<h2 id="includes">Includes</h2><dl class="names">' + "".join(rows) + "</dl>"

    def prose(self, text, scope, base):
        """A comment as HTML, with links from names to their places."""
        text = _SIGNATURE.sub(r"\1`\2`", text)
        pieces = re.split(r"(`[^`]*`|^ {4}.*$)", text, flags=re.M)  # code stays as it is
        for at in range(0, len(pieces), 2):
            pieces[at] = _BARE.sub(lambda m: self._marked(m[0], scope), pieces[at])
        paragraphs = []
        errors = False
        for line in "".join(pieces).split("\n"):
            if _FACET.match(line):
                paragraphs.append("")
                errors = line.startswith("Error")
            errors = errors and line != ""
            if errors:
                line = self._errors(line)
            paragraphs.append(_FACET.sub(r"**\1** ", line))
        markdown = Markdown(code=lambda code: self.code(code, scope, base))
        return markdown.render("\n".join(paragraphs))

    def _errors(self, line):
        """The codes in a list of errors, which are written without their scope."""
        codes = "|".join(name.removeprefix("pawl::errc::") for name in self.names.places
                         if name.startswith("pawl::errc::"))
        return re.sub(rf"(?<![\w`:])({codes})(?=[,;.]| \(| and |, for )", r"`errc::\1`", line) \
            if codes else line

    def _marked(self, word, scope):
        known = "::" in word or self.names.find(word, scope)
        return f"`{word}`" if known else word

    def code(self, text, scope, base, guess=True):
        """A code span, linked if it is a name."""
        name = re.sub(r"\(.*\)$", "", text)
        # A single word is more often a parameter than the only member of that name.
        guess = guess and re.search(r"::|_|/", name)
        where = self.names.find(name, scope, guess) if re.fullmatch(
            r"[\w:/.]+", name) else None
        inner = html.escape(text, quote=False)
        return (f'<a href="{base}{where}"><code>{inner}</code></a>' if where
                else f"<code>{inner}</code>")

    def short(self, text, base, scope="pawl"):
        """The first sentence of a comment."""
        text = re.sub(r"\s+", " ", text.split("\n\n")[0])
        text = re.sub(r"^Handler: void\((?:[^()]|\([^()]*\))*\)\. ?", "", text) or text
        match = _SHORT.match(text)
        rendered = self.prose(match[1] if match else text, scope, base)
        return re.sub(r"^<p>|</p>$", "", rendered)

    def _linked(self, text, scope, base):
        def link(match):
            where = self.names.find(match[0], scope, guess=False)
            if where and match[0].rpartition("::")[2] not in self.names.types:
                where = None
            word = html.escape(match[0])
            return f'<a href="{base}{where}">{word}</a>' if where else word
        out = []
        at = 0
        for match in _NAME.finditer(text):
            out += [html.escape(text[at:match.start()]), link(match)]
            at = match.end()
        return "".join(out) + html.escape(text[at:])

    def _signature(self, entity, base):
        seen = []
        for each in [entity, *entity.also]:
            if each.signature not in seen:
                seen.append(each.signature)
        inner = "\n".join(highlight(text, "cpp", lambda t: self._linked(t, entity.scope, base))
                          for text in seen)
        return f'<pre class="cpp signature"><code>{inner}</code></pre>'

    def _title(self, entity, full=False):
        if entity.kind == "function" and entity.name == entity.scope.rpartition("::")[2]:
            return "constructor"
        names = [entity.name]
        for each in entity.also if entity.kind not in (*CLASSES, "enum") else ():
            if each.name not in names:
                names.append(each.name)
        prefix = f"<small>{entity.kind}</small> " if entity.kind in (*CLASSES, "enum") else ""
        if full and entity.kind in CLASSES:
            prefix = f"<small>{entity.kind} {entity.scope}::</small>"
        return prefix + html.escape(", ".join(names))

    def _source_link(self, entity, base):
        return (f'<a class="source" href="{base}source/{entity.file}.html#L{entity.line}">'
                f"{entity.file.rpartition('/')[2]}:{entity.line}</a>")

    def _entity(self, entity, base, level):
        anchor = self.names.anchors[id(entity)]
        more = "".join(f'<a id="{self.names.anchors[id(each)]}"></a>' for each in entity.also)
        out = [f'<section class="entity level{level}">',
               f'<h{level} id="{anchor}">{self._title(entity, full=True)}'
               f'<a class="mark" href="#{anchor}" aria-label="Link to this name">#</a>'
               f"{self._source_link(entity, base)}</h{level}>{more}"]
        if entity.signature != f"{entity.kind} {entity.name};" or entity.also:
            out.append(self._signature(entity, base))
        scope = entity.qualified if entity.kind in (*CLASSES, "enum") else entity.scope
        out.append(self.prose(entity.comment, scope, base))
        if entity.kind == "enum":
            out.append(self._fields(entity.members, base))
        elif entity.kind in CLASSES:
            out.append(self._members(entity, base, level))
        return "\n".join(out) + "</section>"

    def _members(self, entity, base, level):
        plain_data = all(each.kind in ("variable", "enum") for each in entity.members)
        out = []
        if plain_data:
            for each in entity.members:
                if each.kind == "enum":
                    out.append(self._entity(each, base, level + 1))
            out.append(self._fields([each for each in entity.members if each.kind != "enum"], base))
            return "\n".join(out)
        if len(entity.members) > 3:
            out.append(self._overview(entity, base))
        out += [self._inherited(name, base, level + 1) for name in entity.bases]
        out += [self._entity(each, base, level + 1) for each in entity.members
                if not self._says_nothing(each)]
        return "\n".join(out)

    def _inherited(self, name, base, level):
        """The members of a base class, on their page."""
        other = self.reference.classes.get(name)
        rows = []
        for each in other.members if other else ():
            if not self._says_nothing(each) and self._title(each) != "constructor":
                where = f"{base}{url_of(each.file)}#{self.names.anchors[id(each)]}"
                text = self.short(each.comment, base, other.qualified)
                rows.append(f'<dt><a href="{where}"><code>{self._title(each)}</code></a></dt>'
                            f"<dd>{text}</dd>")
        return f"<h{level}>Inherited from {other.name}</h{level}>" \
               f'<dl class="names">{"".join(rows)}</dl>' if rows else ""

    @staticmethod
    def _says_nothing(entity):
        return entity.special and not entity.comment and not entity.also

    def _overview(self, entity, base):
        rows = []
        silent = []
        for each in entity.members:
            if self._says_nothing(each):
                silent.append(each)
                continue
            anchor = self.names.anchors[id(each)]
            text = self.short(each.comment, base, entity.qualified)
            rows.append(f'<dt><a href="#{anchor}"><code>{self._title(each)}</code></a></dt>'
                        f"<dd>{text}</dd>")
        out = f'<dl class="names">{"".join(rows)}</dl>'
        for each in silent:
            out += f'<a id="{self.names.anchors[id(each)]}"></a>'
        if silent:
            joined = "\n".join(highlight(each.signature, "cpp") for each in silent)
            out += f'<pre class="cpp signature"><code>{joined}</code></pre>'
        return out

    def _fields(self, entities, base):
        rows = []
        for entity in entities:
            anchors = "".join(f'<a id="{self.names.anchors[id(each)]}"></a>'
                              for each in [entity, *entity.also])
            declared = "\n".join(dict.fromkeys(each.signature for each in [entity, *entity.also]))
            declared = declared.removesuffix(";")
            code = highlight(declared, "cpp", lambda t, e=entity: self._linked(t, e.scope, base))
            text = self.prose(entity.comment, entity.scope, base)
            rows.append(f"<dt>{anchors}<code>{code}</code></dt><dd>{text}</dd>")
        return f'<dl class="fields">{"".join(rows)}</dl>' if rows else ""

    def index(self, base):
        """The headers with their names."""
        out = []
        group = None
        for file in self.listed():
            if self.group(file) != group:
                group = self.group(file)
                out.append(f'<h2 id="{group}">{GROUPS[group]}</h2>')
            intro = self.short(self.reference.sources[file].introduction(), base)
            out.append(f'<h3 class="header"><a href="{base}{url_of(file)}">'
                       f"<code>{include_of(file)}</code></a></h3><p>{intro}</p>")
            rows = []
            for entity in self.reference.files.get(file, []):
                where = f"{base}{url_of(file)}#{self.names.anchors[id(entity)]}"
                text = self.short(entity.comment, base, entity.qualified)
                rows.append(f'<dt><a href="{where}"><code>{self._title(entity)}</code></a></dt>'
                            f"<dd>{text}</dd>")
            if rows:
                out.append('<dl class="names">' + "".join(rows) + "</dl>")
        return "\n".join(out)

    def search_entries(self):
        """(name, kind, URL, text) of each name, for the search."""
        for file, entities in self.reference.files.items():
            for entity, leader, owner in _walk(entities):
                structor = owner and entity.name.lstrip("~") == owner.name
                if not structor and not self._says_nothing(leader):
                    where = f"{url_of(file)}#{self.names.anchors[id(entity)]}"
                    yield entity.qualified, entity.kind, where, plain(leader.comment)
