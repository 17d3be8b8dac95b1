from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.adapters.custom_wire import (
    MAX_DETAIL_CHARS,
    MAX_ERRORS,
    MAX_MESSAGE_CHARS,
    both_ends,
    bounded,
    read_answer,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
KEYS = ("status", "result", "message", "code", "metadata", "errors", "fatal", "stack")
TOLD = st.fixed_dictionaries(
    {"status": st.sampled_from(["passed", "failed", "error", "skipped", "PASSED", ""]) | JSON},
    optional=dict.fromkeys(KEYS[1:], JSON),
)


@given(TOLD | JSON)
def test_only_what_says_passed_is_read_as_passed_and_all_of_it_can_be_stored(told: Any) -> None:
    answer = read_answer(json.dumps(told).encode(), "totals")

    said = isinstance(told, dict) and told.get("status")
    assert answer.status == "error" or answer.status == said
    kept = json.dumps([answer.result, answer.message, answer.metadata], ensure_ascii=False)
    json.loads(kept.encode(), parse_constant=pytest.fail)
    assert "\\u0000" not in kept


@given(st.binary(max_size=200))
def test_noise_is_no_answer(raw: bytes) -> None:
    assert read_answer(raw, "totals").status == "error"


@check_rows(
    "raw",
    [
        b"",
        b"{}",
        b"[]",
        b'"passed"',
        b'{"status": "passed"',
        b'{"status": ["passed"]}',
        b'{"status": "skipped"}',
        b'{"status": "passed", "result": NaN}',
        b'{"status": "passed", "result": 1e999}',
        b'{"status": "passed", "result": ' + b"9" * 5_000 + b"}",
        b'{"status": "passed", "result": ' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"status": "passed", "result": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b'{"status": "failed", "message": 7}',
        b'{"status": "failed", "metadata": [1]}',
        b'{"status": "failed", "errors": {"loc": []}}',
        b'{"status": "failed", "errors": [{"msg": "x"}]}',
        b'{"status": "failed", "errors": ["x"]}',
        b"\xff\xfe",
    ],
)
def test_what_makes_no_sense_is_lost(raw: bytes) -> None:
    answer = read_answer(raw, "totals")

    assert (answer.status, answer.result) == ("error", None)
    assert answer.message == "The answer of the verifier totals could not be read."


def test_what_no_database_can_hold_is_replaced() -> None:
    told = {"status": "passed", "result": {"a\0": ["b\0", "\ud800"]}}

    assert read_answer(json.dumps(told).encode(), "totals").result == {
        "a\ufffd": ["b\ufffd", "\ufffd"]
    }


def test_a_child_that_says_too_much_is_cut_here_again() -> None:
    errors = [{"loc": ["x" * 1_000], "msg": "y" * 10_000}] * 100
    told = {"status": "failed", "message": "x" * 100_000, "errors": errors, "stack": "z" * 100_000}

    answer = read_answer(json.dumps(told).encode(), "totals")

    assert len(answer.message) == MAX_MESSAGE_CHARS
    assert len(answer.metadata["errors"]) == MAX_ERRORS
    assert len(answer.metadata["errors"][0]["msg"]) == 1_000
    assert len(answer.detail) < MAX_DETAIL_CHARS + 100


@given(st.dictionaries(st.text(max_size=300), JSON | st.text(max_size=30_000), max_size=5))
def test_metadata_keeps_its_small_entries_and_its_bounds(metadata: dict[str, Any]) -> None:
    kept = bounded(metadata)

    assert len(json.dumps(kept)) < 150_000
    assert [key for key in metadata if key in kept] == list(kept)


def test_a_long_list_of_metadata_loses_its_end_and_stays_a_list() -> None:
    names = [f"tests/test_module.py::test_{number}" for number in range(10_000)]

    kept = bounded({"failed_tests": names, "suite": "regression"})

    *shown, rest = kept["failed_tests"]
    assert shown == names[: len(shown)]
    assert len(shown) > 100
    assert rest == f"… {len(names) - len(shown)} more"
    assert kept["suite"] == "regression"
    assert bounded(kept) == kept


@given(st.text(max_size=300), st.integers(10, 100))
def test_both_ends_of_a_text_are_kept(text: str, limit: int) -> None:
    cut = both_ends(text, limit)

    assert cut == text if len(text) <= limit else cut.startswith(text[: limit // 2])
    assert cut.endswith(text[-(limit // 2) :])
