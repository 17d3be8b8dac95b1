"""Files of cases, also from strangers: what is read, what is refused, and where."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from loomverify.errors import InputError
from tests.golden.builders import document
from tests.tables import check_rows
from verification.golden.documents import parsing, yaml_values
from verification.golden.documents.parsing import parse_cases
from verification.golden.documents.reading import read_case
from verification.golden.documents.writing import (
    one_to_yaml,
    spec_of,
    to_json_line,
    to_yaml,
    with_files,
)
from verification.golden.documents.yaml_values import read_yaml

CASE = """\
id: plain
guards: Plain work passes.
process: small-work
phase: build
run:
  task: {id: t1, description: Sum it up.}
  output: All is summed up.
expected:
  outcome: pass
  severity_class: null
"""


def refused(raw: str | bytes) -> tuple[str, str]:
    """Code and message of what is wrong with the file."""
    with pytest.raises(InputError) as found:
        parse_cases(raw.encode() if isinstance(raw, str) else raw)
    [issue] = found.value.issues
    return issue.code, issue.msg


def as_list(text: str) -> str:
    return "".join(
        f"{'- ' if n == 0 else '  '}{line}\n" for n, line in enumerate(text.splitlines())
    )


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        (CASE, ["plain"]),
        (as_list(CASE), ["plain"]),
        (as_list(CASE) + as_list(CASE.replace("plain", "other")), ["plain", "other"]),
        ("\ufeff" + CASE, ["plain"]),
        ("[]", []),
        ('[ {"id": "a"} ,\n {"id": "b"} ]\n', ["a", "b"]),
        ('{"id": "a"}', ["a"]),
        ('{"id": "a"}\n{"id": "b"}\n', ["a", "b"]),
    ],
    ids=["one", "list", "two", "mark", "none", "json-list", "json-one", "json-lines"],
)
def test_a_file_holds_one_case_or_a_list_in_yaml_or_json(raw: str, names: list[str]) -> None:
    found = parse_cases(raw.encode())

    assert [one["id"] for one in found.documents] == names


@check_rows(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("2026-01-01", "2026-01-01"),
        ("12:30", "12:30"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("true", True),
        ("~", None),
        ("", None),
        ("-3", -3),
        ("4.50", 4.5),
        ("1e3", 1000.0),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("[a, {b: 1}]", ["a", {"b": 1}]),
        ("&x a", "a"),
    ],
)
def test_only_what_looks_like_json_is_more_than_text(text: str, value: Any) -> None:
    assert read_yaml(f"it: {text}\n") == {"it": value}


def test_a_key_is_text_whatever_it_looks_like() -> None:
    assert read_yaml("2: a\non: b\nnull: c\n") == {"2": "a", "on": "b", "null": "c"}


def test_an_alias_stands_for_what_it_names() -> None:
    assert read_yaml("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


LAUGHS = "\n".join(
    [
        "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]",
        *(
            f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
            for before, name in zip("abcdefgh", "bcdefghi", strict=True)
        ),
    ]
)


@check_rows(
    ("raw", "code", "place"),
    [
        (LAUGHS, "yaml.values", "Line 6, column"),
        (f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 200)}]", "yaml.chars", "Line 2, column"),
        ("a: &a [1, *a]", "yaml.recursive", "Line 1, column 11"),
        ("a: *b", "yaml.alias_unknown", "Line 1, column 4"),
        ("a: " + "[" * 101 + "]" * 101, "yaml.depth", "Line 1, column 103"),
        ("[" * 100_000, "json.invalid", "Line 1, column"),
        ("- " + "- " * 500 + "a", "yaml.depth", "Line 1, column"),
        ("a: 1\nb: 2\na: 3", "yaml.key_twice", "Line 3, column 1"),
        ('{"a": 1, "a": 2}', "json.invalid", "Line 1, column 1"),
        ("a: !!python/object/apply:os.system [ls]", "yaml.tag", "Line 1, column 4"),
        ("a: !custom b", "yaml.tag", "Line 1, column 4"),
        ("a: !!binary aGk=", "yaml.tag", "Line 1, column 4"),
        ("? [a, b]\n: c", "yaml.key", "Line 1, column 3"),
        ("a: .nan", "yaml.number", "Line 1, column 4"),
        ("a: -.inf", "yaml.number", "Line 1, column 4"),
        ('{"a": NaN}', "json.invalid", "Line 1, column 1"),
        ("a: " + "9" * 5_000, "yaml.number", "Line 1, column 4"),
        ("<<: {a: 1}", "yaml.merge", "Line 1, column 1"),
        ("a: 1\n---\nb: 2\n", "yaml.documents", "Line 2, column 1"),
        ("a: 'b", "yaml.syntax", "Line 1, column 6"),
        ("a: \x01", "yaml.character", ""),
        ("\n\n# nothing\n", "yaml.empty", ""),
        (b"a: 1\nb: \xff", "file.encoding", "Line 2"),
        ('[{"id": "a"},]', "json.invalid", "Line 1, column 13"),
        ('[{"id": "a"}\n{"id": "b"}]', "json.invalid", "Line 2, column 1"),
        ('[{"id": "a"}] x', "json.invalid", "Line 1, column 13"),
        ('[{"id": "a"}', "json.invalid", "Line 1, column 13"),
        ('{"a": 1}\nb: 2', "json.invalid", "Line 2, column 1"),
        ("- plain\n", "case.kind", ""),
        ("plain\n", "case.kind", ""),
    ],
    ids=[
        "laughs", "long-aliases", "recursive", "unknown-alias", "deep", "deep-json", "deep-list",
        "key-twice", "json-key-twice", "python-tag", "own-tag", "binary", "list-as-key", "nan",
        "inf", "json-nan", "long-number", "merge", "two-documents", "syntax", "control", "empty",
        "not-utf8", "comma", "no-comma", "behind-the-end", "no-end", "no-json-line", "a-text",
        "text-alone",
    ],
)  # fmt: skip
def test_hostile_and_broken_files_are_refused_with_their_place(
    raw: str | bytes, code: str, place: str
) -> None:
    found, msg = refused(raw)

    assert found == code
    assert place in msg


def test_files_and_numbers_of_cases_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(b"a" * (parsing.MAX_FILE_BYTES + 1))[0] == "file.too_large"
    assert refused("[" + ",".join(["{}"] * 1_001) + "]")[0] == "cases.too_many"
    assert refused("- {}\n" * 1_001)[0] == "cases.too_many"
    assert refused("[" + "1," * 400_000 + "1]")[0] == "json.too_many_values"


def test_every_error_of_every_case_is_told_with_line_and_column() -> None:
    raw = as_list(CASE) + as_list(CASE.replace("outcome: pass", "outcome: perhaps"))
    file = parse_cases(raw.replace("phase: build", "phase: 3").encode())

    with pytest.raises(InputError) as found:
        parsing.collected(file.documents, lambda one, loc: read_case(one, loc=loc))
    issues = file.placed(found.value).issues

    assert [one.loc for one in issues] == [
        ("body", 0, "phase"),
        ("body", 1, "phase"),
        ("body", 1, "expected", "outcome"),
    ]
    assert [one.msg.partition(": ")[0] for one in issues] == [
        "Line 4, column 3",
        "Line 14, column 3",
        "Line 19, column 5",
    ]


def test_what_is_missing_is_told_where_it_should_stand() -> None:
    file = parse_cases(CASE.replace("guards: Plain work passes.\n", "").encode())

    with pytest.raises(InputError) as found:
        parsing.collected(file.documents, lambda one, loc: read_case(one, loc=loc))

    [issue] = file.placed(found.value).issues
    assert issue.loc == ("body", 0, "guards")


def test_in_json_the_case_is_told_by_its_line() -> None:
    file = parse_cases(b'{"id": "a"}\n{"id": "b"}\n')
    error = InputError("case.x", "Wrong.", loc=("body", 1, "phase"))

    assert file.placed(error).issues[0].msg == "Line 2, column 1: Wrong."


def test_texts_that_no_database_keeps_are_refused_with_their_place() -> None:
    with pytest.raises(InputError) as found:
        read_case({**document(), "guards": "a\0b"})

    assert (found.value.code, found.value.issues[0].loc) == ("text.nul", ("body", "guards"))


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"))
WORDS_THAT_LOOK_LIKE_MORE = st.sampled_from(
    ["yes", "no", "null", "~", "true", "1e3", "1_0", "007", "2026-01-01", "1:30", ".nan", "=",
     "<<", "- a", "a: b", "#", "|", "'", '"', "!x", "&a", "*a", "%", "@", " lead", "trail ", "\n",
     "a\n", "a\n\n", "\na", "  a\nb", "a\r\nb", "\u2028", "\x85", "\x07", "é", "🦉", "x" * 500]
)  # fmt: skip
SOME_TEXT = TEXTS | WORDS_THAT_LOOK_LIKE_MORE
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | SOME_TEXT
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SOME_TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(JSON)
def test_whatever_is_written_is_read_back_the_same(value: Any) -> None:
    written = {"id": "a", "run": value}

    assert list(parse_cases(to_yaml([written]).encode()).documents) == [written]
    assert list(parse_cases(one_to_yaml(written).encode()).documents) == [written]
    assert list(parse_cases(to_json_line(written).encode()).documents) == [written]


def test_a_case_keeps_all_that_it_says_and_an_expected_null() -> None:
    whole = {
        **document("whole", files={"a.md": "# A\nb\n", "b.bin": {"base64": "AAEC/w=="}}),
        "tags": ["canary"],
        "expected": {"outcome": "pass", "severity_class": None},
    }

    read = read_case(whole)

    assert with_files(spec_of(read.document), read.files) == whole


def test_longer_texts_stand_in_blocks() -> None:
    written = to_yaml([document("a", run={"output": "# Title\n\nFirst: line\nSecond line\n"})])

    assert "output: |\n" in written
    assert "      First: line\n      Second line\n" in written
    assert yaml.safe_load(written)[0]["run"]["output"].endswith("Second line\n")


DAMAGED = st.tuples(st.integers(0, len(CASE)), st.text(max_size=4)).map(
    lambda damage: CASE[: damage[0]] + damage[1] + CASE[damage[0] :]
)


@given(st.binary(max_size=200) | (TEXTS | DAMAGED).map(str.encode))
@example(CASE.encode())
def test_any_file_holds_documents_or_is_refused(raw: bytes) -> None:
    documents: list[Any] = []
    with suppress(InputError):
        documents += parse_cases(raw).documents

    assert {type(one) for one in documents} <= {dict}


@given(JSON)
def test_what_is_plain_text_is_read_as_text(value: Any) -> None:
    text = json.dumps(value)

    assert yaml_values.is_plain_text(text) or not isinstance(read_yaml(f"- {text}")[0], str)
