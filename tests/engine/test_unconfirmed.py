from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.cases import PASSING
from tests.engine.claim_cases import (
    ADVICE,
    BLOCK,
    BY_PEOPLE,
    FACT,
    FINE,
    GUESS,
    HUNCH,
    PRUNED,
    QUEUE,
    SURE,
    TEXT,
    THEN_QUEUE,
    UNREAD,
    Confirm,
    asked_about,
    confirms,
    denies,
    is_lost,
    is_unreadable,
    judge_who,
    result,
    settled,
)
from tests.tables import check_rows
from verification.engine.claims.settlement import ClaimState
from verification.engine.evidence import Claim
from verification.engine.judges.asking import Ask
from verification.engine.verifier import Flags

PARTLY = ("partial_verified", "accept", "unconfirmed_above_threshold")
WARNED = ("pass_with_warnings", "accept", "unconfirmed_above_threshold")
NO_ADVICE = ("fail", "reject", "recommendation_unconfirmed")
TOO_MUCH = ("fail", "reject", "unconfirmed_critical_path")
RATE_LIMITED = ("fail", "undecided", "rate_limited")
NOWHERE = {"output": "Something else."}


@check_rows(
    ("phase", "behaviour", "confirm", "about", "expected"),
    [
        ("critical", BLOCK, None, {}, PRUNED),
        ("critical", BLOCK, confirms, {}, FINE),
        ("critical", BLOCK, denies, {}, PRUNED),
        ("critical", BLOCK, is_lost, {}, RATE_LIMITED),
        ("critical", BLOCK, is_unreadable, {}, UNREAD),
        ("critical", BLOCK, None, NOWHERE, NO_ADVICE),
        ("critical", BLOCK, denies, NOWHERE, NO_ADVICE),
        ("critical", BLOCK, confirms, NOWHERE, FINE),
        ("critical", BLOCK, is_lost, NOWHERE, RATE_LIMITED),
        ("critical", BLOCK, denies, {"flags": BY_PEOPLE}, NO_ADVICE),
        ("critical", THEN_QUEUE, denies, {}, PRUNED),
        ("critical", THEN_QUEUE, denies, NOWHERE, PARTLY),
        ("critical", THEN_QUEUE, is_lost, NOWHERE, RATE_LIMITED),
        ("critical", THEN_QUEUE, denies, {"flags": BY_PEOPLE}, PARTLY),
        ("critical", QUEUE, is_lost, {}, PARTLY),
        ("critical", QUEUE, None, NOWHERE, PARTLY),
        ("critical", BLOCK, denies, {"of_task": {"is_critical_path": False}}, PRUNED),
        ("critical may lower", BLOCK, denies, {"of_task": {"is_critical_path": False}}, PARTLY),
        ("other", BLOCK, denies, {"of_task": {"is_critical_path": True}}, PRUNED),
        ("synthesis", BLOCK, None, {}, PRUNED),
        ("synthesis", BLOCK, confirms, {}, FINE),
        ("synthesis", BLOCK, denies, {}, PRUNED),
        ("synthesis", BLOCK, denies, NOWHERE, NO_ADVICE),
        ("synthesis", BLOCK, is_lost, {}, RATE_LIMITED),
        ("synthesis", BLOCK, denies, {"flags": BY_PEOPLE}, NO_ADVICE),
        ("critical synthesis", BLOCK, denies, {}, PRUNED),
        ("critical synthesis", BLOCK, denies, NOWHERE, NO_ADVICE),
        ("other", BLOCK, is_lost, {}, PARTLY),
        ("other", BLOCK, None, NOWHERE, PARTLY),
        ("advisory", BLOCK, is_lost, {}, PARTLY),
        ("advisory", BLOCK, None, NOWHERE, PARTLY),
        ("critical", BLOCK, None, {"flags": Flags(allow_partial_verified=False)}, PRUNED[2:]),
    ],
)
def test_where_an_unconfirmed_recommendation_leads(
    phase: str,
    behaviour: str,
    confirm: Confirm | None,
    about: dict[str, Any],
    expected: tuple[str, ...],
) -> None:
    judge = judge_who(confirm) if confirm else None

    conclusion = settled(ADVICE, SURE, phase=phase, behaviour=behaviour, judge=judge, **about)

    strict = ("fail", "reject", *expected)
    assert result(conclusion) == (expected if len(expected) == 3 else strict)


@check_rows(
    ("phase", "behaviour", "confirm", "about", "expected"),
    [
        ("critical", BLOCK, None, {}, PARTLY),
        ("critical", BLOCK, confirms, {}, FINE),
        ("critical", BLOCK, denies, {}, PARTLY),
        ("critical", BLOCK, is_lost, {}, RATE_LIMITED),
        ("critical", BLOCK, is_unreadable, {}, UNREAD),
        ("critical", BLOCK, None, NOWHERE, TOO_MUCH),
        ("critical", BLOCK, denies, NOWHERE, TOO_MUCH),
        ("critical", BLOCK, denies, {"flags": BY_PEOPLE}, TOO_MUCH),
        ("critical", THEN_QUEUE, denies, NOWHERE, PARTLY),
        ("critical", QUEUE, is_lost, {}, PARTLY),
        ("synthesis", BLOCK, is_lost, {}, PARTLY),
        ("synthesis", BLOCK, None, NOWHERE, PARTLY),
        ("critical synthesis", BLOCK, denies, NOWHERE, TOO_MUCH),
        ("other", BLOCK, is_lost, {}, PARTLY),
        ("advisory", BLOCK, None, {}, WARNED),
    ],
)
def test_where_too_much_elsewhere_leads(
    phase: str,
    behaviour: str,
    confirm: Confirm | None,
    about: dict[str, Any],
    expected: tuple[str, ...],
) -> None:
    judge = judge_who(confirm) if confirm else None

    conclusion = settled(FACT, GUESS, HUNCH, phase=phase, behaviour=behaviour, judge=judge, **about)

    assert result(conclusion) == expected


