from __future__ import annotations

from typing import Any

import pytest

from tests.tables import check_rows
from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.doubt import Doubt
from verification.engine.protocol.objects import loads
from verification.engine.protocol.reading import reply_of
from verification.engine.protocol.reply import Reply

SATISFIED, VIOLATED, UNKNOWN = FindingVerdict
RULE = "no-placeholders"


def read(document: dict[str, Any]) -> Reply:
    reply = reply_of(document)
    assert reply is not None
    return reply


@check_rows(
    ("document", "passed"),
    [
        ({"passed": True}, True),
        ({"passed": "yes"}, True),
        ({"passed": " Passed. "}, True),
        ({"PASSED": "false"}, False),
        ({"is-passed": "no"}, False),
        ({"verdict": "approved"}, True),
        ({"decision": "reject"}, False),
        ({"passed": True, "result": {"files": 3}}, True),
        ({"passed": True, "result": "three files"}, True),
        ({"passed": True, "failed": 0}, True),
        ({"passed": 1}, None),
        ({"passed": "1"}, None),
        ({"passed": "ok"}, None),
        ({"passed": []}, None),
        ({"verdict": True}, None),
        ({"verdict": "satisfied"}, None),
        ({"success": True}, None),
        ({"failed": False}, None),
        ({}, None),
    ],
)
def test_only_a_word_for_it_is_a_verdict(document: dict[str, Any], passed: bool | None) -> None:
    reply = reply_of(document)

    assert (reply and reply.passed) is passed


@pytest.mark.parametrize(
    "document",
    [
        {"passed": True, "Passed": False},
        {"passed": True, "verdict": "fail"},
        {"passed": True, "verdict": "inconclusive"},
        {"passed": None, "verdict": "pass"},
        {"passed": True, "failed": True},
        {"passed": False, "failed": "no"},
        {"passed": True, "checks": {"tests": {"passed": False}}},
        {"passed": True, "notes": ["violated"]},
        {"passed": True, "failed_rules": ["no-placeholders"]},
        {"passed": True, "violations": [{"id": 1}]},
        {"passed": True, "tests": {"failed": 2}},
    ],
)
def test_what_says_both_is_in_doubt(document: dict[str, Any]) -> None:
    with pytest.raises(Doubt):
        reply_of(document)


@pytest.mark.parametrize(
    "beside",
    [
        {"failed": []},
        {"failed": "no"},
        {"failures": 0},
        {"violations": "None."},
        {"failed_rules": ["n/a"]},
        {"violations": {}},
    ],
)
def test_that_nothing_failed_is_no_doubt(beside: dict[str, Any]) -> None:
    assert read({"passed": True, **beside}).passed


@check_rows(
    ("answer", "verdict"),
    [
        ({"verdict": "satisfied"}, SATISFIED),
        ({"verdict": "MET"}, SATISFIED),
        ({"status": "not_satisfied"}, VIOLATED),
        ({"result": "non-compliant"}, VIOLATED),
        ({"verdict": "violated", "passed": False}, VIOLATED),
        ({"satisfied": True}, SATISFIED),
        ({"violated": True}, VIOLATED),
        ({"verdict": "satisfied", "passed": False}, UNKNOWN),
        ({"verdict": "mostly satisfied"}, UNKNOWN),
        ({"verdict": "no"}, UNKNOWN),
        ({"verdict": True}, UNKNOWN),
        ({"verdict": None}, UNKNOWN),
        ({}, UNKNOWN),
    ],
)
def test_a_rules_answer_is_a_word_for_it_or_unknown(
    answer: dict[str, Any], verdict: FindingVerdict
) -> None:
    for rules in ([{"rule": RULE, **answer}], {RULE: answer}):
        [told] = read({"passed": False, "rules": rules}).rules

        assert (told.rule, told.verdict) == (RULE, verdict)


