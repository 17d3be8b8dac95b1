from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars import GRAMMARS, grammar_of

IN_PROCESS = sorted(suffix for suffix, grammar in GRAMMARS.items() if grammar.parse)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def problems(path: str, content: bytes) -> tuple[SyntaxProblem, ...]:
    grammar = grammar_of(path)
    assert grammar is not None
    assert grammar.parse is not None
    parsed = grammar.parse(path, content)
    assert not isinstance(parsed, NotInspected)
    return parsed


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("deep/A.PY", "python"),
        ("a.pyi", "python"),
        ("a.json", "json"),
        ("a.b.yml", "yaml"),
        ("json", None),
        ("a.txt", None),
        ("a.json/b", None),
    ],
)
def test_a_grammar_is_found_by_the_suffix(path: str, language: str | None) -> None:
    grammar = grammar_of(path)

    assert (grammar.language if grammar else None) == language


@given(VALUES)
def test_whatever_json_writes_is_json_without_a_remark(value: object) -> None:
    assert problems("a.json", json.dumps(value).encode()) == ()


@pytest.mark.parametrize("suffix", IN_PROCESS)
@given(content=st.binary(max_size=200))
def test_no_content_makes_a_parser_raise(suffix: str, content: bytes) -> None:
    grammar = GRAMMARS[suffix]
    assert grammar.parse is not None

    parsed = grammar.parse(f"a{suffix}", content)

    assert isinstance(parsed, tuple | NotInspected)


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        (b'{"a": 1, "a": 2, "a": 3}', ['The key "a" stands twice in one object.'] * 2),
        (b'[{"a": 1}, {"a": 2}]', []),
        (b'{"\\u0061": 1, "a": 2}', ['The key "a" stands twice in one object.']),
        (b"[NaN, -Infinity]", ["NaN is not JSON.", "-Infinity is not JSON."]),
        (b"[" + b"1" * 5_000 + b"]", []),
        (b"\xff{}", ["The file is not valid UTF-8."]),
        (b'{"a": 1} // why', ["Extra data."]),
    ],
)
def test_what_is_said_about_json(content: bytes, messages: list[str]) -> None:
    assert [one.message for one in problems("a.json", content)] == messages


@pytest.mark.parametrize(
    "path",
    ["tsconfig.json", "web/tsconfig.build.json", ".vscode/settings.json", "a.jsonc"],
)
def test_files_known_for_comments_may_hold_them(path: str) -> None:
    content = b'{\n  // why\n  "a": "// not a comment", /* b */\n  "c": [1, 2,],\n}'

    assert problems(path, content) == ()


@pytest.mark.parametrize(
    "content",
    [
        b"a: 1\n---\nb: 2\n",
        b"a: !secret b\n",
        b"a: {{ b }}\n  c: : {% if d %}\n",
        b"on: [push]\nsteps:\n  - run: ${{ matrix.a }}\n   bad",
        b"",
    ],
)
def test_yaml_that_is_nobodys_fault(content: bytes) -> None:
    assert problems("a.yaml", content) == ()
