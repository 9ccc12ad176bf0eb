# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Just enough reading of C++ for the house rules: comments, blocks, functions, lambdas."""
import re

_RAW = re.compile(r'R"([^()\\ ]{0,16})\(')
_LAMBDA = re.compile(
    r"\[[^\[\]]*\]\s*(?:<[^{}]*>\s*)?(?:\([^{}]*\)\s*)?(?:(?:mutable|constexpr|noexcept)\s*)*"
    r"(?:->\s*[^{}]+?)?\s*$", re.S)
_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")
_CONTROL = re.compile(r"(?:^|[\s;{}])(?:if|for|while|switch|catch|else|do|try)\b")
_BEFORE_HEAD = re.compile(r"(?:\s|(?:public|private|protected)\s*:)*")


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def _end_of_string(text, at):
    """The offset behind the string or character literal that begins at `at`."""
    quote = text[at]
    end = at + 1
    while end < len(text) and text[end] not in (quote, "\n"):
        end += 2 if text[end] == "\\" else 1
    return min(end + 1, len(text))


def _token_end(text, at):
    """The offset behind the comment or literal at `at`; `at` itself where there is none."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    if text[at] == '"':
        return _end_of_string(text, at)
    # Not the digit separator of 1'000.
    if text[at] == "'" and not (at > 0 and text[at - 1].isalnum() and text[at + 1:at + 2].isalnum()
                                and text[at - 1] not in "uUL"):
        return _end_of_string(text, at)
    return at


_LITERAL = re.compile(r"//|/\*|[\"']|R\"")


def _literals(text):
    """(offset, offset behind it) of every comment and literal."""
    at = 0
    while match := _LITERAL.search(text, at):
        at = match.start()
        raw = _RAW.match(text, at)
        if raw and not (at > 0 and text[at - 1].isalnum()):
            mark = ")" + raw[1] + '"'
            end = text.find(mark, raw.end())
            end = len(text) if end < 0 else end + len(mark)
        else:
            end = _token_end(text, at)
        if end > at:
            yield at, end
        at = max(end, at + 1)


def blank_out(text):
    """The same text, line for line, with blanks for comments, literals and preprocessor lines."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: _blank(m[0]), text, flags=re.M)
    out = []
    done = 0
    for at, end in _literals(text):
        out += (text[done:at], _blank(text[at:end]))
        done = end
    return "".join(out) + text[done:]


def comments(text):
    """(offset, text without its marks) of every comment."""
    for at, end in _literals(text):
        if text.startswith(("//", "/*"), at):
            yield at, re.sub(r"^/[/*]+|\*/$|^[ \t]*\*(?=\s)", "", text[at:end], flags=re.M)


def blocks(code):
    """(kind, start of head, open brace, close brace) for each {…}, inner ones first."""
    stack = []
    head = 0
    parens = []
    for at, char in enumerate(code):
        if char == "(":
            parens.append(at)
        elif char == ")":
            if parens:
                parens.pop()
        elif char == "{":
            kind = _kind(code[head:at], [entry[0] for entry in stack])
            stack.append((kind, head, at, parens))
            parens = []
            head = at + 1
        elif char == "}":
            if stack:
                kind, start, opened, parens = stack.pop()
                yield kind, start, opened, at
                # A function's head cannot go on behind its body; an initializer's can.
                if kind != "other":
                    head = at + 1
                elif not parens:
                    head = start
        elif char == ";" and not parens:
            head = at + 1


def _kind(head, enclosing):
    if _LAMBDA.search(head) and not re.search(r"\w\s*\[[^\[\]]*\]\s*$", head):
        return "lambda"
    if all(kind == "scope" for kind in enclosing):
        plain = re.sub(r"\b(?:alignas|requires)\s*\([^)]*\)", "", head)
        if _SCOPE.search(head) and "(" not in plain:
            return "scope"
        if "(" in head and "=" not in re.sub(r"operator\s*\W+|[=!<>]=|\([^()]*\)", "", head):
            return "function"
    return "control" if _CONTROL.search(head) else "other"


def _line(code, offset):
    return code.count("\n", 0, offset) + 1


def functions(code):
    """(first line, last line) of every function body with its head; `code` comes from blank_out."""
    for kind, start, _, closed in blocks(code):
        if kind == "function":
            first = _BEFORE_HEAD.match(code, start).end()
            yield _line(code, first), _line(code, closed)


def lambdas(code):
    """(line, body) of every lambda, without the bodies of lambdas inside it."""
    inner = []
    for kind, _, opened, closed in blocks(code):
        if kind != "lambda":
            continue
        body = list(code[opened:closed + 1])
        for first, last in inner:
            if opened < first and last < closed:
                for at in range(first - opened, last + 1 - opened):
                    body[at] = body[at] if body[at] == "\n" else " "
        inner.append((opened, closed))
        yield _line(code, opened), "".join(body)


_CONDITION = re.compile(r"\b(?:if|while|for|switch)\b\s*(?:constexpr\b\s*)?\(")
_OPENERS, _CLOSERS = "([{", ")]}"


def _reach(code, at, step):
    """The offset before which the expression at `at` ends, going forward or (step -1) backward."""
    inward, outward = (_OPENERS, _CLOSERS) if step > 0 else (_CLOSERS, _OPENERS)
    depth = 0
    while 0 <= at < len(code):
        char = code[at]
        # Backward, a brace is the end of a block before this statement.
        if depth == 0 and (char in ";," or char in outward or (step < 0 and char == "}")):
            break
        depth += (char in inward) - (char in outward)
        at += step
    return at


def _behind_parenthesis(code, at):
    """The offset behind the `)` for the `(` that is just before `at`."""
    depth = 1
    while at < len(code) and depth > 0:
        depth += (code[at] == "(") - (code[at] == ")")
        at += 1
    return at


def conditions(code):
    """(offset, text) of what is in the parentheses of if, while, for and switch."""
    for match in _CONDITION.finditer(code):
        yield match.start(), code[match.end():_behind_parenthesis(code, match.end())]


def conditional_expressions(code):
    """(offset, text) of every c ? a : b."""
    for at, char in enumerate(code):
        if char == "?":
            first = _reach(code, at - 1, -1) + 1
            # Not what the value is assigned to, or returned by.
            head = re.match(r".*(?<![=!<>])=(?!=)|\s*co_return\b", code[first:at], re.S)
            first += head.end() if head else 0
            yield at, code[first:_reach(code, at + 1, 1)]


_STATEMENT = re.compile(r"\b(?:if|while|for|switch|catch)\b\s*(?:constexpr\b\s*)?\(")
_BRACES = re.compile(r"[{}]")


def controlled(code):
    """(first, last, end) for each if, loop and catch: its parentheses, and its body's end."""
    for match in _STATEMENT.finditer(code):
        behind = _behind_parenthesis(code, match.end())
        end = behind
        if code[behind:].lstrip().startswith("{"):
            depth = 0
            for brace in _BRACES.finditer(code, behind):
                depth += 1 if brace[0] == "{" else -1
                end = brace.end()
                if depth == 0:
                    break
        else:
            end = _reach(code, behind, 1)
        yield match.end(), behind, end
