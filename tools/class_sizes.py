#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""How many private functions and data members each class of src has. ./dev tidy checks the limits.

As a program: prints the classes of the given folders (src), the largest first.
"""
import re
import sys
from pathlib import Path

from cpp import blank_out

PRIVATE_FUNCTIONS, DATA_MEMBERS = 30, 20

_HEAD = re.compile(r"\b(class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?([A-Za-z_][\w:]*)[^;{}()=]*\{")
_ACCESS = re.compile(r"\s*(public|protected|private)\s*:")
_NO_MEMBER = re.compile(
    r"^(?:using|friend|typedef|static_assert|enum|class|struct|union|template\s*<[^;]*>\s*"
    r"(?:class|struct|friend|using))\b")
_OPERATOR = re.compile(r"\boperator\s*\(\)|\boperator\b")


def _end_of_block(code, opened):
    depth = 0
    for at in range(opened, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if depth == 0:
            return at
    return len(code)


def _without_initializers(text):
    """A declaration up to its initializer or body, without template arguments and attributes."""
    text = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)", " ", text, flags=re.S)
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}]*>", " ", text)
    return text


def _is_function(declaration):
    text = _without_initializers(declaration)
    if _OPERATOR.search(text):
        return True
    head = re.split(r"=|\{", text, maxsplit=1)[0]
    # A pointer to a function is data.
    return "(" in head and not re.match(r"[^(]*\(\s*\*", head)


def _members(code, opened, closed):
    """(access is private, declaration) of each member of the block, without nested classes."""
    private = re.search(r"\bclass\b[^;{}]*$", code[:opened]) is not None
    at = opened + 1
    start = at
    depth = 0
    while at < closed:
        if depth == 0:
            access = _ACCESS.match(code, start)
            if access and access.end() <= closed and access.end() > at - 1:
                private = access[1] == "private"
                at = start = access.end()
                continue
        char = code[at]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "{" and depth == 0:
            head = code[start:at]
            end = _end_of_block(code, at)
            is_body = _is_function(head) or _NO_MEMBER.match(head.strip())
            at = end
            if is_body:
                rest = re.match(r"\}\s*;?", code[at:])
                yield private, head.strip()
                at += rest.end()
                start = at
                continue
        elif char == ";" and depth == 0:
            yield private, code[start:at].strip()
            start = at + 1
        at += 1


def classes(text):
    """(line, name, private functions, data members) of each class that the text defines."""
    code = blank_out(text)
    for head in _HEAD.finditer(code):
        if re.search(r"\benum\s+$", code[:head.start()]):
            continue
        opened = head.end() - 1
        functions = data = 0
        for private, declaration in _members(code, opened, _end_of_block(code, opened)):
            if not declaration or _NO_MEMBER.match(declaration):
                continue
            if _is_function(declaration):
                functions += private and "= delete" not in declaration
            elif not re.match(r"static\s+constexpr|constexpr\s+static|inline\s+static|static\b",
                              declaration):
                data += 1 + _without_initializers(declaration.split("=")[0]).count(",")
        yield code.count("\n", 0, head.start()) + 1, head[2], functions, data


def too_large(text):
    """(line, sentence) of each class that is above the limits."""
    for line, name, functions, data in classes(text):
        if functions > PRIVATE_FUNCTIONS:
            yield line, f"{name} has {functions} private functions; at most {PRIVATE_FUNCTIONS}"
        if data > DATA_MEMBERS:
            yield line, f"{name} has {data} data members; at most {DATA_MEMBERS}"


def main(arguments):
    found = []
    for folder in arguments or ["src"]:
        for path in sorted(Path(folder).rglob("*.[ch]pp")):
            for line, name, functions, data in classes(path.read_text()):
                found.append((functions, data, f"{path}:{line} {name}"))
    print("private functions, data members")
    for functions, data, place in sorted(found, reverse=True):
        if functions > PRIVATE_FUNCTIONS // 2 or data > DATA_MEMBERS // 2:
            print(f"{functions:4} {data:4}  {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