def test_an_answer_that_names_no_rule_keeps_its_place() -> None:
    rules = [{"verdict": "violated"}, "satisfied", {"rule": RULE, "verdict": "satisfied"}]

    told = read({"passed": True, "rules": rules}).rules

    assert [(answer.rule, answer.verdict) for answer in told] == [
        (RULE, SATISFIED),
        ("", VIOLATED),
        ("", UNKNOWN),
    ]


@check_rows(
    ("value", "confidence", "points"),
    [
        (0.5, 0.5, 0.5),
        (1, 1.0, 1.0),
        (3, None, 3.0),
        (11, None, None),
        (-0.1, None, None),
        ("85%", 0.85, None),
        ("850%", None, None),
        ("3/3", None, None),
        ("0.25", 0.25, 0.25),
        (True, None, None),
        ("high", None, None),
        (float("inf"), None, None),
        (10**400, None, None),
        (None, None, None),
        ([0.5], None, None),
    ],
)
def test_a_number_out_of_range_is_absent(
    value: Any, confidence: float | None, points: float | None
) -> None:
    reply = read({"passed": True, "confidence": value, "score": {"correctness": value}})

    assert reply.rating is not None
    assert (reply.confidence, reply.rating.correctness) == (confidence, points)


@pytest.mark.parametrize(
    ("more", "is_short"),
    [
        ({"issues": ["a"], "confidence": 1, "suggestion": "b"}, True),
        ({"token": "x", "model": "y"}, True),
        ({"issues": [{"message": "a"}]}, True),
        ({"rules": []}, False),
        ({"rules": "all are satisfied"}, False),
        ({"acceptance": None}, False),
        ({"claims": []}, False),
        ({"ruls": [{"rule": RULE, "verdict": "satisfied"}]}, False),
        ({"acceptnce": {"verdict": "satisfied"}}, False),
    ],
)
def test_a_reply_is_short_when_it_says_nothing_of_rules_under_any_name(
    more: dict[str, Any], is_short: bool
) -> None:
    assert read({"passed": True, **more}).is_short is is_short


@pytest.mark.parametrize(
    ("acceptance", "verdict", "why"),
    [
        ({"verdict": "satisfied", "why": "All is there."}, SATISFIED, "All is there."),
        ("violated", VIOLATED, ""),
        ({"why": "It is so."}, UNKNOWN, "It is so."),
        ("perhaps", UNKNOWN, ""),
        (None, UNKNOWN, ""),
    ],
)
def test_acceptance_that_is_there_and_unreadable_is_unknown(
    acceptance: Any, verdict: FindingVerdict, why: str
) -> None:
    reply = read({"passed": True, "acceptance": acceptance})

    assert (reply.acceptance, reply.acceptance_why) == (verdict, why)


def test_claims_come_with_what_they_lean_on() -> None:
    claims = [
        {"text": "It rose.", "label": "confirmed", "section": "other", "evidence": ["e1", "e2"]},
        {"claim": "It fell.", "evidence": "e1"},
        {"label": "confirmed"},
        "It stayed.",
    ]

    told = read({"passed": True, "claims": claims}).claims

    assert [(one.text, one.label, one.section, one.evidence) for one in told] == [
        ("It rose.", "confirmed", "other", ("e1", "e2")),
        ("It fell.", "", "", ("e1",)),
    ]


def test_texts_can_be_stored_and_have_an_end() -> None:
    document = loads('{"passed": false, "issues": ["a\\u0000b\\ud800"], "suggestion": ["x", "y"]}')
    document["rules"] = [{"rule": RULE, "verdict": "violated", "why": "x" * 10_000}]

    reply = read(document)

    assert reply.issues == ("a�b?",)
    assert reply.suggestion == "x y"
    assert len(reply.rules[0].why) == 4_000


def test_more_rules_than_anybody_asks_about_are_in_doubt() -> None:
    with pytest.raises(Doubt):
        reply_of({"passed": True, "rules": [{"rule": str(n)} for n in range(1_001)]})