def test_under_the_limit_nothing_elsewhere_is_touched() -> None:
    facts = [replace(FACT, text=f"Prices rose in {number}.") for number in range(7)]
    judge = judge_who(denies)

    conclusion = settled(*facts, GUESS, HUNCH, judge=judge)

    assert result(conclusion) == FINE
    assert (len(judge.asked), conclusion.artefacts) == (1, ())


def test_what_was_pruned_is_an_artefact_and_counts_no_more() -> None:
    files = {"report.md": "\ufeffWait for May.\r\nBuy the house.\r\n", "a.csv": "x\n1\n"}

    conclusion = settled(ADVICE, SURE, files=files, deliverables=["report.md", "a.csv"])

    assert [(one.kind, one.path, one.content.decode()) for one in conclusion.artefacts] == [
        ("pruned", "", TEXT.replace("Buy the house.", "")),
        ("pruned", "report.md", "\ufeffWait for May.\r\n\r\n"),
    ]
    assert [one.state for one in conclusion.counted_claims] == ["pruned", "standing"]
    assert conclusion.claims["recommendation_unconfirmed"] == 0
    [finding] = conclusion.findings
    assert finding.place == {"claims": [0]}
    assert finding.message == (
        "1 of 2 recommendations could not be confirmed and were taken out."
        ' Unconfirmed: "Buy the house.".'
    )


def test_work_that_is_rejected_all_the_same_is_left_whole() -> None:
    absent = replace(ADVICE, text="Sell the car.")

    conclusion = settled(ADVICE, absent, GUESS)

    assert result(conclusion) == NO_ADVICE
    assert conclusion.artefacts == ()
    assert {one.state for one in conclusion.counted_claims} == {ClaimState.STANDING}
    assert conclusion.findings[0].place == {"claims": [0, 1]}


def test_what_is_found_out_about_a_claim_holds_wherever_else_it_stands() -> None:
    twin = replace(ADVICE, text="buy the HOUSE", section="supporting")
    judge = judge_who(confirms)

    conclusion = settled(ADVICE, twin, judge=judge)

    assert result(conclusion) == FINE
    assert [one.label for one in conclusion.counted_claims] == ["confirmed", "confirmed"]
    assert asked_about(judge.asked[-1]) == 1
    assert {one.state for one in settled(ADVICE, twin).counted_claims} == {ClaimState.PRUNED}


@pytest.mark.parametrize(
    ("assessed", "verdict"),
    [('{"passed": false, "issues": ["No."]}', "reject"), ("I could not say.", "undecided")],
)
def test_nobody_is_asked_to_confirm_what_cannot_be_accepted_any_more(
    assessed: str, verdict: str
) -> None:
    judge = judge_who(confirms, [assessed])

    conclusion = settled(ADVICE, judge=judge)

    assert (conclusion.verdict, conclusion.artefacts) == (verdict, ())
    assert Ask.CONFIRM not in {one.ask for one in judge.asked}
    assert conclusion.claims["recommendation_unconfirmed"] == 1


def test_after_supporting_claims_were_taken_out_the_rest_is_judged_once_more() -> None:
    judge = judge_who(denies, [PASSING, '{"passed": false, "issues": ["It is empty now."]}'])

    conclusion = settled(FACT, GUESS, HUNCH, judge=judge)

    assert (conclusion.outcome, conclusion.verdict) == ("fail", "reject")
    assert conclusion.reason_code == "llm_semantic_failed"
    last = judge.asked[-1]
    assert last.ask is Ask.ASSESS
    assert "Prices rose." in last.prompt
    assert "Rents will fall." not in last.prompt


def test_after_a_recommendation_alone_was_taken_out_it_is_not() -> None:
    judge = judge_who(denies)

    settled(ADVICE, SURE, judge=judge)

    assert [one.ask for one in judge.asked].count(Ask.ASSESS) == 1


def test_a_synthesis_is_parted_into_what_holds_and_what_does_not() -> None:
    conclusion = settled(ADVICE, SURE, FACT, GUESS, phase="synthesis")

    made = {str(one.kind): one.content.decode() for one in conclusion.artefacts}
    assert made["pruned"] == TEXT.replace("Buy the house.", "")
    assert made["verified_findings"] == "Wait for May. Prices rose. It will rain. So it goes."
    assert "- Buy the house.\n  (inferred, recommendation" in made["unconfirmed_appendix"]
    assert "- Rents will fall.\n  (unsupported, supporting" in made["unconfirmed_appendix"]


@pytest.mark.parametrize(
    ("claims", "about"),
    [((SURE, FACT), {}), ((ADVICE,), NOWHERE), ((ADVICE,), {"phase": "critical"})],
)
def test_nothing_is_parted_without_need_in_rejected_work_or_elsewhere(
    claims: tuple[Claim, ...], about: dict[str, Any]
) -> None:
    conclusion = settled(*claims, **{"phase": "synthesis", **about})

    assert "verified_findings" not in {one.kind for one in conclusion.artefacts}
