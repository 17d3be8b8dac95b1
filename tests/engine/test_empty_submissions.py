from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.cases import PASSING, evaluate, judge_of, judged_case, ports, told
from tests.tables import check_rows
from verification.engine.climb import climb, conclude
from verification.engine.emptiness import is_blank
from verification.engine.evidence import Claim, EvidenceItem, ToolCall
from verification.engine.verifier import LEGACY_FLAGS, Flags

EMPTY = [("submission-not-empty", "hard", "output_empty")]
REMARK = [("submission-not-empty", "advisory", "output_empty")]
FENCE = "```"
INVISIBLE = [
    "",
    " \n\t",
    "\u200b\u2060\ufeff",
    "\u00a0\u3000",
    "\x00\x07",
    "\x1b[0m\x1b[2K",
    "\u3164",
]
NO_CONTENT = [f"{FENCE}\n{FENCE}", f"{FENCE}json\n\n{FENCE}\n", "~~~\n~~~", '""', '" \\n"', "''"]
EMPTY_VALUES = [
    "null",
    "[]",
    " {} \n",
    "[[], {}]",
    '{"rows": [], "error": null}',
    f"{FENCE}json\n[]\n{FENCE}",
    "None",
    "undefined",
]
ANSWERS = [
    "0",
    "false",
    "[0]",
    "N/A",
    "None of them.",
    "-",
    "✅",
    "無",
    '{"rows": 0}',
    "``",
    "[" * 9,
]
WORK: list[dict[str, Any]] = [
    {"files": {"a.bin": b"\1"}},
    {"files": {"__init__.py": ""}},
    {"diff": "-gone\n"},
    {"tool_calls": (ToolCall("send_mail", True),)},
    {"alternatives": ("42",)},
    {"files": {"a.md": "a"}, "changed": frozenset({"a.md"})},
]
NO_WORK: list[dict[str, Any]] = [
    {},
    {"diff": " \n", "alternatives": ("", "\u200b")},
    {"claims": (Claim("It is so.", "confirmed", "other", ("e1",)),)},
    {"evidence": (EvidenceItem("e1", text="It is so."),)},
    {"return_code": 0},
    {"files": {"a.md": "a"}, "changed": frozenset()},
]


@check_rows("output", [*INVISIBLE, *NO_CONTENT])
def test_an_output_without_content_is_rejected(output: str) -> None:
    conclusion = evaluate(output=output)

    assert told(conclusion) == EMPTY
    assert (conclusion.outcome, conclusion.verdict) == ("fail", "reject")
    assert conclusion.findings[0].suggestion


@check_rows("output", EMPTY_VALUES)
def test_an_empty_value_may_be_the_answer_and_is_a_remark(output: str) -> None:
    conclusion = evaluate(output=output)

    assert told(conclusion) == REMARK
    assert conclusion.verdict == "accept"
    assert evaluate(output=output, flags=LEGACY_FLAGS).verdict == "accept"


@check_rows("output", ANSWERS)
def test_a_short_answer_is_an_answer(output: str) -> None:
    assert told(evaluate(output=output)) == []


@check_rows("work", WORK)
def test_any_work_beside_the_output_is_enough(work: dict[str, Any]) -> None:
    for output in ("", "\u200b", "[]"):
        assert "output_empty" not in {
            one.reason_code for one in evaluate(output=output, **work).findings
        }


@check_rows("rest", NO_WORK)
def test_what_only_describes_work_is_none(rest: dict[str, Any]) -> None:
    assert "output_empty" in {one.reason_code for one in evaluate(output="", **rest).findings}


@pytest.mark.parametrize("flags", [Flags(), LEGACY_FLAGS])
@pytest.mark.parametrize("tier", [1, 2, 3])
def test_nothing_is_rejected_by_both_engines_before_a_judge_is_asked(
    flags: Flags, tier: int
) -> None:
    judge = judge_of(PASSING)
    asked = judged_case(output="", tier=tier, flags=flags)

    conclusion = conclude(asked, list(climb(asked, ports(judge=judge))))

    assert (conclusion.verdict, conclusion.reason_code) == ("reject", "output_empty")
    assert judge.asked == []


@pytest.mark.parametrize(
    "phase", [{"advisory": True}, {"is_synthesis": True}, {"is_critical_path": True}]
)
def test_no_phase_is_lenient_with_nothing(phase: dict[str, Any]) -> None:
    assert evaluate(output="", of_phase=phase).reason_code == "output_empty"


@given(st.text())
def test_a_text_with_a_letter_or_a_digit_is_never_blank(text: str) -> None:
    fillers = "\u115f\u1160\u3164\uffa0"
    has_letter = any(one.isalnum() and one not in fillers for one in text)

    assert not (has_letter and is_blank(text))
    assert is_blank(text) or text.strip()
