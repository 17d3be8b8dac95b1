"""An empty list in an expectation says that there is none, and keeps saying so."""

from __future__ import annotations

from typing import Any

import pytest

from loomverify.errors import InputError
from tests.engine.golden.samples import SAMPLES
from tests.golden.builders import document
from verification.engine.golden.comparing import differences
from verification.golden.cases.accepting import accepted
from verification.golden.cases.expecting import expectations
from verification.golden.documents.reading import read_case

NONE: dict[str, Any] = {"review": [], "remediations": [], "artefacts": []}


def observed_of(sample: str) -> dict[str, Any]:
    return {**SAMPLES[sample]().replayed().observed, "shadow": None}


def test_none_of_them_is_what_plain_work_leaves() -> None:
    assert differences(NONE, observed_of("plain")) == ()


def test_texts_that_were_made_after_all_are_a_difference() -> None:
    [found] = differences({"artefacts": []}, observed_of("pruned"))

    assert (found.place, found.expected) == ("artefacts", [])
    assert {one["kind"] for one in found.observed} == {"pruned"}


def test_texts_that_were_made_can_be_accepted_as_they_are_called() -> None:
    observed = observed_of("pruned")
    found = [one.to_json() for one in differences({"artefacts": []}, observed)]

    changed = accepted({"artefacts": []}, observed, found)

    assert changed["artefacts"]
    assert differences(changed, observed) == ()


@pytest.mark.parametrize("name", NONE)
def test_another_difference_that_is_accepted_does_not_forget_it(name: str) -> None:
    observed = observed_of("plain")
    expected = {"outcome": "fail", name: []}
    found = [one.to_json() for one in differences(expected, observed)]

    assert accepted(expected, observed, found) == {"outcome": "pass", name: []}


@pytest.mark.parametrize("name", ["review", "remediations"])
def test_what_became_none_is_expected_to_stay_none(name: str) -> None:
    observed = observed_of("plain")
    before = {"review": ["low_confidence"], "remediations": [{"mode": "confirm_or_prune"}]}
    expected = {"outcome": "pass", name: before[name]}
    found = [one.to_json() for one in differences(expected, observed)]

    assert accepted(expected, observed, found) == {"outcome": "pass", name: []}


@pytest.mark.parametrize("name", NONE)
def test_people_read_that_none_is_expected(name: str) -> None:
    [shown] = expectations({name: []})

    assert (shown.place, shown.words) == (name, "none")


@pytest.mark.parametrize(
    "expected",
    [
        {"findings": {}},
        {"findings": {"must": [], "only": False}},
        {"rules": {"applied": {}}},
        {"claims": {}},
        {"feedback": []},
        {"calls": {}},
    ],
    ids=str,
)
def test_what_can_never_differ_is_no_expectation(expected: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        read_case(document(expected=expected))

    assert refused.value.code == "case.expects_nothing"


@pytest.mark.parametrize(
    "expected",
    [
        {"review": []},
        {"attempt": {"counted": False}},
        {"calls": {"2": 0}},
        {"rules": {"skipped": ["a"]}},
    ],
    ids=str,
)
def test_none_and_nothing_are_expectations_where_they_can_differ(expected: dict[str, Any]) -> None:
    assert read_case(document(expected=expected)).expected == expected
