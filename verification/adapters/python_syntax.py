"""Python by a current grammar, whatever interpreter runs here: ruff's parser, and the compiler.

Ruff reads all files as the oldest version of Python, and as the newest what that refuses. What both
refuse is certain; what one of them refuses names its version. What the compiler alone refuses is
told last.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from verification.adapters.probe_wire import scratch_prefix, scratch_root
from verification.adapters.python_brackets import unclosed_bracket
from verification.adapters.python_compile import VERSION, Compiled, compile_python, may_be_refused
from verification.adapters.python_encoding import as_utf8
from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars import PYTHON, Parsed, foreign
from verification.engine.grammars.notebook import in_cell, python_cells
from verification.engine.grammars.templates import excused, mark_at
from verification.engine.grammars.text import offset_of, sentence

OLDEST, NEWEST = "3.11", "3.14"
TIMEOUT_SECONDS = 20
_RULES = (
    "E9", "F404", "F406", "F407", "F621", "F622", "F701", "F702", "F704", "F706", "F707", "PLE0115",
    "PLE0117", "PLE0118", "PLE1142", "PLE1700",
)  # fmt: skip
"""What the grammar refuses, and what the compiler does behind it: a `return` outside of functions."""
_OPTIONS = (
    "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--ignore-noqa",
    "--no-respect-gitignore", "--select", ",".join(_RULES), "--output-format", "json",
)  # fmt: skip
_SYNTAX = frozenset({None, "invalid-syntax", "E999", *_RULES})
_OF_NOTEBOOKS = frozenset({None, "invalid-syntax", "E999", "F701", "F702", "F706"})
"""The others hold of a file. Cells may wait, and each may begin with an import from `__future__`."""
_OF_SCOPES = frozenset({"F406", "PLE0115", "PLE0117", "PLE0118"})
"""Ruff knows scopes less well than the compiler does, which has to agree."""
_OF_FUTURE = frozenset({"F404", "F407"})
_RELATIVE_IMPORT = re.compile(r"[^\n]*\bfrom\s+\.")
_OF_KERNELS = frozenset({"F704", "PLE1142"})
"""Interactive windows wait at the top of a cell, too."""
_CELL_MARK = re.compile(r"^# ?%%", re.MULTILINE)
_AT_END = "unexpected EOF while parsing"
_NEWER = re.compile(r"on Python 3\.\d+ \(syntax was added in Python (3\.\d+)\)")
_ONLY_OLDER = "Python {} reads it, Python {} does not: {}"


@dataclass(frozen=True)
class _Source:
    """What the parser gets: one file, or a notebook made of the code cells of one."""

    name: str
    content: bytes
    cells: tuple[int, ...] = ()
    """Numbers of a notebook's code cells in the notebook as submitted."""

    @property
    def is_stub(self) -> bool:
        """Type checkers read it, and no interpreter."""
        return self.name.endswith(".pyi")

    @cached_property
    def is_out_of_the_ordinary(self) -> bool:
        return may_be_refused(self.content)


@dataclass(frozen=True, slots=True)
class RuffProblem:
    problem: SyntaxProblem
    rule: str | None = None
    cell: int = 0
    is_at_end: bool = False

    @property
    def place(self) -> tuple[int, int, int]:
        return (self.cell, self.problem.line, self.problem.column)


RuffAnswer = list[RuffProblem] | NotInspected


def parse_python(files: Sequence[tuple[str, bytes]]) -> list[Parsed]:
    """Parse (path, content) pairs of Python and of notebooks' code, answered in their order."""
    prepared = [_prepared(number, path, content) for number, (path, content) in enumerate(files)]
    sources = [source for source in prepared if isinstance(source, _Source)]
    oldest = _ask_ruff([source for source in sources if not source.cells], OLDEST)
    # What the oldest version reads the newest does, too, but for what looks out of the ordinary.
    doubted = [
        source
        for source in sources
        if source.cells or oldest[source.name] != [] or source.is_out_of_the_ordinary
    ]
    newest = _ask_ruff(doubted, NEWEST)
    return [
        _parse(source, newest.get(source.name, []), oldest.get(source.name, []))
        if isinstance(source, _Source)
        else source
        for source in prepared
    ]


def _prepared(number: int, path: str, content: bytes) -> _Source | Parsed:
    if path.lower().endswith(".ipynb"):
        cells = python_cells(content)
        notebook = _notebook(list(cells.values()))
        return _Source(f"{number}.ipynb", notebook, tuple(cells)) if cells else ()
    answer = foreign(PYTHON, content)
    if answer is not None:
        return answer
    text = as_utf8(content)
    if isinstance(text, SyntaxProblem):
        return (text,)
    suffix = ".pyi" if path.lower().endswith(".pyi") else ".py"
    return _Source(f"{number}{suffix}", text)


def _notebook(cells: Sequence[str]) -> bytes:
    code: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": cell,
        }
        for cell in cells
    ]
    whole = {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole).encode()


def _ask_ruff(sources: Sequence[_Source], version: str) -> dict[str, RuffAnswer]:
    """Ask for all at once; when that fails, for each half, so that one spoils no other."""
    if not sources:
        return {}
    answers = _ask_at_once(sources, version)
    if isinstance(answers, dict):
        return {source.name: answers.get(source.name, []) for source in sources}
    if len(sources) == 1:
        return {sources[0].name: answers}
    half = len(sources) // 2
    return _ask_ruff(sources[:half], version) | _ask_ruff(sources[half:], version)


