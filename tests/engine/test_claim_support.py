from __future__ import annotations

from typing import Any

import pytest

from tests.engine.claim_cases import (
    BY_PEOPLE,
    CONFIRMED_ELSEWHERE,
    FINE,
    PRUNED,
    confirms,
    denies,
    is_lost,
    judge_who,
    result,
    settled,
)
from tests.tables import check_rows
from verification.engine.claims.labels import counted_claims
from verification.engine.claims.support import NO_SHARED_TERM, NOT_SUBMITTED, WITHOUT_TEXT, Support
from verification.engine.evidence import Claim, EvidenceItem
from verification.engine.judges.asking import Ask

PARTLY = ("partial_verified", "accept", "unconfirmed_above_threshold")
BLOCKED = ("fail", "reject", "recommendation_unconfirmed")


def note_on(claim: str, *texts: str, ids: tuple[str, ...] = ("e1",)) -> str:
    support = Support([EvidenceItem("e1", text=text) for text in texts])
    [counted] = counted_claims([Claim(claim, "confirmed", "supporting", ids)], support)
    assert counted.label == ("inferred" if counted.note else "confirmed")
    return counted.note


@check_rows(
    ("claim", "texts", "note"),
    [
        ("Prices rose.", (), NOT_SUBMITTED),
        ("Prices rose.", ("",), WITHOUT_TEXT),
        ("Prices rose.", (" \n\u200b",), WITHOUT_TEXT),
        ("Prices rose.", ("Snow fell.",), NO_SHARED_TERM),
        ("Prices rose.", ("", "Snow fell."), NO_SHARED_TERM),
        ("The cat is on the mat.", ("The dog is in the house.",), NO_SHARED_TERM),
        ("Das ist der Preis.", ("Das ist der Hund.",), NO_SHARED_TERM),
        ("It rose by 4 %.", ("It fell by 5 %.",), NO_SHARED_TERM),
        ("価格が上がった。", ("雪が降る",), NO_SHARED_TERM),
        ("???", ("Prices rose.",), NO_SHARED_TERM),
        ("Prices rose.", ("PRICE LIST",), ""),
        ("Pricing is fair.", ("the prices of 2024",), ""),
        ("Companies merge.", ("one company",), ""),
        ("Die Preise steigen.", ("Preis: 4 EUR",), ""),
        ("Le café ferme.", ("CAFE, 3 rue X",), ""),
        ("It has 1,204 rows.", ("rows: see 1204",), ""),
        ("The EU agreed.", ("Commission (EU)",), ""),
        ("価格が上がった。", ("この価格は高い",), ""),
        ("Prices rose.", ("", "Prices fell."), ""),
        # Of a claim of common words alone these words are looked for.
        ("It is so.", ("So it is, they said.",), ""),
    ],
)
def test_a_confirmed_claim_needs_evidence_whose_text_shares_a_term(
    claim: str, texts: tuple[str, ...], note: str
) -> None:
    assert note_on(claim, *texts) == note


def test_one_of_several_items_is_enough() -> None:
    assert note_on("Prices rose.", "Prices rose by 4 %.", ids=("e9", "e1")) == ""


@check_rows(
    ("phase", "confirm", "about", "expected"),
    [
        ("critical", None, {}, PRUNED),
        ("critical", confirms, {}, FINE),
        ("critical", denies, {}, PRUNED),
        ("other", None, {}, PARTLY),
        ("other", confirms, {}, FINE),
        ("other", denies, {}, PARTLY),
        ("other", is_lost, {}, ("fail", "undecided", "rate_limited")),
        ("advisory", None, {}, PARTLY),
        ("advisory", confirms, {}, FINE),
        # Left to people: what shares no term is no blame before a judge has read the text.
        ("critical", None, {"flags": BY_PEOPLE}, BLOCKED),
        ("critical", confirms, {"flags": BY_PEOPLE}, FINE),
        ("critical", denies, {"flags": BY_PEOPLE}, BLOCKED),
        ("critical", is_lost, {"flags": BY_PEOPLE}, ("fail", "undecided", "rate_limited")),
    ],
)
def test_a_judge_confirms_against_the_text_what_words_do_not_show(
    phase: str, confirm: Any, about: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    judge = judge_who(confirm) if confirm else None

    conclusion = settled(CONFIRMED_ELSEWHERE, phase=phase, judge=judge, **about)

    assert result(conclusion) == expected
    [claim] = conclusion.counted_claims
    assert NO_SHARED_TERM in claim.note


def test_evidence_without_text_is_shown_to_no_judge() -> None:
    judge = judge_who(confirms)
    claim = Claim("Buy the house.", "confirmed", "recommendation", ("e1",))

    conclusion = settled(claim, judge=judge, evidence=(EvidenceItem("e1", text="\u200b"),))

    assert result(conclusion) == PRUNED
    assert Ask.CONFIRM not in {one.ask for one in judge.asked}


@pytest.mark.parametrize("count", [2_000])
def test_many_claims_over_long_evidence_are_looked_up_once(count: int) -> None:
    support = Support([EvidenceItem("e1", text="snow fell " * 50_000)])
    claims = [
        Claim(f"Prices rose in town {n}.", "confirmed", "other", ("e1",)) for n in range(count)
    ]

    assert {one.note for one in counted_claims(claims, support)} == {NO_SHARED_TERM}
