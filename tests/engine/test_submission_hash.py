from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.evidence import (
    Claim,
    EvidenceItem,
    Submission,
    SubmittedFile,
    TaskSpec,
    ToolCall,
)
from verification.engine.submission_hash import MAX_CANONICAL_CHARS, submission_sha256

TEXTS = st.text(max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
CALLS = st.builds(
    ToolCall, TEXTS, st.booleans(), TEXTS, args=DOCUMENTS, result=DOCUMENTS, files_changed=DOCUMENTS
)
CLAIMS = st.builds(Claim, TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2).map(tuple))
EVIDENCE = st.builds(EvidenceItem, TEXTS, TEXTS, TEXTS, TEXTS)


def few(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


def files_of(digests: dict[str, str]) -> tuple[SubmittedFile, ...]:
    return tuple(SubmittedFile(path, sha256, 1) for path, sha256 in sorted(digests.items()))


PARTS: dict[str, st.SearchStrategy[Any]] = {
    "output": TEXTS | DOCUMENTS.map(json.dumps),
    "tool_calls": few(CALLS),
    "files": st.dictionaries(TEXTS, TEXTS, max_size=3).map(files_of),
    "claims": few(CLAIMS),
    "evidence": few(EVIDENCE),
    "alternatives": few(TEXTS | DOCUMENTS.map(json.dumps)),
    "diff": TEXTS,
    "return_code": st.none() | st.integers(-3, 3),
    "changed": st.none() | st.frozensets(TEXTS, max_size=3),
}
METADATA: dict[str, st.SearchStrategy[Any]] = {
    "task": st.builds(TaskSpec, TEXTS, TEXTS, TEXTS, TEXTS, max_attempts=st.integers(1, 9)),
    "executor_model": TEXTS,
    "executor_context": TEXTS,
}
WORK = Submission(TaskSpec("t", "Do it."), output="done")


def test_each_part_of_a_submission_is_verified_or_metadata() -> None:
    assert {field.name for field in fields(Submission)} == PARTS.keys() | METADATA.keys()


def refuse(name: str) -> None:
    raise ValueError(name)


def meaning(value: Any) -> Any:
    """Spell a value so that equal spellings mean the same: `1` is `1.0`, and `True` is not."""
    if is_dataclass(value):
        return [meaning(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, str):
        try:
            return ("json", meaning(json.loads(value, parse_constant=refuse)))
        except ValueError:
            return ("text", value)
    if isinstance(value, tuple | list):
        return [meaning(item) for item in value]
    if isinstance(value, dict):
        return sorted((key, meaning(value[key])) for key in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", Fraction(repr(value)))
    return value


@pytest.mark.parametrize("part", PARTS)
@given(data=st.data())
def test_another_verified_part_is_another_submission(part: str, data: st.DataObject) -> None:
    one, other = data.draw(PARTS[part]), data.draw(PARTS[part])
    assume(one != other and meaning(one) != meaning(other))

    assert hash_of(**{part: one}) != hash_of(**{part: other})


@pytest.mark.parametrize("part", METADATA)
@given(data=st.data())
def test_other_metadata_is_the_same_submission(part: str, data: st.DataObject) -> None:
    changed = replace(WORK, **{part: data.draw(METADATA[part])})

    assert submission_sha256(changed) == submission_sha256(WORK)


def reordered(value: Any) -> Any:
    """Turn the order of keys around, and write integral numbers as floats."""
    if isinstance(value, dict):
        return {key: reordered(item) for key, item in reversed(value.items())}
    if isinstance(value, list):
        return [reordered(item) for item in value]
    is_exact = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    return float(value) if is_exact else value


SPELLINGS: dict[str, Callable[[Any], str]] = {
    "indented": lambda value: json.dumps(value, indent=3),
    "unescaped": lambda value: f"\n {json.dumps(value, ensure_ascii=False)}\t",
    "reordered": lambda value: json.dumps(reordered(value)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(document=DOCUMENTS)
def test_json_spelled_otherwise_is_the_same_submission(spelling: str, document: Any) -> None:
    plain, other = json.dumps(document), SPELLINGS[spelling](document)

    assert hash_of(output=plain) == hash_of(output=other)
    assert hash_of(alternatives=("x", plain)) == hash_of(alternatives=("x", other))


@given(document=DOCUMENTS)
def test_tool_calls_are_compared_by_the_meaning_of_their_json(document: Any) -> None:
    call = ToolCall("bash", True, args=document)

    assert hash_of(tool_calls=(call,)) == hash_of(
        tool_calls=(replace(call, args=reordered(document)),)
    )


@check_rows(
    ("one", "other", "is_same"),
    [
        ('{"a": 1.50}', '{"a":15e-1}', True),
        ("[100]", "[1E+2]", True),
        ("[-0.0, 0]", "[0, 0e9]", True),
        ("[0.1]", "[0.10000000000000001]", False),
        ("[10000000000000000000001]", "[10000000000000000000002]", False),
        ("[1e400]", "[1e500]", False),
        ("[1e99999999]", "[1e99999998]", False),
        ("[1]", '["1"]', False),
        ("[1.5]", '[["15", -1]]', False),
        ("[1]", "[true]", False),
        ("[1, 2]", "[2, 1]", False),
        ('{"a": null}', "{}", False),
        ('{"a": 1, "a": 2}', '{"a": 2}', False),
        ('{"a": 1, "a": 2}', '{"a": 1,  "a": 2}', False),
        ("[NaN]", "[ NaN]", False),
        ('{"a": 1', '{"a":1', False),
        ("Done.", "Done. ", False),
        ("1 + 1", "1+1", False),
        ('{"a": 1}', "{'a': 1}", False),
        ("[" * 100_000, "[" * 100_001, False),
    ],
)
def test_outputs_are_compared_by_their_meaning_where_they_are_json(
    one: str, other: str, is_same: bool
) -> None:
    assert (hash_of(output=one) == hash_of(output=other)) is is_same


def test_json_that_is_too_long_is_compared_as_text() -> None:
    long = f'["{"x" * MAX_CANONICAL_CHARS}"]'

    assert hash_of(output=long) != hash_of(output=f"{long} ")


def test_other_files_before_the_work_are_another_submission() -> None:
    assert submission_sha256(WORK, {"a.py": "aa"}) != submission_sha256(WORK)


def test_files_are_compared_whatever_their_order() -> None:
    first, second = SubmittedFile("a.py", "aa", 1), SubmittedFile("b.py", "bb", 1)

    assert hash_of(files=(first, second)) == hash_of(files=(second, first))


def hash_of(**parts: Any) -> str:
    return submission_sha256(replace(WORK, **parts))
