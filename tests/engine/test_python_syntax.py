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
        "match x:\n    case {'a': [1, *_], **rest} if rest: pass\n",
        "\ufeffx = 1\n",
        "# coding: latin-1\nx = '\xe9'\n".encode("latin-1"),
        "# -*- coding: utf-8-unix -*-\nx = '\xe9'\n",
        "#\n#\n# coding: nope\n",
        "x = 1\n# coding: nope\n",
        "# a note\rx = 'coding: nope'\r",
        "# coding: mbcs\nx = 1\n",
        "async def f():\n    async for x in y:\n        yield x\n    return\n",
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


@check_rows(
    "content",
    [
        "return 1\n",
        "class A:\n    return 1\n",
        "await x\n",
        "def f():\n    await x\n",
        "def f():\n    return [x async for x in y]\n",
        "yield 1\n",
        "async def f():\n    yield from x\n",
        "async def f():\n    yield 1\n    return 2\n",
        "import os\nfrom __future__ import annotations\n",
        "from __future__ import nope\n",
        "nonlocal x\n",
        "def f():\n    nonlocal x\n",
        "def g():\n    x = 1\n    def f():\n        print(x)\n        nonlocal x\n",
        "def f():\n    x = 1\n    global x\n",
        "def f(x):\n    global x\n",
        "def g():\n    x = 1\n    def f():\n        nonlocal x\n        x: int = 2\n",
        "break\n",
        "for x in y:\n    def f():\n        continue\n",
        "def f(a, a): pass\n",
        "f(a=1, a=2)\n",
        "f(__debug__=1)\n",
        "*a\n",
        "*a, *b = c\n",
        "def f():\n    from os import *\n",
        "try: pass\nexcept: pass\nexcept E: pass\n",
        "def f():\n    try: pass\n    except* E:\n        return\n",
        "match x:\n    case _ | 1: pass\n",
        "match x:\n    case f'': pass\n",
        "if 1:\n    x\n\ty\n",
        "x = '\\N{NO SUCH NAME}'\n",
        "# coding: nope\nx = 1\n",
        "#!/usr/bin/python\n# vim: set fileencoding=nope :\nx = 1\n",
        "# coding: utf-16\nx = 1  #\n",
        "\ufeff# coding: latin-1\nx = 1\n",
        "".join(f"{' ' * depth}if x:\n" for depth in range(101)) + " " * 101 + "pass\n",
    ],
)
def test_what_the_compiler_of_every_version_refuses_is_certain(content: str) -> None:
    first, *_ = answers(content)

    assert first.startswith("hard ")


@check_rows(
    ("content", "place", "version"),
    [
        ("type X[T] = list[T]\n", "1:1", "3.12"),
        ("x = 1\ndef f[**P, *Ts](a: int): ...\n", "2:6", "3.12"),
        ("x = f'{a['b']}'\n", "1:10", "3.12"),
        ("class A[T = int]: ...\n", "1:11", "3.13"),
        ("x = t'{1!r:>{2}}'\n", "1:5", "3.14"),
        ("try: pass\nexcept A, B: pass\n", "2:8", "3.14"),
        ("lazy import os\n", "1:1", "3.15"),
        # Of several the newest is told: it is what a project has to have.
        ("type X = int\nx = t'{1}'\n", "2:5", "3.14"),
    ],
)
def test_what_a_newer_python_reads_is_a_remark_that_names_the_version(
    content: str, place: str, version: str
) -> None:
    [found] = answers(content)

    assert found.startswith(f"advisory {place} ")
    assert found.endswith(f"(syntax was added in Python {version}).")


def test_what_an_older_python_reads_is_a_remark_that_names_both_versions() -> None:
    [found] = answers("async def f() -> g((a := b)): pass\n")

    assert found.startswith("advisory 1:21 Python 3.")
    assert "reads it, Python 3.14 does not: " in found


@check_rows(
    "content",
    ["# %%\nawait load()\n", "x = 1\n#%% plot\n%matplotlib inline\n", "# %%\n!ls\n"],
)
def test_what_an_interactive_window_reads_is_a_remark(content: str) -> None:
    [found] = answers(content)

    assert found.startswith("advisory ")


def test_a_module_of_ones_own_called_future_is_held_against_nobody() -> None:
    assert not any(one.startswith("hard") for one in answers("from .__future__ import ours\n"))


def test_syntax_of_newer_versions_hides_no_error() -> None:
    assert answers("type X = int\nreturn\n") == [
        "hard 2:1 `return` statement outside of a function/method."
    ]


@check_rows("content", ["type X = int\n", "def f[T](a: T = ...) -> T: ...\n"])
def test_a_stub_is_read_by_type_checkers_and_has_no_oldest_version(content: str) -> None:
    assert answers(content, "a.pyi") == []


@check_rows(
    "content",
    [
        # Too deep for the compiler, and no problem of the grammar.
        "x = " + "[" * 40 + "a" + " for a in b]" * 40 + "\n",
        "x = " + " + ".join(["1"] * 4_000) + "\n",
        "if x: pass\n" + "elif x: pass\n" * 5_000,
        "x = 1  # \\d\ny = '\\d'\n",
    ],
)
def test_what_the_compiler_cannot_bear_is_left_to_the_grammar(content: str) -> None:
    assert answers(content) == []


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
        ["import os\n", "from __future__ import annotations\n", "type X = int\n"],
        [{"cell_type": "markdown", "source": "def f(:"}, {"cell_type": "raw", "source": "def f(:"}],
        [{"cell_type": "code"}, {"cell_type": "code", "source": [1]}, 7],
    ],
)  # fmt: skip
def test_notebooks_whose_code_is_fine(cells: list[Any]) -> None:
    made = [{"cell_type": "code", "source": one} if isinstance(one, list) else one for one in cells]

    assert answers(notebook(*made), "a.ipynb") == []


def test_broken_code_in_a_notebook_names_its_cell() -> None:
    text = {"cell_type": "markdown", "source": "# Title"}
    content = notebook(text, "x = 1\n", text, "y = 1\nprint 'a'\n", "def f(:\n", "return\n")

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
