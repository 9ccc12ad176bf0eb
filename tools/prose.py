# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The house rules for prose. tools/tidy.py runs them over pages and over the comments of sources.

A sentence of a page has at most 35 words. The phrase "makes no sense" occurs nowhere. Old words for
the library's terms may not come back.

No clause with "who" stands without a noun before it. Such a clause is recognised where "who" begins
a sentence that is no question, or follows a semicolon, a preposition, "that", or a verb such as
"wakes". "Knows who" and "tells who" are indirect questions, "those who" and "all who" have a
pronoun; these are allowed.
"""
import re

from cpp import comments

LONGEST_SENTENCE = 35
RULES = ("makes no sense", "long sentence", "who without a noun", "old word in prose")

OLD_WORDS = {"heir": "local successor", "heirs": "local successors", "doorbell": "notifier",
             "doorbells": "notifiers", "dwelling": "process", "dwellings": "processes",
             "inhabitant": "simulated user", "inhabitants": "simulated users",
             "tenancy": "hold", "planted": "injected", "desk": "lock session",
             "desks": "lock sessions"}
_OLD = re.compile(r"\b(?:%s)\b" % "|".join(OLD_WORDS), re.I)
_NO_SENSE = re.compile(r"\bmakes?\s+no\s+sense\b")

_SENTENCE_END = re.compile(r"[.!?][\"')\]*_]*\s+(?=[\"'(\[*_]*[\w`])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|[A-Z])|\.\.)\.\s*$")
_WORD = re.compile(r"\S*\w\S*")

_PREPOSITIONS = ("about|after|against|at|because|before|behind|besides?|between|but|by|except|"
                 "for|from|if|in|into|like|of|on|than|that|to|under|unless|until|upon|when|"
                 "with|without")
_VERBS = ("count|drop|find|free|go|grant|help|keep|leave|let|reach|refuse|release|remove|serve|"
          "skip|stop|wake")
_BEFORE_WHO = re.compile(
    rf"(?:;|\b(?i:{_PREPOSITIONS}|(?:{_VERBS})(?:s|es)?|kept|left|served|woken))\s+who\b")


def _spaced(match):
    return "`x`" + "\n" * match[0].count("\n")


def plain(text):
    """Markdown without what is no prose; the lines stay."""
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r"(?s)(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", _spaced, text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    return re.sub(r"</?\w[^<>\n]*>", "", text)


def man_page(text):
    """A page of the manual as if it were Markdown, line for line."""
    out = []
    verbatim = False
    for line in text.split("\n"):
        macro, _, rest = line.partition(" ")
        tag = bool(out) and out[-1] == "<tag>"
        verbatim = macro == ".nf" or (verbatim and macro != ".fi")
        if macro in (".B", ".I", ".BR", ".BI", ".IR", ".IB", ".RB", ".RI"):
            line = rest
        elif macro == ".TP":
            line = "<tag>"
        elif verbatim or line.startswith((".", "'")):
            line = ""
        out.append(("# " if tag else "") + re.sub(r"\\f[BIRP]|\\&", "", line).replace("\\-", "-"))
    return "\n".join("" if line == "<tag>" else line for line in out)


_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def paragraphs(text):
    """(line, text, whether it is a heading) of a page's blocks; each cell of a table is one."""
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.S | re.M)
    block = []
    first = 0
    in_list = False
    for number, line in enumerate(plain(text).split("\n") + [""], 1):
        line = re.sub(r"^(?:> ?)+", "", line)
        item = _ITEM.match(line)
        alone = line.startswith(("#", "|")) or re.fullmatch(r"\s*[=-]{3,}\s*", line)
        if block and (not line.strip() or item or alone):
            yield first, "\n".join(block), False
            block = []
        in_list = bool(item) or (in_list and (not line or line[0] == " "))
        if line.startswith("#"):
            yield number, line.lstrip("# "), True
        elif line.startswith("|"):
            for cell in line.strip("|").split("|"):
                yield number, cell, False
        elif line.strip() and not alone and (block or in_list or not line.startswith("    ")):
            first = first if block else number
            block.append(_ITEM.sub("", line))


def sentences(text):
    """(offset, sentence)."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[start:match.end()]):
            yield start, text[start:match.end()].rstrip()
            start = match.end()
    if text[start:].strip():
        yield start, text[start:].rstrip()


def _single_remarks(path, text):
    """(offset, text) of the comments, line by line where a line is a comment."""
    if path.suffix in (".cpp", ".hpp", ".java", ".go", ".js", ".pml"):
        yield from comments(text)
        return
    mark = "--" if path.suffix == ".lua" else "#(?!!)"
    yield from ((m.start(1), m[1]) for m in re.finditer(rf"^[ \t]*{mark} ?(.*)$", text, re.M))
    if path.suffix == ".py":
        yield from ((m.start(), m[1])
                    for m in re.finditer(r'^\s*"""(.*?)"""', text, re.S | re.M))


def remarks(path, text):
    """(line, text) of the comments; those on lines one below the other are one."""
    block, first, last = [], 0, 0
    for at, remark in sorted(_single_remarks(path, text)):
        line = text.count("\n", 0, at) + 1
        if block and (line != last + 1 or not remark.strip()):
            yield first, "\n".join(block)
            block = []
        first = first if block else line
        block.append(remark.strip())
        last = line + remark.count("\n")
    if block:
        yield first, "\n".join(block)


def lone_who(sentence):
    """The offset of a "who" without a noun before it, or None."""
    if sentence.rstrip("\"')*_ ").endswith("?"):
        return None
    opening = re.match(r"\W*Who\b", sentence)
    if opening:
        return opening.end() - 3
    match = _BEFORE_WHO.search(sentence)
    return match.end() - 3 if match else None


def _check_words(path, first, text, report):
    for at, sentence in sentences(text):
        who = lone_who(sentence)
        if who is not None:
            report.error(path, first + text.count("\n", 0, at + who),
                         "\"who\" without a noun before it; name the client, the waiter, the owner",
                         "who without a noun")
    for match in _OLD.finditer(text):
        report.error(path, first + text.count("\n", 0, match.start()),
                     f"the old word \"{match[0]}\"; say {OLD_WORDS[match[0].lower()]}",
                     "old word in prose")


def check_phrases(path, text, report):
    for match in _NO_SENSE.finditer(text):
        report.error(path, text.count("\n", 0, match.start()) + 1,
                     f"\"{' '.join(match[0].split())}\"; say what is allowed", "makes no sense")


def check_comments(path, text, report):
    for line, remark in remarks(path, text):
        _check_words(path, line, remark, report)


def check_page(path, text, report):
    for first, block, heading in paragraphs(text):
        if not heading:
            _check_words(path, first, block, report)
        for at, sentence in sentences(block):
            count = len(_WORD.findall(sentence))
            if count > LONGEST_SENTENCE:
                report.error(path, first + block.count("\n", 0, at),
                             f"a sentence of {count} words; at most {LONGEST_SENTENCE}",
                             "long sentence")