def _ask_at_once(sources: Sequence[_Source], version: str) -> dict[str, RuffAnswer] | NotInspected:
    target = f"--target-version=py{version.replace('.', '')}"
    try:
        if len(sources) == 1:
            [only] = sources
            ended = _call(target, "--stdin-filename", only.name, "-", content=only.content)
            return _read(ended)
        prefix, root = scratch_prefix(os.getpid()), scratch_root()
        with tempfile.TemporaryDirectory(prefix=prefix, dir=root) as folder:
            _write(folder, sources)
            return _read(_call(target, folder))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return NotInspected(f"The Python parser failed: {type(error).__name__}.")


def _write(folder: str, sources: Sequence[_Source]) -> None:
    for source in sources:
        # A thousand files: a buffer and a Path for each would cost as much as parsing them.
        with open(f"{folder}/{source.name}", "wb", buffering=0) as file:  # noqa: PTH123
            if file.write(source.content) != len(source.content):
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


def _read(ended: subprocess.CompletedProcess[bytes]) -> dict[str, RuffAnswer] | NotInspected:
    if ended.returncode:
        return NotInspected(f"The Python parser ended with code {ended.returncode}.")
    answers: dict[str, RuffAnswer] = {}
    for entry in json.loads(ended.stdout):
        row = answers.setdefault(Path(entry["filename"]).name, [])
        if entry["code"] not in _SYNTAX:
            answers[Path(entry["filename"]).name] = NotInspected(
                "The Python parser did not read it."
            )
        elif isinstance(row, list):
            row.append(_ruff_problem(entry))
    return answers


def _ruff_problem(row: Any) -> RuffProblem:
    message = row["message"].removeprefix("SyntaxError: ").replace("\0", "NUL")
    place = row["location"]
    newer = _NEWER.search(message)
    problem = SyntaxProblem(
        sentence(message),
        place["row"],
        place["column"],
        certain=newer is None,
        since=newer[1] if newer else "",
    )
    return RuffProblem(problem, row["code"], row.get("cell") or 0, message == _AT_END)


def _parse(source: _Source, newest: RuffAnswer, oldest: RuffAnswer) -> Parsed:
    if isinstance(newest, NotInspected):
        return newest
    if source.cells:
        of_cells = [row for row in newest if row.rule in _OF_NOTEBOOKS]
        rows = _first_of_each_line(of_cells)
        return tuple(in_cell(row.problem, source.cells[row.cell - 1]) for row in rows)
    if newest == oldest == [] and not source.is_out_of_the_ordinary:
        return ()
    text = source.content.decode()
    newest = [row for row in newest if not _is_of_own_module(text, row)]
    is_compiled = not source.is_stub and (bool(newest) or source.is_out_of_the_ordinary)
    compiled = compile_python(text) if is_compiled else None
    if newest:
        return _problems_of_all(text, newest, oldest, compiled)
    if isinstance(oldest, NotInspected):
        return ()
    newer = _newest_syntax(oldest)
    problem = compiled.problem if compiled else None
    if problem and not (newer and _is_later(newer.since, VERSION)):
        return (problem,)
    return (newer,) if newer and not source.is_stub else ()


def _problems_of_all(
    text: str,
    newest: Sequence[RuffProblem],
    oldest: RuffAnswer,
    compiled: Compiled | None,
) -> Parsed:
    """What the newest version refuses; certain where no version of Python is known to read it."""
    is_read_here = compiled is not None and compiled.problem is None
    is_refused = bool(compiled and compiled.problem and compiled.problem.certain)
    places = None if isinstance(oldest, NotInspected) else {row.place for row in oldest}
    problems = []
    for row in _first_of_each_line(newest):
        problem = row.problem
        if is_read_here or (places is not None and row.place not in places):
            reads = VERSION if is_read_here else OLDEST
            message = _ONLY_OLDER.format(reads, NEWEST, problem.message)
            problem = replace(problem, message=message, certain=False)
        elif (row.rule in _OF_SCOPES and not is_refused) or _is_of_kernels(text, row):
            problem = replace(problem, certain=False)
        problems.append(problem)
    first = problems[0]
    if mark_at(text, offset_of(text, first.line, first.column)):
        return (excused(first),)
    if not first.certain:
        return tuple(problems)
    bracket = unclosed_bracket(text)
    if bracket is None:
        return tuple(problems)
    # What follows an open bracket is read as if it stood inside.
    return (*(problem for problem in problems if problem.line < bracket.line), bracket)


def _is_of_own_module(text: str, row: RuffProblem) -> bool:
    """Whether ruff takes a module of the work's own, `.__future__`, for Python's."""
    start = offset_of(text, row.problem.line, 1)
    return row.rule in _OF_FUTURE and bool(_RELATIVE_IMPORT.match(text, start))


def _is_of_kernels(text: str, row: RuffProblem) -> bool:
    """Whether an interactive window, such as that of an editor, reads what the compiler does not."""
    if not _CELL_MARK.search(text):
        return False
    start = offset_of(text, row.problem.line, 1)
    return row.rule in _OF_KERNELS or text[start : start + 200].lstrip()[:1] in ("%", "!")


def _newest_syntax(oldest: Sequence[RuffProblem]) -> SyntaxProblem | None:
    """The first place with the syntax that came last, of what the oldest version does not know."""
    newer = [row.problem for row in oldest if row.problem.since]
    return max(newer, key=lambda problem: _numbers(problem.since), default=None)


def _is_later(version: str, than: str) -> bool:
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _first_of_each_line(row: Sequence[RuffProblem]) -> Iterator[RuffProblem]:
    """What follows in a line is told by a parser that has lost its way."""
    seen: set[tuple[int, int]] = set()
    for problem in row:
        line = (problem.cell, problem.problem.line)
        if line not in seen and not (problem.is_at_end and seen):
            seen.add(line)
            yield problem
