from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.grammar_answers import answers
from tests.tables import check_rows
from verification.engine.evidence import NotInspected
from verification.engine.grammars import GRAMMARS, grammar_of, seconds_for
from verification.engine.grammars.registry import BASE_SECONDS, MAX_SECONDS

ROOT = Path(__file__).parents[2]
IN_PROCESS = sorted(suffix for suffix, grammar in GRAMMARS.items() if grammar.parse)
CERTAIN = sorted(suffix for suffix in IN_PROCESS if GRAMMARS[suffix].is_certain)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
GZIP = b"\x1f\x8b\x08\0\0\0\0\0"
HTML = b"\n<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>"
FOREIGN = [
    (suffix, content, holds)
    for suffix in CERTAIN
    for content, holds in ((PNG, "a PNG image"), (GZIP, "a gzip archive"), (HTML, "an HTML page"))
    # A page may be XML: its parser tells.
    if (GRAMMARS[suffix].language, content) != ("XML", HTML)
]
DOCS = (ROOT / "docs" / "syntax.md").read_text()


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "Python"),
        ("deep/A.PY", "Python"),
        ("a.pyi", "Python"),
        ("DATA.JSON", "JSON"),
        ("a.b.yml", "YAML"),
        ("a.min.js", "JavaScript"),
        ("json", None),
        ("a.txt", None),
        ("a.json/b", None),
        (".json", "JSON"),
    ],
)
def test_a_grammar_is_found_by_the_suffix(path: str, language: str | None) -> None:
    grammar = grammar_of(path)

    assert (grammar.language if grammar else None) == language


@pytest.mark.quick_rows(5)
@pytest.mark.parametrize("suffix", IN_PROCESS)
# The first example of a language loads its parser.
@settings(deadline=None)
@given(content=st.binary(max_size=200) | st.text("{}[]()<>=:'\"\n\t -#&!%$;,.aé\0").map(str.encode))
def test_no_content_makes_a_parser_raise(suffix: str, content: bytes) -> None:
    grammar = GRAMMARS[suffix]
    assert grammar.parse is not None

    parsed = grammar.parse(f"a{suffix}", content)

    assert isinstance(parsed, tuple | NotInspected)
    if isinstance(parsed, tuple):
        assert all(one.message.endswith((".", "…")) for one in parsed)
        assert all(one.line >= 0 and one.column >= 0 for one in parsed)
        assert grammar.is_certain or not any(one.certain for one in parsed)


@check_rows(("suffix", "content", "holds"), FOREIGN)
def test_a_file_that_changed_its_type_is_named(suffix: str, content: bytes, holds: str) -> None:
    language = GRAMMARS[suffix].language

    assert answers(f"a{suffix}", content) == [f"hard 1:1 It holds {holds}, not {language}."]


@check_rows("suffix", sorted(set(IN_PROCESS) - set(CERTAIN)))
@check_rows("content", [PNG, GZIP, HTML])
def test_where_nothing_is_certain_foreign_content_is_left_to_file_types(
    suffix: str, content: bytes
) -> None:
    assert answers(f"a{suffix}", content) == []


@check_rows("suffix", sorted(GRAMMARS))
def test_every_suffix_stands_in_the_documentation_with_its_cap(suffix: str) -> None:
    [row] = [line for line in DOCS.splitlines() if f"`{suffix}`" in line and " MB |" in line]

    assert f"| {GRAMMARS[suffix].max_bytes / 1e6:g} MB |" in row


def test_the_time_that_is_waited_grows_with_the_files_and_is_bounded() -> None:
    assert seconds_for([]) == seconds_for([("a.txt", 1_000_000)]) == BASE_SECONDS
    assert BASE_SECONDS < seconds_for([("a.json", 40_000_000)]) < MAX_SECONDS
    assert seconds_for([("a.json", 40_000_000)] * 9) == MAX_SECONDS


def test_the_time_to_load_a_parser_is_given_once_in_a_request() -> None:
    one, many = seconds_for([("a.sql", 0)]), seconds_for([("a.sql", 0)] * 100)

    assert one == many > BASE_SECONDS


@pytest.mark.parametrize(
    "module",
    [
        "verification.engine.grammars",
        "verification.adapters.probe",
        "verification.adapters.probe_child",
    ],
)
def test_heavy_parsers_load_with_the_first_file_that_needs_them(module: str) -> None:
    code = (
        f"import sys, {module};"
        "print([name for name in sys.modules if name.split('.')[0].startswith(('sqlglot', 'tree_sitter'))])"
    )

    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)

    assert ran.stdout.decode().strip() == "[]"
