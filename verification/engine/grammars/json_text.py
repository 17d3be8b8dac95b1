from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar
from verification.engine.grammars.templates import excused, mark_at
from verification.engine.grammars.text import BLANK, MARKED, decoded, line_and_column

MAX_REMARKS = 10
_MAX_PLACED_CHARS = 1_000_000
_TWICE = 'The key "{}" stands twice in one object.'
_NO_NUMBER = "{} is not JSON."
_LONE = "A text holds half of a surrogate pair: many parsers refuse it."
_WIDE = "The file is {}, and JSON is UTF-8: many parsers refuse it."
_COMMENT = "Comments are not JSON."
_WITH_COMMENTS = "Parsers of JSON with comments read the file."
_JSON_LINES = "It is JSON Lines, one value in each line: no JSON, and the suffix is .jsonl."
_STREAM = "It holds {} JSON values, one after the other: only parsers of a stream read it."
_JSON5 = "A parser of JSON5 may read it."
_TRAILING = "A comma stands before the closing {}."
_MAX_SHOWN_KEY = 80
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*"|[{}\[\]]|NaN|-?Infinity)(\s*:)?', re.DOTALL)
_TAKES_COMMENTS = re.compile(
    r"(^|/)([tj]sconfig[^/]*|\.eslintrc|\.babelrc|babel\.config|\.swcrc|\.jshintrc|tslint|tsdoc"
    r"|typedoc|api-extractor[^/]*|devcontainer|renovate|\.?pyrightconfig|deno|biome|turbo|nx|rush"
    r"|wrangler|angular|appsettings[^/]*|local\.settings|cspell|\.markdownlint|\.stylelintrc"
    r"|\.luarc|\.oxlintrc|\.hintrc|language-configuration|keybindings)\.json$"
    r"|(^|/)\.vscode/|(^|/)\.devcontainer/|\.jsonc$",
    re.IGNORECASE,
)
_MAY_BE_JSON5 = re.compile(
    r"(^|/)(babel\.config|\.babelrc|renovate|\.renovaterc)\.json$", re.IGNORECASE
)
# What never closes is one token, too: it is searched once, not from each mark in it.
_STRING = r'"(?:[^"\\\n]|\\.)*+"?'
_STRING_OR_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/|/\*.*", re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


@grammar("JSON", ".json", ".jsonc", max_bytes=MAX_DATA_BYTES, bytes_per_second=3_000_000)
def parse_json(path: str, content: bytes) -> Parsed:
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        return (read,)
    text, remarks = read.text, [MARKED] if read.has_mark else []
    if read.wide:
        remarks = [SyntaxProblem(_WIDE.format(read.wide), 1, 1, certain=False)]
    if _TAKES_COMMENTS.search(path):
        text = without_comments(text)
    try:
        doubts = Reader().doubts(text)
    except json.JSONDecodeError as error:
        return (*remarks, *_weigh(path, text, error))
    return (*remarks, *doubts)


def _weigh(path: str, text: str, error: json.JSONDecodeError) -> list[SyntaxProblem]:
    """Hold against the work only what is none of the languages that `.json` files are written in."""
    problem = broken(text, error)
    name = path.lower()
    if not problem.certain or not name.endswith((".json", ".jsonc")):
        return [problem]
    if _MAY_BE_JSON5.search(path):
        return [replace(problem, message=f"{problem.message} {_JSON5}", certain=False)]
    if error.msg == "Extra data" and (count := _count_values(text)):
        is_lines = count == sum(1 for line in text.split("\n") if line.strip())
        message = _JSON_LINES if is_lines else _STREAM.format(count)
        return [replace(problem, message=message, certain=False)]
    bare = _STRING_OR_COMMENT.sub(_blanked, text)
    if bare == text:
        return [problem]
    try:
        doubts = Reader().doubts(_STRING_OR_TRAILING_COMMA.sub(_blanked, bare))
    except json.JSONDecodeError as other:
        # The first problem may be a comment; this one is none.
        return [broken(bare, other) if problem.message == _COMMENT else problem]
    return [replace(problem, message=f"{problem.message} {_WITH_COMMENTS}", certain=False), *doubts]


def _count_values(text: str) -> int:
    """How many values begin each on a line of its own; 0 where the text holds something else."""
    decoder = json.JSONDecoder(parse_int=len, parse_float=len)
    count, end = 0, _skip_space(text, 0)
    while end < len(text):
        try:
            _, start = decoder.raw_decode(text, end)
        except json.JSONDecodeError:
            return 0
        end = _skip_space(text, start)
        if end < len(text) and "\n" not in text[start:end]:
            return 0
        count += 1
    return count


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


