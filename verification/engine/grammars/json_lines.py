from __future__ import annotations

import json
from collections.abc import Iterator

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.json_text import MAX_REMARKS, Reader, broken, moved
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar
from verification.engine.grammars.text import MARKED, decoded

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
    return (*found, *of_lines[:MAX_REMARKS])


def _of_lines(text: str) -> Iterator[SyntaxProblem]:
    """Problems in order of lines, the first few broken lines at most."""
    reader, wrong, blank = Reader(), 0, False
    lines = text.rstrip().split("\n")
    for number, line in enumerate(lines):
        if not line.strip():
            if not blank:
                yield SyntaxProblem(_BLANK, number + 1, certain=False, note=True)
            blank = True
            continue
        try:
            found = reader.doubts(line)
        except json.JSONDecodeError as error:
            found = [broken(line, error)]
        for problem in found:
            yield moved(problem, number)
        wrong += len(found)
        if wrong >= MAX_REMARKS:
            return


def _is_one_value(text: str) -> bool:
    try:
        Reader().doubts(text)
    except json.JSONDecodeError:
        return False
    return True
