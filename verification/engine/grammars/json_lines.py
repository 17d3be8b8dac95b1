from __future__ import annotations

import json
from collections.abc import Iterator

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.json_text import MAX_REMARKS, Reader, broken, moved
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar
from verification.engine.grammars.text import MARKED, decoded

_MAX_EXCUSED = 1_000
"""Lines with template marks: so many make a template, and each costs more than a line that parses."""
_WIDE = "The file is {}, and JSON Lines are UTF-8: many parsers refuse it."
_NONE = "The file holds no records."
_BLANK = "An empty line stands between records: some parsers refuse it."
_ONE_VALUE = "The file holds one JSON value over several lines, not one value in each line."


@grammar("JSON Lines", ".jsonl", ".ndjson", max_bytes=MAX_DATA_BYTES, bytes_per_second=3_000_000)
def parse_json_lines(_path: str, content: bytes) -> Parsed:
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        return (read,)
    found = [MARKED] if read.has_mark else []
    if read.wide:
        found = [SyntaxProblem(_WIDE.format(read.wide), 1, 1, certain=False)]
    if not read.text.strip():
        return (*found, SyntaxProblem(_NONE, certain=False))
    of_lines = list(_of_lines(read.text))
    if any(one.certain for one in of_lines) and _is_one_value(read.text):
        return (*found, SyntaxProblem(_ONE_VALUE, 1, 1))
    return (*found, *of_lines)


def _of_lines(text: str) -> Iterator[SyntaxProblem]:
    """Problems in order of lines: the first few broken lines, and the first few remarks.

    However much is only doubtful, a line that is broken for certain is still looked for.
    """
    reader, left, blank = Reader(), {True: MAX_REMARKS, False: MAX_REMARKS}, False
    for number, line in enumerate(text.rstrip().split("\n")):
        if not line.strip():
            if not blank:
                yield SyntaxProblem(_BLANK, number + 1, certain=False, note=True)
            blank = True
            continue
        try:
            found = reader.doubts(line) if left[False] > 0 else reader.read(line)
        except json.JSONDecodeError as error:
            found = [broken(line, error)]
        for problem in found:
            left[problem.certain] -= 1
            if left[problem.certain] >= 0:
                yield moved(problem, number)
        if not left[True] or left[False] < -_MAX_EXCUSED:
            return


def _is_one_value(text: str) -> bool:
    try:
        Reader().doubts(text)
    except json.JSONDecodeError:
        return False
    return True
