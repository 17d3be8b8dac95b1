from __future__ import annotations

import re

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import Parsed, grammar
from verification.engine.grammars.templates import excused, mark_at
from verification.engine.grammars.text import MARKED, decoded, offset_of, sentence

_WIDE = "The file is {}, and TOML is UTF-8."
_NEWER = "It needs TOML 1.1, which many parsers do not read yet: {}"
_PLACED = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)
_TOKEN = re.compile(
    r'(?P<long>"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5})"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*')"
    r"|(?P<comment>\#[^\n]*)|(?P<time>\d\d:\d\d(?![:\d]))|(?P<mark>[{}\[\],\n])",
    re.DOTALL,
)
_ESCAPES = re.compile(r"\\(?:(?P<escape>e)|x(?P<code>[0-9A-Fa-f]{2})|.)", re.DOTALL)
_KEY = re.compile(r"\('[\w\-', ]*\)")
_KEY_PART = re.compile(r"'([\w\-]*)'")
_LAST_COMMA = re.compile(r",\s*$")


@grammar("TOML", ".toml", bytes_per_second=250_000)
def parse_toml(_path: str, content: bytes) -> Parsed:
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        return (read,)
    if read.wide:
        return (SyntaxProblem(_WIDE.format(read.wide), 1, 1),)
    marked = (MARKED,) if read.has_mark else ()
    text = read.text.replace("\r\n", "\n")
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return (*marked, _problem(str(error), text))
    except ValueError:
        return NotInspected("It holds a number that is too long to be read.")
    return marked


def _problem(message: str, text: str) -> SyntaxProblem:
    placed = _PLACED.match(message)
    if placed and placed[2]:
        line, column = int(placed[2]), int(placed[3])
    else:
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    told = _KEY.sub(_dotted, placed[1] if placed else message)
    problem = SyntaxProblem(sentence(told), line, column)
    if mark_at(text, offset_of(text, line, column)):
        return excused(problem)
    if _parses(_as_older(text)):
        newer = _NEWER.format(problem.message)
        return SyntaxProblem(newer, line, column, certain=False)
    return problem


def _dotted(found: re.Match[str]) -> str:
    return ".".join(_KEY_PART.findall(found.group()))


def _parses(text: str) -> bool:
    import tomllib

    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _as_older(text: str) -> str:
    """Write in TOML 1.0 what 1.1 allows: inline tables over lines, short times, new escapes."""
    written: list[str] = []
    open_marks: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        written.append(text[end : token.start()])
        end = token.end()
        written.append(_older(token, open_marks, written))
    return "".join((*written, text[end:]))


def _older(token: re.Match[str], open_marks: list[str], written: list[str]) -> str:
    shown, in_table = token.group(), "{" in open_marks
    if token["time"]:
        return f"{shown}:00"
    if token["comment"]:
        return "" if in_table else shown
    if not token["mark"]:
        return _ESCAPES.sub(_older_escape, shown) if shown.startswith('"') else shown
    if shown in "{[":
        open_marks.append(shown)
    elif shown in "}]" and open_marks:
        open_marks.pop()
        if shown == "}":
            _drop_last_comma(written)
    return " " if shown == "\n" and in_table else shown


def _older_escape(found: re.Match[str]) -> str:
    if found["escape"]:
        return "\\u001b"
    return f"\\u00{found['code']}" if found["code"] else found.group()


def _drop_last_comma(written: list[str]) -> None:
    for at in range(len(written) - 1, -1, -1):
        if written[at].strip():
            written[at] = _LAST_COMMA.sub("", written[at])
            return
