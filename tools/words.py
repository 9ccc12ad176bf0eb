# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The house rules for names. tools/tidy.py runs them over each C++ source and each Lua script.

A banned name does not say what it is. Members, parameters, functions and types may not have one,
nor locals that live for more than five lines, counted from the declaration to the last mention. A
lambda's parameter counts as a local. Old words for the library's terms may not come back as
identifiers or in the names of files.
"""
import re

from cpp import blocks, controlled

LONGEST_LIFE = 5
RULES = ("banned name", "old word", "old file name")

BANNED = ("what", "one", "here", "mine", "thing", "found", "said", "who")
# Old word -> the word for it. These are found within longer names, too, as in desk_of.
OLD_IMAGES = {
    "heir": "local_successor", "ear": "channel_listener", "ears": "channel_listeners",
    "doorbell": "notifier", "doorbells": "notifiers", "desk": "lock_session",
    "desks": "lock_sessions", "dwelling": "single_client_process",
    "dwellings": "single_client_processes", "inhabitant": "simulated_user",
    "inhabitants": "simulated_users", "tenancy": "a name for what it tests",
    "greeting": "handshake", "bid": "acquire_attempt", "bids": "acquire_attempts",
    "planted": "injected", "wish": "requested", "twins": "a name for the copy",
}
# These only as whole names. As parts of a name, or behind std::, they may be ordinary words.
OLD_NAMES = {
    "taken": "lease_handle", "visit": "acquire_attempt", "boost_link": "reconnecting_link",
    "latch_book": "latch_store", "store_line": "waiter_queue", "promises": "capabilities",
    "promised": "capabilities", "way_to": "capability_hint", "ways": "acquire",
    "asking": "async_operation", "saying": "request",
    "several": "acquire_batch", "chosen": "caller_value", "alarm": "wakeup", "ring": "notify",
    "chance": "random", "proof": "stored_value", "worlds": "scenarios", "spot": "position",
    "one_try": "polling", "give_back": "release", "let_go": "release_handle",
    "stand_in_line": "enqueue_waiter", "put_out_the_dead": "remove_expired_waiters",
}
_BANNED = re.compile(r"(?<![\w.])(?:%s)_?\b" % "|".join(BANNED))
_NAME = re.compile(r"[A-Za-z_]\w*")
_OF_STD = re.compile(r"\bstd::(?:\w+::)*$")
_NOT_A_TYPE = {"return", "co_return", "co_await", "co_yield", "throw", "delete", "new", "else",
               "case", "goto", "and", "or", "not", "operator", "sizeof", "do", "using"}


class _Source:
    """Where each declaration of a file is, and how long it lives."""

    def __init__(self, code):
        self.code = code
        self.blocks = sorted(((opened, closed, kind, code[start:opened])
                              for kind, start, opened, closed in blocks(code)))
        self.statements = list(controlled(code))

    def line(self, offset):
        return self.code.count("\n", 0, offset) + 1

    def block(self, offset):
        """The innermost block around an offset, or None at the top of the file."""
        around = [block for block in self.blocks if block[0] < offset < block[1]]
        return around[-1] if around else None

    def in_body(self, offset):
        return any(opened < offset < closed and kind in ("function", "lambda")
                   for opened, closed, kind, _ in self.blocks)

    def lambda_of(self, offset):
        """The block of the lambda whose head, from its [, has the offset; or None."""
        for opened, closed, kind, head in self.blocks:
            if kind == "lambda" and opened - len(head) <= offset < opened:
                intro = _LAMBDA_HEAD.search(head)
                if intro and opened - len(head) + intro.start() <= offset:
                    return opened, closed
        return None

    def last_line(self, name, offset):
        """The line of the last mention of a local."""
        inner = self.lambda_of(offset)
        end = inner[1] if inner else next(
            (end for first, last, end in self.statements if first <= offset < last), None)
        if end is None:
            end = self.block(offset)[1]
        mentions = [m.start() for m in re.finditer(rf"\b{name}\b", self.code[offset:end])]
        return self.line(offset + mentions[-1])


_LAMBDA_HEAD = re.compile(r"\[[^\[\]]*\]\s*(?:<[^{}]*>\s*)?(?:\([^{}]*\)[^{}()]*)?$", re.S)
_TYPE_BEFORE = re.compile(r"(?:(\w+)|[\w>][&*]+|[^\s\->]>+|\w\.\.\.)\s+$")
_NAME_ENDS = re.compile(r"\s*(?:[,);={:\[(]|>|$)")


def _is_declared(code, match):
    """Whether a name stands behind a type, as clang-format writes declarations."""
    after = code[match.end():match.end() + 40]
    if not _NAME_ENDS.match(after) or after.startswith("::") or after.lstrip().startswith("=="):
        return False
    text = code[max(0, match.start() - 200):match.start()]
    if match[0] == "what" and after.startswith("()") and text.endswith("char* "):
        return False  # std::exception's
    before = _TYPE_BEFORE.search(text)
    if not before or before[1] in _NOT_A_TYPE or (before[1] or "").isdigit():
        return False
    return not after.lstrip().startswith(">") or before[1] in ("typename", "class")


_BINDING = re.compile(r"\bauto\s*&{0,2}\s*\[([^\]]*)\]")
_CAPTURES = re.compile(r"\[([^\[\]]*)\]\s*(?=[({]|mutable\b|->)")
_CAPTURE = re.compile(r"(?:^|,)\s*&?\s*(\w+)\s*=(?!=)")
_ENUMERATOR = re.compile(r"(?:^|,)\s*(\w+)")


def _declarations(source):
    """(offset, name) for each declaration of a banned name."""
    code = source.code
    for match in _BANNED.finditer(code):
        if _is_declared(code, match):
            yield match.start(), match[0]
    inner = [(m.start(1) + n.start(), n[0])
             for m in _BINDING.finditer(code) for n in _NAME.finditer(m[1])]
    inner += [(m.start(1) + n.start(1), n[1])
              for m in _CAPTURES.finditer(code) for n in _CAPTURE.finditer(m[1])]
    for opened, closed, _, head in source.blocks:
        if re.search(r"\benum\b[^()]*$", head):
            inner += [(opened + 1 + n.start(1), n[1])
                      for n in _ENUMERATOR.finditer(code[opened + 1:closed])]
    for offset, name in inner:
        if _BANNED.fullmatch(name):
            yield offset, name


def check_names(path, code, report):
    """`code` comes from cpp.blank_out."""
    if _BANNED.search(code):
        source = _Source(code)
        for offset, name in sorted(set(_declarations(source))):
            first = source.line(offset)
            local = source.in_body(offset) or source.lambda_of(offset)
            if local:
                life = source.last_line(name, offset) - first + 1
                if life <= LONGEST_LIFE:
                    continue
                text = f"a local `{name}` that lives for {life} lines; say what it is"
            else:
                text = f"the name `{name}`; say what it is"
            report.error(path, first, text, "banned name")
    _check_old_words(path, code, report)


def _check_old_words(path, code, report):
    # Examples are users' programs, in which most of these are ordinary words.
    if path.parts[0] == "examples":
        return
    seen = set()
    for match in _NAME.finditer(code):
        name = match[0]
        if name in seen:
            continue
        word, better = _old_word(name)
        if word and not _OF_STD.search(code[max(0, match.start() - 40):match.start()]):
            seen.add(name)
            report.error(path, code.count("\n", 0, match.start()) + 1,
                         f"the old word `{name}`; say {better}", "old word")


_LUA_TEXT = re.compile(r"--[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_LUA_NAMES = re.compile(r"\b(?:local|for)\s+(?!function\b)([\w, ]+)")
_LUA_FUNCTION = re.compile(r"\bfunction\b\s*([\w.]*)\s*\(([^)]*)\)")


def check_lua_names(path, text, report):
    """A parameter or a function may not have a banned name, nor a local of more than five lines."""
    code = _LUA_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for match in _LUA_FUNCTION.finditer(code):
        for name in _NAME.findall(f"{match[1]} {match[2]}"):
            if _BANNED.fullmatch(name):
                report.error(path, code.count("\n", 0, match.start()) + 1,
                             f"the name `{name}`; say what it is", "banned name")
    declared = [(m.start(1) + n.start(), n[0])
                for m in _LUA_NAMES.finditer(code) for n in _NAME.finditer(m[1])]
    for at, (offset, name) in enumerate(declared):
        if not _BANNED.fullmatch(name):
            continue
        end = next((later for later, same in declared[at + 1:] if same == name), len(code))
        mentions = list(re.finditer(rf"(?<![.\w]){name}\b", code[offset:end]))
        life = code.count("\n", offset, offset + mentions[-1].start()) + 1
        if life > LONGEST_LIFE:
            report.error(path, code.count("\n", 0, offset) + 1,
                         f"a local `{name}` that lives for {life} lines; say what it is",
                         "banned name")
    _check_old_words(path, code, report)


def _old_word(name):
    plain = name.strip("_")
    if plain in OLD_NAMES:
        return plain, OLD_NAMES[plain]
    for part in plain.split("_"):
        if part in OLD_IMAGES:
            return part, OLD_IMAGES[part]
    return None, None


def check_file_name(path, report):
    for part in (*path.parts[:-1], path.name.split(".")[0].removesuffix("_test")):
        word, better = _old_word(part)
        if word:
            report.error(path, 1, f"the old word `{word}` in a path; say {better}", "old file name")
