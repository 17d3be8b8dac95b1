from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.grammar_answers import answers
from tests.tables import check_rows
from verification.engine.grammars.notebook_schema import MAX_PROBLEMS

CODE: dict[str, Any] = {
    "cell_type": "code", "id": "a", "metadata": {}, "source": ["x = 1\n"], "outputs": [],
    "execution_count": None,
}  # fmt: skip
TEXT: dict[str, Any] = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "# Title"}
STREAM: dict[str, Any] = {"output_type": "stream", "name": "stdout", "text": ["1\n"]}


def notebook(*cells: Any, **fields: Any) -> str:
    usual = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({**usual, **fields})


def without(cell: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in cell.items() if name not in names}


@check_rows(
    "content",
    [
        notebook(CODE, TEXT),
        notebook({**CODE, "outputs": [STREAM], "execution_count": 3}),
        notebook(without(CODE, "id"), nbformat_minor=4),
        # A version to come may hold anything more.
        notebook({**CODE, "new": 1}, {"cell_type": "chart", "metadata": {}}, nbformat_minor=77),
        notebook(CODE, nbformat=7),
        notebook(CODE, metadata={"any": {"thing": [1.5, None]}}),
        '{"worksheets": [{"cells": [{"cell_type": "code"}]}], "nbformat": 2}',
    ],
)
def test_notebooks_without_a_remark(content: str) -> None:
    assert answers("a.ipynb", content) == []


@check_rows(
    ("content", "told"),
    [
        (notebook(), ["advisory The notebook has no cells."]),
        ("[]", ["advisory It is JSON, but no notebook: there is no list of cells."]),
        ('{"cells": {}}', ["advisory It is JSON, but no notebook: there is no list of cells."]),
        ('{"cells": [', ["hard 1:12 Expecting value."]),
        (
            '\ufeff{"cells": [{}]}',
            [
                "note 1:1 The file starts with a byte order mark.",
                "advisory 1:1 The notebook does not say which version of the format it has: "
                "`nbformat` is missing.",
            ],
        ),
        (
            '{"cells": [{}], "nbformat": 4}',
            ["advisory 1:1 The notebook lacks `metadata`, `nbformat_minor`."],
        ),
        (
            notebook(CODE, title="x", metadata={"kernelspec": 3}),
            [
                "advisory 1:1 The notebook holds `title`, which the format does not know.",
                "advisory 1:153 The notebook: `metadata.kernelspec` is a number of a kind or shape "
                "that the format does not know here.",
            ],
        ),
        (
            notebook(CODE, without(CODE, "metadata", "outputs")),
            ["advisory 1:125 Cell 2: The code cell lacks `metadata`, `outputs`."],
        ),
        (
            notebook(TEXT, {**TEXT, "source": 5}),
            [
                "advisory 1:87 Cell 2: The markdown cell: `source` is a number of a kind or shape "
                "that the format does not know here."
            ],
        ),
        (
            notebook({**CODE, "outputs": [STREAM, without(STREAM, "name")]}),
            ["advisory 1:12 Cell 1: An output `stream` lacks `name`."],
        ),
        (
            notebook({**CODE, "outputs": [{"output_type": "video"}]}),
            ["advisory 1:12 Cell 1: An output is of no kind that the format knows."],
        ),
        (
            notebook({"cell_type": "chart"}, 7, TEXT),
            [
                "advisory 1:12 Cell 1: This is no cell of a kind that the format knows. "
                "So it is in 2 cells."
            ],
        ),
        (
            notebook({**TEXT, "id": "no id!"}),
            ["advisory 1:12 Cell 1: The markdown cell: `id` does not fit `pattern` of the schema."],
        ),
        (
            '{"worksheets": [{}], "nbformat": 3}',
            [
                "advisory The notebook has no cells.",
                "advisory 1:1 The notebook does not fit the schema of version 3.",
            ],
        ),
    ],
)
def test_what_is_said_about_notebooks(content: str, told: list[str]) -> None:
    assert answers("a.ipynb", content) == told


def test_a_cell_has_the_line_where_it_begins() -> None:
    text = json.dumps(json.loads(notebook(CODE, {"cell_type": "code"})), indent=1)

    [found] = answers("a.ipynb", text)

    line, column = found.split(" ")[1].split(":")
    assert text.splitlines()[int(line) - 1][int(column) - 1 :] == "{"
    assert text.splitlines()[int(line)].strip() == '"cell_type": "code"'


def test_a_notebook_of_many_faults_is_told_in_a_few_lines() -> None:
    cells = [{**CODE, f"field_{number}": 1} for number in range(300)]

    assert len(answers("a.ipynb", notebook(*cells))) == MAX_PROBLEMS


@pytest.mark.parametrize(
    "content",
    [
        notebook({**CODE, "x" * 1_000_000: 1}),
        notebook({**CODE, "source": "x" * 1_000_000, "outputs": 1}),
        notebook(nbformat_minor="9" * 100),
        notebook(nbformat=True),
        notebook(CODE, metadata={"n": 0}).replace('"n": 0', '"n": ' + "9" * 10_000),
        notebook(*[[[[[]]]]] * 1_000),
    ],
)
def test_a_hostile_notebook_is_told_in_short_lines(content: str) -> None:
    assert all(len(told) < 250 for told in answers("a.ipynb", content))
