from __future__ import annotations

import pytest

from verification.adapters.python_brackets import MAX_OPEN, unclosed_bracket


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = (1 + 2\n\ndef f(): pass\n", 1, 5),
        ("x = [1, {2: 3\n# ] }\n", 1, 9),
        ("f'{a[1]}' + (\n", 1, 13),
        ("ä = ('é', [\n", 1, 11),
        ("def f(\n    a,\n", 1, 6),
    ],
)
def test_a_bracket_that_is_open_at_the_end_has_its_place(text: str, line: int, column: int) -> None:
    found = unclosed_bracket(text)

    assert found is not None
    assert (found.line, found.column) == (line, column)
    assert "never closed" in found.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a(']', \"(\", b'''(((''')  # (\n",
        "s = '''(\n",
        "s = \"it's (\" + 'a \\' ('\n",
        "(]",
        ")",
        "(" * (MAX_OPEN + 1),
    ],
)
def test_other_trouble_is_left_to_the_parser(text: str) -> None:
    assert unclosed_bracket(text) is None
