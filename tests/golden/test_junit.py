from __future__ import annotations

import pytest
from defusedxml.ElementTree import fromstring

from verification.engine.golden.standing import Change
from verification.golden.junit import TestCase, junit_xml

DIFFERENCE = {"place": "outcome", "expected": "pass", "observed": "fail"}
LOST = "No answer was recorded to: 2.assess.1"


@pytest.mark.parametrize(
    ("change", "elements"),
    [
        (Change.HELD, []),
        (Change.FIXED, []),
        (Change.REGRESSED, ["failure"]),
        (Change.STILL_FAILING, ["failure"]),
        (Change.NEW, ["failure"]),
        (Change.NOT_JUDGED, ["error"]),
    ],
    ids=str,
)
def test_a_case_is_a_failure_or_an_error_where_it_stands_and_in_the_counts(
    change: Change, elements: list[str]
) -> None:
    case = TestCase("a-case", "general", "work", change, [DIFFERENCE], LOST)

    suites = fromstring(junit_xml("golden corpus", [case]))

    found = [one.tag for one in next(suites.iter("testcase"))]
    counts = [suites.get(name) for name in ("tests", "failures", "errors")]
    assert found == elements
    assert counts == ["1", str(elements.count("failure")), str(elements.count("error"))]


def test_what_was_not_judged_says_which_answer_is_missing() -> None:
    case = TestCase("a-case", "general", "work", Change.NOT_JUDGED, [], LOST)

    error = next(fromstring(junit_xml("golden corpus", [case])).iter("error"))

    assert error.text == LOST
    assert error.get("type") == "not_judged"


def test_a_failure_holds_expected_beside_observed() -> None:
    case = TestCase("a-case", "general", "work", Change.REGRESSED, [DIFFERENCE], "")

    failure = next(fromstring(junit_xml("golden corpus", [case])).iter("failure"))

    assert failure.text == "outcome\n  expected pass\n  observed fail"
