from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomverify.errors import Issue
from tests.tables import check_rows
from verification.engine.verifier import Flags, JudgeModels, Limits, PhaseScope
from verification.verifiers.parts import FLAGS, LIMITS, MAX_ISSUES, SEATS, Part, read_parts

ALL = {part.name: part for part in (*FLAGS, *LIMITS)}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def test_every_flag_limit_and_seat_is_told_once_in_a_sentence() -> None:
    told = [*FLAGS, *LIMITS]

    assert [part.name for part in FLAGS] == [one.name for one in fields(Flags)]
    assert [part.name for part in LIMITS] == [one.name for one in fields(Limits)]
    assert [seat for seat, *_ in SEATS] == [one.name for one in fields(JudgeModels)]
    assert len({part.label for part in told}) == len(told)
    assert all(part.about.endswith(".") for part in told)


@check_rows("part", ALL.values(), ids=ALL)
def test_what_is_usual_may_be_set(part: Part) -> None:
    assert part.read(part.usual) == part.usual
    assert part.words(part.usual)


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("tier2_enabled", False, False),
        ("tier3_vote_count", 9, 9),
        ("unconfirmed_supporting_threshold", 1, 1.0),
        ("unconfirmed_supporting_threshold", -0.0, 0.0),
        ("phase_scope_default", "global", PhaseScope.GLOBAL),
        ("prompt_chars", 10_000, 10_000),
        ("syntax_seconds", 45, 45.0),
    ],
)
def test_a_value_is_stored_as_its_kind_so_that_equal_versions_are_equal(
    name: str, value: Any, stored: Any
) -> None:
    read = ALL[name].read(value)

    assert (read, type(read)) == (stored, type(stored))
    assert json.dumps(read) == json.dumps(stored)


@check_rows(
    ("name", "value", "sentence"),
    [
        ("tier2_enabled", 1, "This must be true or false."),
        ("tier2_enabled", "true", "This must be true or false."),
        ("tier2_enabled", None, "This must be true or false."),
        ("tier3_vote_count", 0, "This must be from 1 to 9."),
        ("tier3_vote_count", 10, "This must be from 1 to 9."),
        ("tier3_vote_count", 10**400, "This must be from 1 to 9."),
        ("tier3_vote_count", 3.5, "This must be a whole number."),
        ("tier3_vote_count", True, "This must be a whole number."),
        ("tier3_vote_count", "3", "This must be a whole number."),
        ("unconfirmed_supporting_threshold", math.nan, "This must be a number."),
        ("unconfirmed_supporting_threshold", math.inf, "This must be a number."),
        ("unconfirmed_supporting_threshold", 1.01, "This must be from 0 to 1."),
        ("unconfirmed_supporting_threshold", -0.01, "This must be from 0 to 1."),
        ("phase_scope_default", "everywhere", "This must be one of: current_phase, global."),
        ("phase_scope_default", ["global"], "This must be one of: current_phase, global."),
        ("vote_temperature", {}, "This must be a number."),
        ("prompt_chars", 9_999, "This must be from 10,000 to 4,000,000."),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_words(
    name: str, value: Any, sentence: str
) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the words are what is asked for
        ALL[name].read(value)

    assert str(refused.value) == sentence


@given(st.sampled_from(sorted(ALL)), JSON)
def test_whatever_is_given_is_stored_as_json_or_refused(name: str, value: Any) -> None:
    try:
        read = ALL[name].read(value)
    except ValueError:
        return

    assert json.loads(json.dumps(read, allow_nan=False)) == read
    assert type(read) is type(ALL[name].usual)


def test_any_number_of_strange_names_is_answered_by_a_few() -> None:
    issues: list[Issue] = []

    found = read_parts(FLAGS, dict.fromkeys(map(str, range(100_000)), 1), ("body",), issues)

    assert (found, len(issues)) == ({}, MAX_ISSUES)


def test_the_description_says_what_may_be_set() -> None:
    assert ALL["tier3_vote_count"].schema["maximum"] == 9
    assert ALL["phase_scope_default"].schema["enum"] == ["current_phase", "global"]
    assert ALL["tier2_enabled"].schema["type"] == "boolean"
    assert set(asdict(Limits())) <= set(ALL)
