"""Notebooks: JSON with cells, in the schema of their format. Code of Python goes to its own parser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.json_text import parse_json
from verification.engine.grammars.notebook_schema import schema_problems
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar
from verification.engine.grammars.text import decoded

NOTEBOOK = "notebook"
MAX_CODE_CHARS = 5_000_000
MAX_DIGITS = 18
_NO_CELLS = "The notebook has no cells."
_NO_NOTEBOOK = "It is JSON, but no notebook: there is no list of cells."


@grammar(
    NOTEBOOK, ".ipynb", max_bytes=MAX_DATA_BYTES, bytes_per_second=3_000_000, start_seconds=2.0
)
def parse_notebook(path: str, content: bytes) -> Parsed:
    found = parse_json(path, content)
    notebook = _opened(content)
    if not isinstance(found, tuple) or notebook is None:
        return found
    cells = _cells(notebook)
    if cells is None:
        return (*found, SyntaxProblem(_NO_NOTEBOOK, certain=False))
    if not cells:
        found = (*found, SyntaxProblem(_NO_CELLS, certain=False))
    read = decoded(content)
    # What parses as JSON is a text.
    return (
        found
        if isinstance(read, SyntaxProblem)
        else (*found, *schema_problems(notebook[0], read.text))
    )


def python_cells(content: bytes) -> dict[int, str]:
    """Code by the number of its cell, from 1 among all cells; none where it is not Python."""
    opened = _opened(content)
    notebook = opened[0] if opened else None
    if not isinstance(notebook, dict) or not _is_python(notebook.get("metadata")):
        return {}
    found = dict(_code(notebook))
    return found if sum(map(len, found.values())) <= MAX_CODE_CHARS else {}


def in_cell(problem: SyntaxProblem, cell: int) -> SyntaxProblem:
    """The problem of a cell's code, told of the notebook: a kernel has more syntax than Python."""
    where = f"Cell {cell}, line {problem.line}, column {problem.column}: "
    return replace(problem, message=where + problem.message, line=0, column=0, certain=False)


def _opened(content: bytes) -> tuple[Any] | None:
    """The notebook's value in a tuple; None: it does not parse."""
    try:
        return (json.loads(content, parse_int=_bounded, parse_float=len),)
    except ValueError:
        return None


def _bounded(digits: str) -> int:
    """The number, as far as anybody asks for it: int() refuses those of more than 4,300 digits."""
    return int(digits) if len(digits) <= MAX_DIGITS else len(digits)


def _cells(opened: tuple[Any]) -> list[Any] | None:
    [notebook] = opened
    if not isinstance(notebook, dict):
        return None
    if isinstance(notebook.get("worksheets"), list):
        # How notebooks were built before 2015.
        return [one for sheet in notebook["worksheets"] for one in _list(sheet, "cells")]
    cells = notebook.get("cells")
    return cells if isinstance(cells, list) else None


def _list(holder: Any, key: str) -> list[Any]:
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def _is_python(metadata: Any) -> bool:
    named = [
        str(part.get(key, "")).lower()
        for name, key in (("kernelspec", "language"), ("language_info", "name"))
        if isinstance(part := metadata.get(name) if isinstance(metadata, dict) else None, dict)
    ]
    return all(one in {"", "python", "ipython"} for one in named)


def _code(notebook: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for number, cell in enumerate(_list(notebook, "cells"), start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        texts = [line for line in lines if isinstance(line, str)]
        if len(texts) == len(lines):
            yield number, "".join(texts)
