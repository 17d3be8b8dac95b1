"""Python by a current grammar, whatever interpreter runs here: ruff's parser, one call a batch."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from verification.adapters.probe_wire import scratch_prefix, scratch_root
from verification.adapters.python_brackets import unclosed_bracket
from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars import PYTHON, Parsed, foreign
from verification.engine.grammars.notebook import in_cell, python_cells
from verification.engine.grammars.templates import excused, mark_at
from verification.engine.grammars.text import offset_of, sentence, undecodable, wide_encoding

GRAMMAR_VERSION = "py314"
TIMEOUT_SECONDS = 20
_OPTIONS = (
    "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--ignore-noqa",
    "--no-respect-gitignore", "--select", "E9", "--target-version", GRAMMAR_VERSION,
    "--output-format", "json",
)  # fmt: skip
_SYNTAX = frozenset({None, "invalid-syntax", "E999"})
_AT_END = "unexpected EOF while parsing"
_NEWER = "syntax was added in Python"
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_OTHER_ENCODING = SyntaxProblem("The file is not in the encoding that it names.", 1)
_WIDE = SyntaxProblem("The file is UTF-16, and Python is UTF-8.", 1, 1)


@dataclass(frozen=True, slots=True)
class _Source:
    """What the parser gets: one file, or a notebook made of the code cells of one."""

    name: str
    content: bytes
    cells: tuple[int, ...] = ()
    """Numbers of a notebook's code cells in the notebook as submitted."""


@dataclass(frozen=True, slots=True)
class _Told:
    problem: SyntaxProblem
    cell: int = 0
    is_at_end: bool = False


_Row = list[_Told] | NotInspected


def parse_python(files: Sequence[tuple[str, bytes]]) -> list[Parsed]:
    """Parse (path, content) pairs of Python and of notebooks' code, answered in their order."""
    prepared = [_prepared(number, path, content) for number, (path, content) in enumerate(files)]
    rows = _rows([one for one in prepared if isinstance(one, _Source)])
    return [_parsed(one, rows[one.name]) if isinstance(one, _Source) else one for one in prepared]


def _prepared(number: int, path: str, content: bytes) -> _Source | Parsed:
    if path.lower().endswith(".ipynb"):
        cells = python_cells(content)
        notebook = _notebook(list(cells.values()))
        return _Source(f"{number}.ipynb", notebook, tuple(cells)) if cells else ()
    answer = foreign(PYTHON, content)
    if answer is not None:
        return answer
    text = _as_utf8(content)
    if isinstance(text, SyntaxProblem):
        return (text,)
    suffix = ".pyi" if path.lower().endswith(".pyi") else ".py"
    return _Source(f"{number}{suffix}", text)


def _notebook(cells: Sequence[str]) -> bytes:
    code: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": one}
        for one in cells
    ]
    whole = {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole).encode()


def _as_utf8(content: bytes) -> bytes | SyntaxProblem:
    """Python's own rule: UTF-8, unless one of the first two lines names another encoding."""
    if wide_encoding(content):
        return _WIDE
    try:
        content.decode()
    except UnicodeDecodeError as error:
        problem = undecodable(content, error)
    else:
        return content
    for line in content.split(b"\n", 2)[:2]:
        named = _CODING.match(line)
        if named:
            try:
                return content.decode(named[1].decode()).encode()
            except (LookupError, ValueError):
                return _OTHER_ENCODING
    return problem


def _rows(sources: Sequence[_Source]) -> dict[str, _Row]:
    """Ask for all at once; when that fails, for each half, so that one spoils no other."""
    if not sources:
        return {}
    found = _asked(sources)
    if isinstance(found, dict):
        return {one.name: found.get(one.name, []) for one in sources}
    if len(sources) == 1:
        return {sources[0].name: found}
    half = len(sources) // 2
    return _rows(sources[:half]) | _rows(sources[half:])


def _asked(sources: Sequence[_Source]) -> dict[str, _Row] | NotInspected:
    try:
        if len(sources) == 1:
            [only] = sources
            return _read(_call("--stdin-filename", only.name, "-", content=only.content))
        prefix, root = scratch_prefix(os.getpid()), scratch_root()
        with tempfile.TemporaryDirectory(prefix=prefix, dir=root) as folder:
            _write(folder, sources)
            return _read(_call(folder))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return NotInspected(f"The Python parser failed: {type(error).__name__}.")


def _write(folder: str, sources: Sequence[_Source]) -> None:
    for one in sources:
        # A thousand files: a buffer and a Path for each would cost as much as parsing them.
        with open(f"{folder}/{one.name}", "wb", buffering=0) as file:  # noqa: PTH123
            if file.write(one.content) != len(one.content):
                raise OSError("There is no room: half a file must not be taken for a broken one.")


def _call(*arguments: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own binary, no shell
        [_ruff(), *_OPTIONS, *arguments],
        input=content,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@cache
def _ruff() -> str:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]

    return str(find_ruff_bin())


def _read(ended: subprocess.CompletedProcess[bytes]) -> dict[str, _Row] | NotInspected:
    if ended.returncode:
        return NotInspected(f"The Python parser ended with code {ended.returncode}.")
    found: dict[str, _Row] = {}
    for one in json.loads(ended.stdout):
        row = found.setdefault(Path(one["filename"]).name, [])
        if one["code"] not in _SYNTAX:
            found[Path(one["filename"]).name] = NotInspected("The Python parser did not read it.")
        elif isinstance(row, list):
            row.append(_told(one))
    return found


def _told(one: Any) -> _Told:
    message = one["message"].removeprefix("SyntaxError: ").replace("\0", "NUL")
    place = one["location"]
    problem = SyntaxProblem(
        sentence(message), place["row"], place["column"], certain=_NEWER not in message
    )
    return _Told(problem, one.get("cell") or 0, message == _AT_END)


def _parsed(source: _Source, row: _Row) -> Parsed:
    if isinstance(row, NotInspected):
        return row
    told = _one_a_line(row)
    if source.cells:
        return tuple(in_cell(one.problem, source.cells[one.cell - 1]) for one in told)
    problems = [one.problem for one in told]
    if not problems:
        return ()
    text = source.content.decode()
    first = problems[0]
    if mark_at(text, offset_of(text, first.line, first.column)):
        return (excused(first),)
    bracket = unclosed_bracket(text)
    if bracket is None:
        return tuple(problems)
    # What follows an open bracket is read as if it stood inside.
    return (*(one for one in problems if one.line < bracket.line), bracket)


def _one_a_line(row: Sequence[_Told]) -> list[_Told]:
    """The first of each line: what follows there is told by a parser that has lost its way."""
    found: dict[tuple[int, int], _Told] = {}
    for one in row:
        if not one.is_at_end or not found:
            found.setdefault((one.cell, one.problem.line), one)
    return list(found.values())
