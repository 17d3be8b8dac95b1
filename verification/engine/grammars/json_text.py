from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar

BYTE_ORDER_MARK = "\ufeff"
_MAX_REMARKS = 10
_MAX_PLACED_CHARS = 1_000_000
_TWICE = 'The key "{}" stands twice in one object.'
_NO_NUMBER = "{} is not JSON."
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*"|[{}\[\]]|NaN|-?Infinity)(\s*:)?', re.DOTALL)
_TAKES_COMMENTS = re.compile(
    r"(^|/)([tj]sconfig[^/]*|\.eslintrc|\.babelrc|\.swcrc|devcontainer|api-extractor|renovate"
    r"|\.?pyrightconfig)\.json$|(^|/)\.vscode/|(^|/)\.devcontainer/|\.jsonc$",
    re.IGNORECASE,
)
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')


@grammar("json", ".json", ".jsonc", max_bytes=MAX_DATA_BYTES)
def parse_json(path: str, content: bytes) -> Parsed:
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return (SyntaxProblem("The file is not valid UTF-8.", line),)
    remarks: list[SyntaxProblem] = []
    if content.startswith(b"\xef\xbb\xbf") or text.startswith(BYTE_ORDER_MARK):
        remarks.append(SyntaxProblem("The file starts with a byte order mark.", 1, 1, False, True))
        text = text.removeprefix(BYTE_ORDER_MARK)
    if _TAKES_COMMENTS.search(path):
        text = _without_comments(text)
    try:
        remarks += _remarks(text)
    except json.JSONDecodeError as error:
        return (*remarks, SyntaxProblem(f"{error.msg}.", error.lineno, error.colno))
    except RecursionError:
        return NotInspected("It is nested too deeply to be parsed.")
    return tuple(remarks)


def _remarks(text: str) -> list[SyntaxProblem]:
    """What parses and is doubtful all the same: a key that stands twice, a number that is none."""
    doubtful: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in found}) < len(found):
            counts = Counter(key for key, _ in found)
            doubtful.extend(_TWICE.format(key) for key, count in counts.items() if count > 1)

    # Numbers become anything cheap: int() refuses those of more than 4,300 digits.
    json.loads(
        text,
        object_pairs_hook=pairs,
        parse_constant=lambda name: doubtful.append(_NO_NUMBER.format(name)),
        parse_int=len,
        parse_float=len,
    )
    if not doubtful:
        return []
    placed = list(islice(_placed(text), _MAX_REMARKS)) if len(text) <= _MAX_PLACED_CHARS else []
    unplaced = [SyntaxProblem(message, certain=False) for message in dict.fromkeys(doubtful)]
    return placed or unplaced[:_MAX_REMARKS]


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
                yield _doubt(_TWICE.format(key), text, token.start())
            keys.add(key)


def _doubt(message: str, text: str, at: int) -> SyntaxProblem:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return SyntaxProblem(message, line, column, certain=False)


def _without_comments(text: str) -> str:
    """Blank comments and trailing commas; every other character keeps its place."""
    text = _STRING_OR_COMMENT.sub(_blanked, text)
    return _STRING_OR_TRAILING_COMMA.sub(_blanked, text)


def _blanked(found: re.Match[str]) -> str:
    token = found.group()
    return token if token.startswith('"') else re.sub(r"[^\n]", " ", token)