class Reader:
    """Parses JSON texts for what is doubtful in them, and keeps no values."""

    def __init__(self) -> None:
        self._found: list[str] = []
        # Numbers become anything cheap: int() refuses those of more than 4,300 digits.
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_constant=self._constant,
            parse_int=len,
            parse_float=len,
        )

    def doubts(self, text: str) -> list[SyntaxProblem]:
        """What parses and is doubtful all the same: a key twice, a number that is none.

        Raises:
            JSONDecodeError: it does not parse.
            RecursionError: it is nested too deeply.
        """
        self.read(text)
        lone = _lone_surrogate(text) if "\\u" in text else []
        if not self._found:
            return lone
        can_be_placed = len(text) <= _MAX_PLACED_CHARS
        placed = list(islice(_placed(text), MAX_REMARKS)) if can_be_placed else []
        unplaced = [SyntaxProblem(one, certain=False) for one in dict.fromkeys(self._found)]
        return lone + (placed or unplaced[:MAX_REMARKS])

    def read(self, text: str) -> list[SyntaxProblem]:
        """The same without the doubts, which cost more than the parsing."""
        self._found.clear()
        self._decoder.decode(text)
        return []

    def _constant(self, name: str) -> None:
        if len(self._found) < MAX_REMARKS:
            self._found.append(_NO_NUMBER.format(name))

    def _pairs(self, found: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in found}) < len(found) and len(self._found) < MAX_REMARKS:
            counts = Counter(key for key, _ in found)
            self._found.extend(_twice(key) for key, count in counts.items() if count > 1)


def broken(text: str, error: json.JSONDecodeError) -> SyntaxProblem:
    """Why a text does not parse, in words that help its author."""
    at, message = error.pos, f"{error.msg.removesuffix(' at')}."
    shown = text[at : at + 1]
    before = text[:at].rstrip() if shown in ("}", "]") else ""
    if text.startswith(("//", "/*"), at):
        message = _COMMENT
    elif not text.strip():
        message = BLANK
    elif before.endswith(","):
        at, message = len(before) - 1, _TRAILING.format(shown)
    elif shown == "," and error.msg.startswith("Illegal trailing comma"):
        message = _TRAILING.format(text[at + 1 :].lstrip()[:1])
    line, column = line_and_column(text, at)
    problem = SyntaxProblem(message, line, column)
    return excused(problem) if mark_at(text, error.pos) else problem


def without_comments(text: str) -> str:
    """Blank comments and trailing commas; every other character keeps its place."""
    text = _STRING_OR_COMMENT.sub(_blanked, text)
    return _STRING_OR_TRAILING_COMMA.sub(_blanked, text)


def moved(problem: SyntaxProblem, lines: int) -> SyntaxProblem:
    return replace(problem, line=problem.line + lines) if problem.line else problem


def _lone_surrogate(text: str) -> list[SyntaxProblem]:
    if "\\ud" not in text and "\\uD" not in text:
        return []
    for escape in _ESCAPE.finditer(text):
        if escape["lone"]:
            return [SyntaxProblem(_LONE, *line_and_column(text, escape.start()), certain=False)]
    return []


def _placed(text: str) -> Iterator[SyntaxProblem]:
    """The same remarks with their places, of a text that is known to parse."""
    objects: list[set[str] | None] = []
    for token in _TOKEN.finditer(text):
        shown, colon = token.group(1), token.group(2)
        if shown in "{[":
            objects.append(set() if shown == "{" else None)
        elif shown in "}]":
            objects.pop()
        elif not shown.startswith('"'):
            yield _doubt(_NO_NUMBER.format(shown), text, token.start())
        elif colon and (keys := objects[-1]) is not None:
            key = json.loads(shown, strict=False)
            if key in keys:
                yield _doubt(_twice(key), text, token.start())
            keys.add(key)


def _twice(key: str) -> str:
    return _TWICE.format(key if len(key) <= _MAX_SHOWN_KEY else f"{key[:_MAX_SHOWN_KEY]}…")


def _doubt(message: str, text: str, at: int) -> SyntaxProblem:
    return SyntaxProblem(message, *line_and_column(text, at), certain=False)


def _blanked(match: re.Match[str]) -> str:
    token = match.group()
    is_open = token.startswith("/*") and (len(token) < 4 or not token.endswith("*/"))
    if is_open or token.startswith('"'):
        return token
    return " " * len(token) if "\n" not in token else re.sub(r"[^\n]", " ", token)
