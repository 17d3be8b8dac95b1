from __future__ import annotations

import pytest

from tests.tables import check_rows
from verification.engine.protocol.recovery import recover

WRITTEN = (
    '{{"{0}": {1}}}',
    '{{"{0}": "{1}"}}',
    "{{'{0}': {1},}}",
    '{{"issues": [], "{0}": {1}, }}',
    "{0}: {1}\nissues: []",
    "```\n{0}: {1}\n```",
)
MARKS = ("!", "! ", "!!", "¬", "¬ ", "~", "~ ", "*!", "“!")


@check_rows("written", WRITTEN)
@check_rows("mark", MARKS)
def test_a_value_that_is_turned_round_is_no_pass(mark: str, written: str) -> None:
    reply = recover(written.format("passed", f"{mark}true")).reply

    assert reply is None or not reply.passed


@pytest.mark.parametrize("mark", MARKS)
def test_a_verdict_line_that_is_turned_round_is_no_pass(mark: str) -> None:
    assert recover(f"VERDICT: {mark}PASS").reply is None


@check_rows("written", WRITTEN[:4])
@check_rows("mark", ["!", "! ", "!!", "¬", "~", "non-", "un-", "not ", "never_"])
def test_a_key_that_is_turned_round_is_no_pass(mark: str, written: str) -> None:
    reply = recover(written.format(f"{mark}passed", "true")).reply

    assert reply is None or not reply.passed


@pytest.mark.parametrize(
    "text",
    [
        '{"passed": "passed": false, "issues": ["It lacks a source."]}',
        '{"passed": passed": false, "issues": []}',
        "{'passed': 'passed': False, 'confidence': .5}",
        '{"passed":passed": fals\ne, "issues": []}',
        '{\\"passed\\": \\"passed\\": false}',
    ],
)
def test_a_key_said_twice_is_no_verdict(text: str) -> None:
    reply = recover(text).reply

    assert reply is None or not reply.passed


def test_the_end_of_a_text_whose_beginning_is_lost_is_no_verdict() -> None:
    assert (
        recover('{"passed": true"], "confidence": 0.9, "suggestion": "Pass it on."}').reply is None
    )


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ('{"passed": "true!"}', True),
        ('{"passed": "**FAIL**!"}', False),
        ("VERDICT: PASS!", True),
        ("VERDICT: **PASS**", True),
        ("VERDICT: _FAIL_.", False),
    ],
)
def test_marks_of_emphasis_change_nothing(text: str, passed: bool) -> None:
    reply = recover(text).reply

    assert reply is not None
    assert reply.passed is passed
