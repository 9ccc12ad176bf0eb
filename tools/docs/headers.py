# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The public names of the headers: Doxygen tells what there is, the header's text what it means.

The comment above a declaration, or behind it on its line, describes the declaration. Declarations
that follow without a blank line or a comment share the comment of the first one.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import licence  # noqa: E402
from cpp import blank_out  # noqa: E402

_HIDDEN_NAMESPACES = re.compile(r"^(?:std|pawl::(?:core|detail)|.*@\d*)(?:::|$)")
_ACCESS = re.compile(r"\s*(?:(?:public|protected|private)\s*:\s*)*")
_AS_ANOTHER = re.compile(r"As `?(\w+)`?\b")
_MUTED = re.compile(r"//\s*NOLINT")
_CODE_SPAN = re.compile(r"`([\w:]+)(?:\(\))?`|(?<![\w:`])([a-z]\w*(?:::\w+)+)")
_FOREIGN = re.compile(r"(?:std|asio|boost|io_context|error)::|\w+:(?!:)|"
                      r"(?:main|notify_fork|operation_aborted)$")
CLASSES = ("class", "struct", "concept")


@dataclass
class Entity:
    """One declared name, or several that share a comment."""
    kind: str  # class, struct, enum, function, variable, typedef, concept, enumvalue
    name: str  # without its scope
    scope: str  # as in pawl::client
    file: str
    line: int
    signature: str = ""
    leading: str = ""
    trailing: str = ""
    start: int = 0
    end: int = 0
    bases: list = field(default_factory=list)
    members: list = field(default_factory=list)
    also: list = field(default_factory=list)  # declarations that share this one's comment
    special: bool = False  # copies, moves, destroys, or is inherited: its name says all

    @property
    def qualified(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def comment(self):
        return "\n\n".join(text for text in (self.leading, self.trailing) if text)


class Source:
    """One header: its lines, and the same without comments and literals."""

    def __init__(self, path, root):
        self.path = path
        self.text = (root / path).read_text()
        self.lines = self.text.split("\n")
        self.code = blank_out(self.text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def line_of(self, offset):
        return bisect_right(self.starts, offset)

    def introduction(self):
        """The comment at the top of the file, behind the licence."""
        lines = licence.behind_lines(self.text).split("\n")
        return _comment(list(takewhile(lambda line: line.startswith("//"), lines)))

    def statement(self, line, column, kind):
        """(start, end) of the declaration around a place; the end is behind its last character."""
        at = self.starts[line - 1] + column - 1
        start = at
        while start > 0 and self.code[start - 1] not in ";{}":
            start -= 1
        start = _ACCESS.match(self.code, start).end()
        return start, self._end(start, kind)

    def _end(self, at, kind):
        depth = 0
        while at < len(self.code):
            char = self.code[at]
            if char in "([":
                depth += 1
            elif char in ")]":
                depth -= 1
            elif char == "{" and depth == 0 and kind != "variable":
                return self._behind_body(at)
            elif char == ";" and depth == 0:
                return at + 1
            elif char == "{":
                at = self._behind_brace(at) - 1
            at += 1
        return at

    def _behind_brace(self, at):
        depth = 0
        while at < len(self.code):
            depth += (self.code[at] == "{") - (self.code[at] == "}")
            at += 1
            if depth == 0:
                break
        return at

    def _behind_body(self, at):
        end = self._behind_brace(at)
        follow = re.compile(r"\s*;").match(self.code, end)
        return follow.end() if follow else end

    def above(self, start):
        """The comment lines directly above a declaration, as Markdown."""
        number = self.line_of(start) - 1  # counted from 0
        indent = len(self.lines[number]) - len(self.lines[number].lstrip())
        first = number
        while first > 0 and self.lines[first - 1].startswith(" " * indent + "//"):
            first -= 1
        return _comment([line for line in self.lines[first:number] if not _MUTED.search(line)])

    def behind(self, end):
        """The comment behind a declaration on its last line, with the lines that continue it."""
        number = self.line_of(end - 1) - 1
        rest = self.text[end:self.starts[number + 1] - 1]
        match = re.match(r"[\s,]*(//.*)$", rest)
        if not match or _MUTED.search(rest):
            return ""
        column = end - self.starts[number] + match.start(1)
        lines = [match[1]]
        while number + 1 < len(self.lines) and self.lines[number + 1].startswith(
                " " * column + "//") and self.lines[number + 1][:column].isspace():
            number += 1
            lines.append(self.lines[number])
        return _comment(lines)

    def joined(self, before, after):
        """Whether nothing but the end of a line, and trailing comments, lies between the two."""
        between = self.text[before:after].split("\n")
        return all(line.strip() for line in between[1:-1]) and not any(
            line.strip() and not self._continues(line, after) for line in between[1:-1])

    def _continues(self, line, after):
        number = self.line_of(after) - 1
        indent = len(self.lines[number]) - len(self.lines[number].lstrip())
        return line.lstrip().startswith("//") and (
            len(line) - len(line.lstrip()) > indent or _MUTED.search(line))

    def text_of(self, start, end, kind):
        """The declaration without its body."""
        if kind in ("class", "struct"):
            end = self.code.index("{", start)
        elif kind == "function":
            end = self._head_end(start, end)
        lines = self.text[start:end].rstrip().split("\n")
        indent = start - self.starts[self.line_of(start) - 1]
        kept = [line[indent:] if line[:indent].isspace() else line.strip() for line in lines[1:]]
        kept = [line for line in [lines[0], *kept] if not line.lstrip().startswith("//")]
        text = re.sub(r"\s*//[^\n]*$", "", "\n".join(kept), flags=re.M)
        return re.sub(r"\s*;$", "", text) + ";"

    def _head_end(self, start, end):
        depth = 0
        for at in range(start, end):
            char = self.code[at]
            depth += (char in "([") - (char in ")]")
            # A body, or what initializes members before it.
            if depth == 0 and (char == "{" or (
                    char == ":" and self.code[at - 1] == " " and self.code[at + 1] == " ")):
                return at
        return end


def _comment(lines):
    """The text of // lines. What is indented further than the first line stays so."""
    return "\n".join(re.sub(r"^\s*// ?", "", line).rstrip() for line in lines).strip()


class Reference:
    """All public names: `files` maps a header to its entities in the order of their text."""

    def __init__(self, xml, root):
        self.root = root
        self.sources = {}
        self.files = {}
        self._compounds = {}
        for path in sorted(Path(xml).glob("*.xml")):
            if path.name not in ("index.xml", "Doxyfile.xml"):
                compound = ElementTree.parse(path).getroot().find("compounddef")
                if compound is not None:
                    self._compounds[compound.get("id")] = compound
        self._bases = set()
        visible = [each for each in self._compounds.values() if each.get("kind") in CLASSES and
                   not _HIDDEN_NAMESPACES.match(each.findtext("compoundname"))]
        for compound in visible:  # which grows
            found = [self._compounds[name] for name in _base_ids(compound)
                     if name in self._compounds and name not in self._bases]
            self._bases.update(each.get("id") for each in found)
            visible += found
        for path in sorted((root / "include/pawl").rglob("*.hpp")):
            name = path.relative_to(root).as_posix()
            self.sources[name] = Source(Path(name), root)
        for compound in self._compounds.values():
            self._read(compound)
        for name, entities in self.files.items():
            self.files[name] = _gather(self.sources[name], entities)
        classes = {entity.qualified: entity for entities in self.files.values()
                   for entity in entities if entity.kind in CLASSES}
        for entity in classes.values():
            self._inherit_comments(entity, classes)
        self.classes = classes  # by their qualified names

    def _read(self, compound):
        kind = compound.get("kind")
        name = compound.findtext("compoundname")
        if "<" in name or _HIDDEN_NAMESPACES.match(name) and compound.get("id") not in self._bases:
            return
        if kind == "namespace":
            for member in compound.iter("memberdef"):
                self._add(self._member(member, name))
        elif kind in CLASSES:
            outer = name.rpartition("::")[0]
            if self._known(outer) or compound.get("prot") in ("private", "protected"):
                return
            self._add(self._class(compound), compound.get("id") in self._bases)

    def _known(self, name):
        return any(compound.findtext("compoundname") == name and compound.get("kind") in CLASSES
                   for compound in self._compounds.values())

    def _add(self, entity, is_base=False):
        """Of the details, only the bases of public classes are public."""
        if entity and (is_base or not is_detail(entity.file)):
            self.files.setdefault(entity.file, []).append(entity)

    def _class(self, compound):
        scope, _, name = compound.findtext("compoundname").rpartition("::")
        entity = self._entity(compound, compound.get("kind"), name, scope)
        if not entity:
            return None
        entity.bases = [self._compounds[name].findtext("compoundname")
                        for name in _base_ids(compound) if name in self._compounds]
        for member in compound.iter("memberdef"):
            child = self._member(member, entity.qualified)
            if child and member.get("prot") == "public":
                entity.members.append(child)
        for inner in compound.findall("innerclass"):
            if inner.get("prot") == "public":
                child = self._class(self._compounds[inner.get("refid")])
                if child:
                    entity.members.append(child)
        entity.members = _gather(self.sources[entity.file], entity.members)
        return entity

    @staticmethod
    def _inherit_comments(entity, classes):
        """A class that is `As other` shares the comments of the other's members."""
        match = _AS_ANOTHER.match(entity.comment)
        other = classes.get(f"{entity.scope}::{match[1]}") if match else None
        known = {each.name for member in other.members for each in [member, *member.also]} \
            if other else set()
        for member in entity.members:
            if not member.comment and member.name in known:
                member.leading = f"As `{other.name}::{member.name}`."

    def _member(self, element, scope):
        kind = element.get("kind")
        name = element.findtext("name")
        if kind == "friend" or not name or name.startswith("@"):
            return None
        entity = self._entity(element, kind, name, scope)
        if not entity:
            return None
        own = re.escape(scope.rpartition("::")[2])
        entity.special = name.startswith("~") or re.search(
            rf"=\s*(default|delete);$|operator=\(|^using \w+::\w+;$|\b{own}\((const )?{own} ?&",
            entity.signature) is not None
        if kind == "enum":
            entity.members = [self._enumerator(entity, each.findtext("name"))
                              for each in element.findall("enumvalue")]
        return entity

    def _entity(self, element, kind, name, scope):
        place = element.find("location")
        file = place.get("declfile") or place.get("file")
        source = self.sources.get(file)
        if not source:
            return None
        line = int(place.get("declline") or place.get("line"))
        column = int(place.get("declcolumn") or place.get("column") or 1)
        start, end = source.statement(line, column, kind)
        entity = Entity(kind, name, scope, file, source.line_of(start), start=start, end=end)
        entity.signature = source.text_of(start, end, kind)
        entity.leading = source.above(start)
        if kind not in CLASSES and kind != "enum":
            entity.trailing = source.behind(end)
        return entity

    def _enumerator(self, enum, name):
        source = self.sources[enum.file]
        body = source.code.index("{", enum.start)
        at = re.compile(rf"\b{name}\b").search(source.code, body, enum.end).start()
        end = re.compile(r"[^,}]*").match(source.code, at).end()
        entity = Entity("enumvalue", name, enum.qualified, enum.file, source.line_of(at),
                        start=at, end=end)
        entity.signature = source.code[at:end].rstrip()
        if source.line_of(at) != source.line_of(enum.start):
            entity.leading = source.above(at)
            entity.trailing = source.behind(at + len(entity.signature))
        return entity


def _base_ids(compound):
    return [base.get("refid") for base in compound.findall("basecompoundref")
            if base.get("prot") == "public"]


def is_detail(file):
    return file.startswith("include/pawl/detail/")


def _gather(source, entities):
    """In the order of the text, with those that share a comment in one."""
    out = []
    last = None
    for entity in sorted(entities, key=lambda each: (each.start, each.end)):
        same = last is not None and entity.start == last.start
        shares = (last is not None and not entity.comment and entity.kind != "enumvalue" and
                  entity.kind not in CLASSES and not entity.special and out[-1].leading and
                  (last is out[-1] or not last.trailing) and
                  source.joined(last.end, entity.start))
        if same or shares:
            out[-1].also.append(entity)
        else:
            out.append(entity)
        last = entity
    return out


def undocumented(entities, owner=None):
    """The names without a comment, as (entity, name with its scope)."""
    for entity in entities:
        told = entity.comment or entity.special or (
            entity.kind == "enumvalue" and re.search(rf"\b{entity.name}\b", owner.comment))
        if not told:
            yield entity
        if entity.kind in (*CLASSES, "enum"):
            yield from undocumented(entity.members, entity)


def unknown_names(reference):
    """(file, line, name) of each name that a comment mentions and no public header has."""
    known = {word for source in reference.sources.values()
             for word in re.findall(r"\w+", source.code)}
    for file, source in reference.sources.items():
        for number, line in enumerate(source.lines, 1):
            for match in _CODE_SPAN.finditer(line.partition("//")[2]):
                name = match[1] or match[2]
                if not _FOREIGN.match(name) and not known.issuperset(re.findall(r"\w+", name)):
                    yield file, number, name
