# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Colours for code: each token of a kind in a <span>. Unknown languages stay plain."""
import html
import re

_CPP_WORDS = (
    "alignas|auto|bool|break|case|catch|char|class|concept|const|constexpr|continue|co_await|"
    "co_return|co_yield|decltype|default|delete|do|double|else|enum|explicit|false|final|float|"
    "for|friend|if|inline|int|long|mutable|namespace|new|noexcept|nullptr|operator|override|"
    "private|protected|public|requires|return|short|signed|sizeof|static|static_assert|struct|"
    "switch|template|this|throw|true|try|typename|union|unsigned|using|virtual|void|while")
_SHELL_WORDS = "case|do|done|elif|else|esac|exec|export|fi|for|function|if|in|then|until|while"
_LUA_WORDS = ("and|break|do|else|elseif|end|false|for|function|if|in|local|nil|not|or|repeat|"
              "return|then|true|until|while")
_PYTHON_WORDS = ("and|as|class|def|elif|else|except|False|for|from|if|import|in|is|lambda|None|"
                 "not|or|pass|raise|return|True|try|while|with|yield")
_SQL_WORDS = ("ADD|ALTER|AND|BEGIN|BY|COLUMN|COMMIT|CREATE|DEFAULT|DELETE|FROM|IN|INSERT|INTEGER|"
              "INTO|KEY|NOT|NULL|OR|ORDER|PRIMARY|SELECT|SET|TABLE|TEXT|UPDATE|VALUES|WHERE")
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_QUOTED = r"'(?:[^'\\\n]|\\.)*'"
_HASH = r"(?<![\w$\\{])#[^\n]*"


def _grammar(comment, string, words, more=()):
    kinds = [("comment", comment), ("string", string), *more,
             ("number", r"\b\d[\w.']*"), ("keyword", rf"\b(?:{words})\b")]
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds if pattern))


_CPP = _grammar(r"//[^\n]*|/\*[\s\S]*?\*/", rf"{_STRING}|(?<![\w]){_QUOTED}", _CPP_WORDS,
                [("directive", r"(?m:^[ \t]*#[ \t]*\w+)(?:[ \t]*<[^>\n]*>)?")])
_SHELL = _grammar(_HASH, rf"{_STRING}|{_QUOTED}", _SHELL_WORDS,
                  [("variable", r"\$\{?\w+\}?"), ("option", r"(?<![\w-])--?[a-zA-Z][\w-]*")])
_PYTHON = _grammar(_HASH, rf'"""[\s\S]*?"""|{_STRING}|{_QUOTED}', _PYTHON_WORDS)
_LUA = _grammar(r"--[^\n]*", rf"{_STRING}|{_QUOTED}", _LUA_WORDS)
_SQL = _grammar(r"--[^\n]*", _QUOTED, _SQL_WORDS, [("variable", r":\w+")])
_CMAKE = _grammar(_HASH, _STRING, "PRIVATE|PUBLIC|INTERFACE|REQUIRED|COMPONENTS",
                  [("directive", r"(?m:^\s*\w+(?=\())"), ("variable", r"\$\{\w+\}")])
_JSON = _grammar("", "", "true|false|null",
                 [("directive", rf"{_STRING}(?=\s*:)"), ("text", _STRING)])
_GRAMMARS = {"cpp": _CPP, "hpp": _CPP, "java": _CPP, "sh": _SHELL, "bash": _SHELL, "lua": _LUA,
             "py": _PYTHON, "python": _PYTHON, "sql": _SQL, "cmake": _CMAKE, "json": _JSON}


def tokens(code, language):
    """(kind, text) of the whole code; the kind of what is between tokens is None."""
    grammar = _GRAMMARS.get(language)
    at = 0
    for match in grammar.finditer(code) if grammar else ():
        if match.start() > at:
            yield None, code[at:match.start()]
        yield ("string" if match.lastgroup == "text" else match.lastgroup), match[0]
        at = match.end()
    if at < len(code):
        yield None, code[at:]


def highlight(code, language, link=None):
    """HTML of the code. `link(text)` turns the words between the tokens into HTML."""
    out = []
    for kind, text in tokens(code, language):
        if kind is None:
            out.append(link(text) if link else html.escape(text, quote=False))
        else:
            out.append(f'<span class="{kind}">{html.escape(text, quote=False)}</span>')
    return "".join(out)
