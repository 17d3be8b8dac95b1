"""Notebooks against the schema of their format, which `nbformat` has for each of its versions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeGuard

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.text import line_and_column

MAX_PROBLEMS = 5
MAX_CELLS = 10_000
"""So many cells are looked at one by one where the notebook as a whole does not fit."""
MAX_DESCRIBED = 200
"""Of so many cells that do not fit it is looked up why: the slow validator takes a millisecond."""
VERSIONS = (3, 4)
_MAX_SHOWN = 120
_NO_VERSION = "The notebook does not say which version of the format it has: `nbformat` is missing."
_KINDS = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
    float: "a number", type(None): "null",
}  # fmt: skip
_SPACE = json.decoder.WHITESPACE  # type: ignore[attr-defined]
_SCAN: Any = json.JSONDecoder(strict=False, parse_int=len, parse_float=len).scan_once  # type: ignore[attr-defined]

Path = tuple[str | int, ...]


def schema_problems(notebook: dict[str, Any], text: str) -> list[SyntaxProblem]:
    """Tell where a notebook does not fit its schema: of each cell the first, a few in all."""
    version, minor = notebook.get("nbformat"), notebook.get("nbformat_minor")
    if version is None:
        return [SyntaxProblem(_NO_VERSION, 1, 1, certain=False)]
    if not _is_number(version) or version not in VERSIONS:
        return []
    problems: dict[str, tuple[Path, int]] = {}
    for path, message in _problems(notebook, version, minor if _is_number(minor) else None):
        first, count = problems.get(message, (path, 0))
        problems[message] = (first, count + 1)
    return [
        _placed(message, path, count, text)
        for message, (path, count) in islice(problems.items(), MAX_PROBLEMS)
    ]


def _problems(
    notebook: dict[str, Any], version: int, minor: int | None
) -> Iterator[tuple[Path, str]]:
    fast, slow = _validators(version, minor)
    if fast is None or _fits(fast, notebook):
        return
    cells = notebook.get("cells")
    if version < 4 or not isinstance(cells, list):
        yield (), f"The notebook does not fit the schema of version {version}."
        return
    frame = {**notebook, "cells": []}
    for error in islice(slow.iter_errors(frame), MAX_PROBLEMS):
        yield tuple(error.absolute_path), _describe("The notebook", error)
    if minor is None:
        # What a cell may hold depends on it.
        return
    usual = {"metadata": {}, "nbformat": version, "nbformat_minor": minor}
    misfits = (
        number
        for number, cell in enumerate(cells[:MAX_CELLS])
        if not _fits(fast, {**usual, "cells": [cell]})
    )
    for number in islice(misfits, MAX_DESCRIBED):
        yield ("cells", number), _describe_cell(slow, cells[number])


def _describe_cell(slow: Any, cell: Any) -> str:
    """Of the first output that does not fit, or of the cell itself."""
    kind = cell.get("cell_type") if isinstance(cell, dict) else None
    if kind not in {"code", "markdown", "raw"}:
        return "This is no cell of a kind that the format knows."
    outputs = cell["outputs"] if isinstance(cell.get("outputs"), list) else []
    frame = {**cell, "outputs": []} if outputs else cell
    if (error := _first_error(slow, f"{kind}_cell", frame)) is not None:
        return _describe(f"The {kind} cell", error)
    for output in outputs:
        shape = output.get("output_type") if isinstance(output, dict) else None
        if shape not in {"execute_result", "display_data", "stream", "error"}:
            return "An output is of no kind that the format knows."
        if (error := _first_error(slow, shape, output)) is not None:
            return _describe(f"An output `{shape}`", error)
    return f"The {kind} cell does not fit the schema."


def _first_error(slow: Any, definition: str, value: Any) -> Any:
    schema = {**slow._schema, "$ref": f"#/definitions/{definition}"}
    return next(iter(slow.iter_errors(value, schema)), None)


def _describe(subject: str, error: Any) -> str:
    """Say what is wrong without the value, which may be long and anything."""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path)
    if where:
        subject = f"{subject}: `{where.lstrip('.')[:_MAX_SHOWN]}`"
    if error.validator == "required":
        names = [name for name in error.validator_value if name not in error.instance]
        return f"{subject} lacks `{'`, `'.join(names)}`."
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        name = next((key for key in error.instance if key not in known), "")
        return f"{subject} holds `{name[:_MAX_SHOWN]}`, which the format does not know."
    if error.validator in {"type", "oneOf", "anyOf"}:
        kind = _KINDS.get(type(error.instance), "something")
        return f"{subject} is {kind} of a kind or shape that the format does not know here."
    return f"{subject} does not fit `{error.validator}` of the schema."


def _fits(validator: Any, value: Any) -> bool:
    from jsonschema import ValidationError

    try:
        validator.validate(value)
    except ValidationError:
        return False
    return True


def _validators(version: int, minor: int | None) -> tuple[Any, Any]:
    """Return the fast validator and the one that says what is wrong; None: there is no schema."""
    known = _current_minor(version)
    return _validators_of(version, known if minor is None else min(minor, known + 1))


@cache
def _current_minor(version: int) -> int:
    from importlib import import_module

    return int(getattr(import_module(f"nbformat.v{version}"), "nbformat_minor", 0))


@cache
def _validators_of(version: int, minor: int) -> tuple[Any, Any]:
    from nbformat.validator import get_validator

    names = ("fastjsonschema", "jsonschema")
    fast, slow = (get_validator(version, minor, name=name) for name in names)  # type: ignore[no-untyped-call]
    return fast, slow


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _placed(message: str, path: Path, count: int, text: str) -> SyntaxProblem:
    cell = f"Cell {path[1] + 1}: " if path[:1] == ("cells",) and isinstance(path[1], int) else ""
    more = f" So it is in {count} cells." if cell and count > 1 else ""
    line, column = line_and_column(text, _offset(text, path))
    return SyntaxProblem(f"{cell}{message}{more}", line, column, certain=False)


def _offset(text: str, path: Sequence[str | int]) -> int:
    """Where the value at a path begins, in a text that is known to parse."""
    at = _skip(text, 0)
    for part in path:
        for key, start, _end in _members(text, at):
            if key == part:
                at = start
                break
        else:
            return at
    return at


def _members(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield the keys of an object, or the numbers of a list's items, each with its value's span."""
    is_object = text[at : at + 1] == "{"
    position = _skip(text, at + 1)
    number = 0
    while text[position : position + 1] not in ("}", "]", ""):
        key: str | int = number
        if is_object:
            key, position = _SCAN(text, position)
            position = _skip(text, _skip(text, position) + 1)
        _value, end = _SCAN(text, position)
        yield key, position, end
        position = _skip(text, end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        number += 1


def _skip(text: str, at: int) -> int:
    return int(_SPACE.match(text, at).end())
