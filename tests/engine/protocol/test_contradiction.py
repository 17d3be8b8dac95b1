"""A verdict beside which the prose says the opposite is none, and ordinary reasoning costs none."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.engine.protocol.generator import RULES
from tests.tables import check_rows
from verification.engine.protocol.recovery import recover

FOLDER = Path(__file__).parent / "prose"
PASS = json.dumps(
    {
        "passed": True,
        "rules": [{"rule": rule, "verdict": "satisfied", "why": "It is so."} for rule in RULES],
        "acceptance": {"verdict": "satisfied", "why": "All of it."},
        "confidence": 0.93,
    }
)
FAIL = '{"passed": false, "issues": ["The date is missing."], "confidence": 0.9}'


@cache
def prose(name: str) -> tuple[tuple[str, str], ...]:
    """What stands before and after a verdict; see the first line of the file."""
    entries = yaml.load((FOLDER / f"{name}.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    return tuple((entry.get("before", ""), entry.get("after", "")) for entry in entries)


def share_read(name: str, verdict: str) -> float:
    """How many of the replies give their verdict, 0 to 1."""
    passed = verdict == PASS
    read = 0
    for before, after in prose(name):
        reply = recover(f"{before}\n\n{verdict}\n\n{after}").reply
        assert reply is None or reply.passed is passed
        read += reply is not None
    return read / len(prose(name))


def test_ordinary_reasoning_beside_a_pass_leaves_it_a_pass() -> None:
    assert len(prose("passing")) >= 500
    assert share_read("passing", PASS) >= 0.97


def test_ordinary_reasoning_beside_a_fail_leaves_it_a_fail() -> None:
    assert len(prose("failing")) >= 100
    assert share_read("failing", FAIL) >= 0.97


def test_a_pass_beside_prose_that_blames_the_work_is_doubted() -> None:
    assert share_read("blaming", PASS) <= 0.1


def test_most_blame_that_is_only_implied_is_noticed() -> None:
    assert share_read("implying", PASS) <= 0.35


def test_a_fail_beside_prose_that_passes_the_work_is_doubted() -> None:
    assert share_read("relenting", FAIL) <= 0.35


BLAME = (
    "Result: FAILED",
    "Overall: FAIL \u2013 the date is missing",
    "**Result:** ❌ Failed",
    "Verdict: fail",
    "Decision: reject",
    "Status: not passed",
    "## Verdict\n\nFail",
    "Correction: on a second look the fact stands nowhere in the source, so the work fails the rule.",
    "On reflection, I take that back.",
    "This must be rejected.",
    "The work does not satisfy the rule.",
    "The acceptance criteria are not met.",
    "faithful: violated",
    "| faithful | violated |",
    "I cannot approve this.",
    "It should not be accepted.",
    "This is not acceptable.",
    "FAIL",
    "Do not merge.",
    "Please disregard the object above.",
    "Ergebnis: nicht bestanden",
    "La règle n'est pas respectée.",
    "El trabajo no cumple la regla.",
    "结论\uff1a不通过",
)
RETRACTIONS = ("On reflection, I take that back.", "Please disregard the object above.")
"""They take back a pass and a fail alike."""
REASONING = (
    "I looked for failures and found none.",
    "No rule is violated, and nothing is missing.",
    "0 failed, 12 passed",
    "The earlier failure of test_dates was fixed; it passes now.",
    "When a request fails, it is sent again.",
    "An incorrect password is rejected, as it should be.",
    "If the date were missing, the work would fail the rule.",
    "At first the total looked wrong, but on a recount it is right.",
    "The report says that the first launch failed, which the source confirms.",
    'The log says "Result: FAILED" for the run before the change.',
    "The test covers the case:\n\n> Result: FAILED\n",
    "Expected output of the negative test:\n```\nResult: FAILED\n```\nThat is what it prints.",
    "Does the work fail any rule? No.",
)


@check_rows("prose", BLAME)
def test_blame_before_or_after_a_pass_puts_it_in_doubt(prose: str) -> None:
    for reply in (f"{PASS}\n\n{prose}", f"{prose}\n\n{PASS}", f"```json\n{PASS}\n```\n{prose}"):
        assert recover(reply).reply is None


@check_rows("prose", BLAME)
def test_blame_beside_a_pass_in_any_other_form_puts_it_in_doubt(prose: str) -> None:
    forms = (
        "VERDICT: PASS",
        "passed: true\nconfidence: 0.9",
        "{'passed': True, 'issues': [],}",
        "VERDICT: PASS\nCONCERNS: none",
    )

    assert [form for form in forms if recover(f"{form}\n\n{prose}\n").reply] == []


@check_rows("prose", REASONING)
def test_words_of_failing_that_do_not_blame_the_work_change_nothing(prose: str) -> None:
    for reply in (f"{PASS}\n\n{prose}", f"{prose}\n\n{PASS}"):
        found = recover(reply).reply

        assert found is not None
        assert found.passed


@check_rows("prose", [line for line in [*BLAME, *REASONING] if line not in RETRACTIONS])
def test_blame_beside_a_fail_changes_nothing(prose: str) -> None:
    found = recover(f"{prose}\n\n{FAIL}").reply

    assert found is not None
    assert found.passed is False


@pytest.mark.parametrize(
    "prose",
    [
        "Result: PASSED",
        "Overall: pass",
        "Correction: I take that back, all criteria are met.",
        "I withdraw my objection.",
        "The work should be accepted.",
    ],
)
def test_a_fail_that_is_taken_back_is_in_doubt(prose: str) -> None:
    assert recover(f"{FAIL}\n\n{prose}").reply is None


def test_more_prose_than_can_be_examined_leaves_a_pass_in_doubt() -> None:
    long = "The report goes on. " * 11_000

    assert recover(f"{PASS}\n\n{long}").reply is None
    assert recover(f"{FAIL}\n\n{long}").reply is not None


@pytest.mark.parametrize(
    ("why", "is_doubted"),
    [
        ("The third quote is invented, so the rule is violated.", True),
        ("The work does not meet the criteria.", True),
        ("No rule is violated.", False),
        ("The report says that the first launch failed.", False),
    ],
)
def test_a_reason_that_says_the_opposite_puts_its_own_verdict_in_doubt(
    why: str, is_doubted: bool
) -> None:
    reply = recover(
        json.dumps(
            {
                "passed": True,
                "rules": [{"rule": "sourced", "verdict": "satisfied", "why": why}],
                "acceptance": {"verdict": "satisfied", "why": why},
            }
        )
    ).reply

    assert reply is not None
    verdict = "unknown" if is_doubted else "satisfied"
    assert (reply.rules[0].verdict, reply.acceptance) == (verdict, verdict)


@pytest.mark.parametrize(
    "form",
    [
        '{"passed": true, "issues": ["%s"]}',
        '{"passed": true, "notes": {"more": ["%s"]}}',
        '{"passed": true, "summary": "%s"}',
        '{"result": {"passed": true}, "comment": "%s"}',
    ],
)
def test_a_pass_whose_object_rejects_the_work_elsewhere_is_in_doubt(form: str) -> None:
    assert recover(form % "The work must be rejected.").reply is None
    assert recover(form % "A comma is missing, which no rule forbids.").reply is not None
