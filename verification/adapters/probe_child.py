"""The limited child process in which submitted material is parsed and searched.

Run as `python -m verification.adapters.probe_child PARENT_PID`: requests come on standard input, answers
go to standard output, and the end of the input is the end of the process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any, BinaryIO

from verification.adapters.limits import die_with_parent, limit_cpu, limit_memory
from verification.adapters.probe_wire import LENGTHS, frame, opened
from verification.adapters.python_syntax import parse_python
from verification.adapters.redacting import redacted
from verification.engine.evidence import (
    Answer,
    NotInspected,
    Pattern,
    SyntaxProblem,
    UnsupportedPattern,
)
from verification.engine.grammars import PYTHON, Parsed, grammar_of
from verification.engine.grammars.code_lines import code_lines
from verification.engine.grammars.notebook import NOTEBOOK
from verification.engine.matching import Texts, search
from verification.engine.reports.record import runs_of

_NO_CODE = "The code of its cells was not looked into: {}"


def main() -> None:
    limit_memory()
    die_with_parent(int(sys.argv[1]))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    _send(answers, frame({"ready": True}))
    while lengths := requests.read(LENGTHS.size):
        head_size, body_size = LENGTHS.unpack(lengths)
        header, parts = opened(requests.read(head_size), requests.read(body_size))
        limit_cpu(header["cpu_seconds"])
        if header["ask"] == "redact":
            _send(answers, frame({}, redacted(header["patterns"], parts)))
            continue
        for told in answer(header, parts):
            _send(answers, frame(told))


def answer(header: dict[str, Any], parts: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """Yield one answer per pattern, or one for all files."""
    if header["ask"] == "search":
        patterns = [Pattern(*fields) for fields in header["patterns"]]
        texts = Texts(parts)
        if any(pattern.in_visible_text for pattern in patterns):
            _ = texts.visible  # no pattern's time
        yield {"read": True}
        yield from map(_found_row, search(patterns, texts, clock=time.monotonic))
    elif header["ask"] == "code":
        found = map(code_lines, header["paths"], parts)
        yield {"files": [None if one is None else list(runs_of(one)) for one in found]}
    else:
        parsed = parse(list(zip(header["paths"], parts, strict=True)))
        yield {"files": [_parsed_row(one) for one in parsed]}


def parse(sources: Sequence[tuple[str, bytes]]) -> list[Parsed]:
    answers = [_parsed(path, content) for path, content in sources]
    of_python = [
        number
        for number, (path, _) in enumerate(sources)
        if _has_python(path) and not _is_settled(answers[number])
    ]
    found = parse_python([sources[number] for number in of_python])
    for number, one in zip(of_python, found, strict=True):
        answers[number] = _joined(sources[number][0], answers[number], one)
    return answers


def _parsed(path: str, content: bytes) -> Parsed:
    grammar = grammar_of(path)
    if grammar is None or grammar.parse is None:
        return ()
    try:
        return grammar.parse(path, content)
    except Exception as error:
        # A mistake of a parser's own blames no file and spoils no other.
        return NotInspected(f"The {grammar.language} parser failed: {type(error).__name__}.")


def _has_python(path: str) -> bool:
    grammar = grammar_of(path)
    return grammar is not None and grammar.language in (PYTHON, NOTEBOOK)


def _is_settled(answer: Parsed) -> bool:
    return isinstance(answer, NotInspected) or any(one.certain for one in answer)


def _joined(path: str, of_file: Parsed, of_code: Parsed) -> Parsed:
    """One answer of what its own grammar and the Python parser say of a file."""
    grammar = grammar_of(path)
    if grammar is None or grammar.language == PYTHON or isinstance(of_file, NotInspected):
        return of_code
    if isinstance(of_code, NotInspected):
        return (*of_file, SyntaxProblem(_NO_CODE.format(of_code.why), certain=False, note=True))
    return (*of_file, *of_code)


def _found_row(found: Answer) -> dict[str, Any]:
    if isinstance(found, UnsupportedPattern):
        return {"unsupported": found.why}
    if isinstance(found, NotInspected):
        return {"why": found.why}
    places = [astuple(place) for place in found.places]
    return {"count": found.count, "places": places, "seconds": found.seconds}


def _parsed_row(parsed: Parsed) -> Any:
    if isinstance(parsed, NotInspected):
        return {"why": parsed.why}
    return [astuple(problem) for problem in parsed]


def _send(answers: BinaryIO, content: Iterable[bytes]) -> None:
    for piece in content:
        answers.write(piece)
    answers.flush()


if __name__ == "__main__":
    main()
