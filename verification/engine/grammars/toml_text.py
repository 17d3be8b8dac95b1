from __future__ import annotations

import re

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import Parsed, grammar
from verification.engine.grammars.templates import excused, mark_at
from verification.engine.grammars.text import MARKED, decoded, offset_of, sentence

_WIDE = "The file is {}, and TOML is UTF-8."
_NEWER = "It needs TOML 1.1, which many parsers do not read yet: {}"
_PLACED = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)
# A text that never closes is one token, too: it is searched once, not from each quote in it.
_TOKEN = re.compile(
    r'(?P<long>"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|' + r"'''.*?(?:'{3,5}|\Z))"
    r'|(?P<text>"(?:[^"\\\n]|\\[^\n])*+"?|' + r"'[^'\n]*+'?)"
    r"|(?P<comment>\#[^\n]*)|(?P<time>(?<![+\-\d:])\d\d:\d\d(?![:\d]))|(?P<mark>[{}\[\],\n])",
    re.DOTALL,
)
_ESCAPES = re.compile(r"\\(?:(?P<escape>e)|x(?P<code>[0-9A-Fa-f]{2})|.)", re.DOTALL)
_KEY = re.compile(r"\('[\w\-', ]*\)")
_KEY_PART = re.compile(r"'([\w\-]*)'")


@grammar("TOML", ".toml", bytes_per_second=250_000)
def parse_toml(_path: str, content: bytes) -> Parsed:
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        return (read,)
    if read.wide:
        return (SyntaxProblem(_WIDE.format(read.wide), 1, 1),)
    marked = (MARKED,) if read.has_mark else ()
    text = read.text.replace("\r\n", "\n")
    try:
        problem = _read(text)
        if problem is None:
            return marked
        if mark_at(text, offset_of(text, problem.line, problem.column)):
            return (*marked, excused(problem))
        return (*marked, _weigh(problem, text))
    except ValueError:
        return NotInspected("It holds a number that is too long to be read.")


def _weigh(problem: SyntaxProblem, text: str) -> SyntaxProblem:
    """Hold against the work only what TOML 1.1 refuses, too."""
    older = _as_older(text)
    if older == text:
        return problem
    refusal = _read(older)
    if refusal:
        # The first problem may be what 1.1 allows; this one is none of that.
        return refusal if refusal.line > problem.line else problem
    return SyntaxProblem(
        _NEWER.format(problem.message), problem.line, problem.column, certain=False
    )


def _read(text: str) -> SyntaxProblem | None:
    """Parse TOML 1.0.

    Raises:
        ValueError: a number is too long to be read.
    """
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return _problem(str(error), text)
    return None


def _problem(message: str, text: str) -> SyntaxProblem:
    placed = _PLACED.match(message)
    if placed and placed[2]:
        line, column = int(placed[2]), int(placed[3])
    else:
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    message = _KEY.sub(_dotted, placed[1] if placed else message)
    return SyntaxProblem(sentence(message), line, column)


def _dotted(key: re.Match[str]) -> str:
    return ".".join(_KEY_PART.findall(key.group()))


def _as_older(text: str) -> str:
    """Write in TOML 1.0 what 1.1 allows: inline tables over lines, short times, new escapes.

    Lines keep their numbers, except in an inline table over several lines.
    """
    pieces: list[str] = []
    open_marks: list[str] = []
    end = lines = 0
    for token in _TOKEN.finditer(text):
        pieces.append(text[end : token.start()])
        end = token.end()
        shown, in_table = token.group(), "{" in open_marks
        if token["time"]:
            shown = f"{shown}:00"
        elif token["comment"]:
            shown = "" if in_table else shown
        elif not token["mark"]:
            shown = _ESCAPES.sub(_older_escape, shown) if shown.startswith('"') else shown
        elif shown in "{[":
            open_marks.append(shown)
        elif shown == "\n" and in_table:
            shown, lines = " ", lines + 1
        elif shown in "}]" and open_marks:
            open_marks.pop()
            if shown == "}":
                _drop_last_comma(pieces)
            if "{" not in open_marks:
                shown, lines = shown + "\n" * lines, 0
        pieces.append(shown)
    return "".join((*pieces, text[end:]))


def _older_escape(escape: re.Match[str]) -> str:
    if escape["escape"]:
        return "\\u001b"
    return f"\\u00{escape['code']}" if escape["code"] else escape.group()


def _drop_last_comma(pieces: list[str]) -> None:
    filled = (at for at in range(len(pieces) - 1, -1, -1) if pieces[at].strip())
    last, before = next(filled, None), next(filled, None)
    if last is None or before is None or pieces[last] != ",":
        return
    # A comma without a value before it is no TOML of any version.
    if pieces[before].strip()[-1] not in "{,":
        pieces[last] = ""
