# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The part of Markdown that the pages use: blocks, lists, tables, code, links and pictures."""
import html
import re
from dataclasses import dataclass, field

from highlight import highlight

_FENCE = re.compile(r"^( *)(```|~~~)\s*(\w*)\s*$")
_ITEM = re.compile(r"^( *)([-*+]|\d+[.)])( +)(.*)$")
_INTERRUPTS = re.compile(r"^ *([-*+]|1[.)]) ")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_DELIMITERS = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-*:?\s*)*$")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_CODE = re.compile(r"(`+)(.+?)\1(?!`)", re.S)
_LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]*)(?:\s+"([^"]*)")?\)')
_AUTOMATIC = re.compile(r"&lt;(https?://[^&\s]+)&gt;")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>-])")
_RAW = re.compile(r"&lt;(/?(?:sub|sup|kbd|br) ?/?)&gt;")


def anchor(heading):
    """The fragment that the usual viewers make of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


@dataclass
class Section:
    """A heading and the plain text up to the next one."""
    level: int
    title: str
    anchor: str
    text: list = field(default_factory=list)


class Markdown:
    """Renders one page. `link(target)` and `code(text)` connect it with the rest of the site."""

    def __init__(self, link=lambda target: target, code=lambda text: None):
        self.link = link
        self.code = code
        self.sections = [Section(0, "", "")]
        self._anchors = {}

    def render(self, text):
        return "\n".join(self._blocks(_COMMENT.sub("", text).split("\n")))

    def inline(self, text):
        """HTML of a line. What is finished waits in `kept`, so that no later rule changes it."""
        kept = []

        def keep(piece):
            kept.append(piece)
            return f"\0{len(kept) - 1}\0"

        text = _CODE.sub(lambda m: keep(self._code_span(m[2])), text)
        text = _ESCAPED.sub(lambda m: keep(html.escape(m[1])), text)
        text = html.escape(text, quote=False)
        text = _AUTOMATIC.sub(lambda m: keep(f'<a href="{m[1]}">{m[1]}</a>'), text)
        text = _RAW.sub(lambda m: keep(f"<{m[1]}>"), text)
        text = _LINK.sub(lambda m: self._link(m, keep), text)
        text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text, flags=re.S)
        text = re.sub(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])", r"<em>\1</em>", text,
                      flags=re.S)
        text = re.sub(r" {2,}\n", "<br>\n", text)
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], text)
        return text

    def _code_span(self, text):
        text = text.strip() or text
        linked = self.code(re.sub(r"\s+", " ", text))
        return linked or f"<code>{html.escape(text, quote=False)}</code>"

    def _link(self, match, keep):
        picture, label, target, title = match.groups()
        where = html.escape(self.link(html.unescape(target)))
        if picture:
            return keep(f'<img src="{where}" alt="{html.escape(label)}">')
        title = f' title="{html.escape(title)}"' if title else ""
        # A code span inside a link must not become a second link.
        return keep(f'<a href="{where}"{title}>') + label + keep("</a>")

    def _note(self, line):
        self.sections[-1].text.append(line)

    def _blocks(self, lines):
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
                continue
            for reader in (self._fence, self._indented, self._heading, self._rule, self._quote,
                           self._list, self._table, self._paragraph):
                block, after = reader(lines, at)
                if after > at:
                    yield block
                    at = after
                    break

    def _fence(self, lines, at):
        opened = _FENCE.match(lines[at])
        if not opened:
            return "", at
        end = at + 1
        while end < len(lines) and lines[end].strip() != opened[2]:
            end += 1
        indent = len(opened[1])
        code = "\n".join(each[indent:] if each[:indent].isspace() or not indent else each
                         for each in lines[at + 1:end])
        self._note(code)
        kind = f' class="{opened[3]}"' if opened[3] else ""
        return f"<pre{kind}><code>{highlight(code, opened[3])}</code></pre>", end + 1

    def _indented(self, lines, at):
        end = at
        while end < len(lines) and (lines[end].startswith("    ") or (
                not lines[end].strip() and end > at and
                end + 1 < len(lines) and lines[end + 1].startswith("    "))):
            end += 1
        if end == at:
            return "", at
        code = "\n".join(line[4:] for line in lines[at:end])
        self._note(code)
        return f'<pre class="cpp"><code>{highlight(code, "cpp")}</code></pre>', end

    def _heading(self, lines, at):
        match = _HEADING.match(lines[at])
        if not match:
            return "", at
        name = anchor(match[2])
        count = self._anchors[name] = self._anchors.get(name, -1) + 1
        name = f"{name}-{count}" if count else name
        level = len(match[1])
        title = self.inline(match[2])
        self.sections.append(Section(level, re.sub(r"<[^>]*>", "", title), name))
        mark = f'<a class="mark" href="#{name}" aria-label="Link to this section">#</a>'
        return f'<h{level} id="{name}">{title}{mark}</h{level}>', at + 1

    @staticmethod
    def _rule(lines, at):
        return ("<hr>", at + 1) if re.match(r"^ *([-*_])( *\1){2,} *$", lines[at]) else ("", at)

    def _quote(self, lines, at):
        end = at
        while end < len(lines) and lines[end].startswith(">"):
            end += 1
        inner = [re.sub(r"^> ?", "", each) for each in lines[at:end]]
        return ("<blockquote>" + "\n".join(self._blocks(inner)) + "</blockquote>", end) if inner \
            else ("", at)

    def _list(self, lines, at):
        first = _ITEM.match(lines[at])
        if not first:
            return "", at
        ordered = first[2][0].isdigit()
        items = []
        loose = False
        while at < len(lines):
            item = _ITEM.match(lines[at])
            if not item or _kind(item) != _kind(first):
                break
            body, after = self._item(lines, at, item)
            loose = loose or any(not each.strip() for each in body)
            items.append(body)
            at = after
            following = at
            while following < len(lines) and not lines[following].strip():
                following += 1
            again = following < len(lines) and _ITEM.match(lines[following])
            if again and following > at and _kind(again) == _kind(first):
                loose = True
                at = following
        rendered = [self._item_html(body, loose) for body in items]
        start = int(re.match(r"\d+", first[2])[0]) if ordered else 1
        tag = "ol" if ordered else "ul"
        opening = f'<ol start="{start}">' if start != 1 else f"<{tag}>"
        return opening + "".join(f"<li>{each}</li>" for each in rendered) + f"</{tag}>", at

    @staticmethod
    def _item(lines, at, item):
        """The lines of one item without their indentation, and the line behind it."""
        indent = len(item[1]) + len(item[2]) + min(len(item[3]), 4)
        body = [item[4]]
        at += 1
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                behind = at
                while behind < len(lines) and not lines[behind].strip():
                    behind += 1
                if behind == len(lines) or _indent(lines[behind]) < indent:
                    break
                body += [""] * (behind - at)
                at = behind
                continue
            inside = _indent(line) >= indent
            if not inside and (_ITEM.match(line) or _HEADING.match(line) or _FENCE.match(line)):
                break
            body.append(line[indent:] if inside else line.lstrip())
            at += 1
        return body, at

    def _item_html(self, body, loose):
        blocks = list(self._blocks(body))
        if not loose and blocks and blocks[0].startswith("<p>"):
            blocks[0] = blocks[0][len("<p>"):-len("</p>")]
        return "\n".join(blocks)

    def _table(self, lines, at):
        if "|" not in lines[at] or at + 1 >= len(lines) or not _DELIMITERS.match(lines[at + 1]):
            return "", at
        sides = [self._side(cell) for cell in _cells(lines[at + 1])]
        rows = []
        end = at
        while end < len(lines) and "|" in lines[end]:
            if end != at + 1:
                rows.append(_cells(lines[end]))
                self._note(lines[end])
            end += 1
        out = ['<div class="wide"><table>']
        for number, row in enumerate(rows):
            tag = "td" if number else "th"
            row += [""] * (len(sides) - len(row))
            cells = "".join(f"<{tag}{side}>{self.inline(cell)}</{tag}>"
                            for cell, side in zip(row, sides))
            if number == 0 and not any(cell.strip() for cell in row):
                continue
            out.append(f"<tr>{cells}</tr>")
        return "\n".join(out) + "</table></div>", end

    @staticmethod
    def _side(cell):
        if cell.endswith(":"):
            return f' class="{"middle" if cell.startswith(":") else "right"}"'
        return ""

    def _paragraph(self, lines, at):
        end = at + 1
        while end < len(lines) and lines[end].strip() and not (
                _FENCE.match(lines[end]) or _HEADING.match(lines[end]) or
                _INTERRUPTS.match(lines[end]) or lines[end].startswith(">")):
            end += 1
        text = "\n".join(line.strip() if not line.endswith("  ") else line.lstrip()
                         for line in lines[at:end])
        self._note(text)
        return f"<p>{self.inline(text)}</p>", end


def _kind(item):
    return len(item[1]), item[2][0].isdigit()


def _indent(line):
    return len(line) - len(line.lstrip())


def _cells(line):
    line = re.sub(r"^\s*\||\|\s*$", "", line)
    # A bar inside code, or behind a backslash, is text.
    kept = []
    line = re.sub(r"\\\||(`+)(?:.+?)\1(?!`)",
                  lambda m: kept.append(m[0]) or f"\0{len(kept) - 1}\0", line)
    cells = [cell.strip() for cell in line.split("|")]
    return [re.sub(r"\0(\d+)\0", lambda m: "|" if kept[int(m[1])] == "\\|" else
                   kept[int(m[1])].replace("\\|", "|"), cell) for cell in cells]


def plain(text):
    """The words of Markdown text, for the search."""
    text = _COMMENT.sub("", text)
    text = _LINK.sub(lambda m: m[2], text)
    text = re.sub(r"^[-\s|:]+$|[`*|]", " ", text, flags=re.M)
    return re.sub(r"\s+", " ", text).strip()
