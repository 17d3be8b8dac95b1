from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.grammar_answers import shown
from tests.tables import check_rows
from verification.adapters.python_syntax import parse_python

TEMPLATE = "It holds template marks, so this does not count: "


def answers(content: str | bytes, path: str = "a.py") -> list[str]:
    [parsed] = parse_python([(path, content.encode() if isinstance(content, str) else content)])
    return shown(parsed)


def notebook(*cells: str | dict[str, Any], **metadata: Any) -> bytes:
    made = [
        {"cell_type": "code", "source": cell} if isinstance(cell, str) else cell for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4}).encode()


@check_rows(
    "content",
    [
        "type X[T] = list[T]\ndef f[**P, *Ts](a: int, /, *, b: str) -> None: ...\n",
        "x = f'{a[\"b\"]} {f'{\"nested\"}'} {\n1 + 1\n}'\n",
        "x = t'{1!r:>{2}}'\n",
        "try:\n    pass\nexcept ValueError, TypeError:\n    pass\n",
        "match x:\n    case {'a': [1, *_], **rest} if rest: pass\n",
        "\ufeffx = 1\n",
        "# coding: latin-1\nx = '\xe9'\n".encode("latin-1"),
        "x = 1\r\ny = 2\rz = 3\n",
        "x = '{{ not a template }} {% either %}'\n",
        "x = " + "(" * 5_000 + "1" + ")" * 5_000 + "\n",
        "x = '" + "x" * 1_000_000 + "'\n",
        " \n",
        "",
    ],
)
def test_python_without_a_remark(content: str | bytes) -> None:
    assert answers(content) == []


@check_rows(
    ("content", "told"),
    [
        ("x = 1\nif True print(2)\n", ["hard 2:9 Expected `:`, found identifier."]),
        ("print 'a'\n", ["hard 1:7 Simple statements must be separated by newlines or semicolons."]),
        ("é = 'é' $\n", ["hard 1:9 Got unexpected token $."]),
        ("x = 1\n\0y = 2\n", ["hard 2:1 Got unexpected token NUL."]),
        ("def f(:\n    pass\n\nx = = 1\n", ["hard 1:6 `(` was never closed."]),
        ("x = = 1\ny = (\n", ["hard 1:5 Expected an expression.", "hard 2:5 `(` was never closed."]),
        ("x = '\xe9'\n".encode("latin-1"), ["hard 1:6 The file is not valid UTF-8."]),
        ("# coding: ascii\nx = '\xe9'\n".encode("latin-1"), ["hard 1 The file is not in the encoding that it names."]),
        ("# coding: zlib\nx = '\xe9'\n".encode("latin-1"), ["hard 1 The file is not in the encoding that it names."]),
        ("x = 1\n".encode("utf-16"), ["hard 1:1 The file is UTF-16, and Python is UTF-8."]),
        ("```python\nx = 1\n```\n", ["hard 1:1 The file starts with a Markdown fence, which is not Python."]),
        (b"\x89PNG\r\n\x1a\n\0", ["hard 1:1 It holds a PNG image, not Python."]),
        ("import {{ cookiecutter.name }}\n", [f"note 1:8 {TEMPLATE}Expected one or more symbol names after import."]),
        ("{% if a %}\nimport a\n{% endif %}\n", [f"note 1:2 {TEMPLATE}Expected an expression."]),
        ("x = '{{ a }}'\nif y\n", ["hard 2:5 Expected `:`, found newline."]),
    ],
)  # fmt: skip
def test_what_is_said_about_python(content: str | bytes, told: list[str]) -> None:
    assert answers(content) == told


def test_python_that_is_newer_than_the_grammar_is_a_remark() -> None:
    [found] = answers("lazy import os\n")

    assert found.startswith("advisory 1:1 Cannot use `lazy` import")


@pytest.mark.extended
def test_python_that_the_parser_cannot_bear_is_unknown_and_spoils_no_other() -> None:
    too_deep = ("deep.py", b"x = " + b"-" * 100_000 + b"1\n")
    broken, fine = ("broken.py", b"if\n"), ("fine.py", b"x = 1\n")

    found = parse_python([broken, fine, too_deep, fine, broken])

    assert [shown(one)[:1] for one in found] == [
        ["hard 1:3 Expected an expression."],
        [],
        ["unknown The Python parser ended with code -6."],
        [],
        ["hard 1:3 Expected an expression."],
    ]


@pytest.mark.parametrize(
    "cells",
    [
        ["%matplotlib inline\n!ls {x}\nx = !ls\ny = %timeit 1\nx?\n"],
        ["%%bash\nif [ x ]; then\n", "%%time\nx = 1\n", ""],
        ["await x\n", [ "x = 1\n", "y = 2"]],
        [{"cell_type": "markdown", "source": "def f(:"}, {"cell_type": "raw", "source": "def f(:"}],
        [{"cell_type": "code"}, {"cell_type": "code", "source": [1]}, 7],
    ],
)  # fmt: skip
def test_notebooks_whose_code_is_fine(cells: list[Any]) -> None:
    made = [{"cell_type": "code", "source": one} if isinstance(one, list) else one for one in cells]

    assert answers(notebook(*made), "a.ipynb") == []


def test_broken_code_in_a_notebook_names_its_cell() -> None:
    text = {"cell_type": "markdown", "source": "# Title"}
    content = notebook(text, "x = 1\n", text, "y = 1\nprint 'a'\n", "def f(:\n")

    assert answers(content, "a.ipynb") == [
        "advisory Cell 4, line 2, column 7: Simple statements must be separated by newlines or semicolons.",
        "advisory Cell 5, line 1, column 7: Expected a parameter or the end of the parameter list.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "R", "name": "ir"}},
        {"language_info": {"name": "julia"}},
        {"kernelspec": {"language": "python"}, "language_info": {"name": "rust"}},
    ],
)
def test_the_code_of_other_kernels_is_not_read_as_python(metadata: dict[str, Any]) -> None:
    assert answers(notebook("x <- c(1, 2)\n", **metadata), "a.ipynb") == []


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"metadata": 3, "cells": [{}]}', b"\xff"])
def test_a_notebook_that_is_none_has_no_code(content: bytes) -> None:
    assert answers(content, "a.ipynb") == []
