from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.claim_cases import (
    ADVICE,
    FACT,
    HUNCH,
    PRUNED,
    SURE,
    denies,
    is_lost,
    judge_who,
    judged,
    result,
    said,
    settled,
)
from verification.engine.claims.labels import is_recommendation
from verification.engine.evidence import Claim


@pytest.mark.parametrize(
    ("own", "word", "label", "section", "note"),
    [
        (FACT, said(FACT, "confirmed"), "confirmed", "supporting", ""),
        (FACT, said(FACT, "inferred"), "inferred", "supporting", "The judge says inferred."),
        (HUNCH, said(HUNCH, "confirmed"), "inferred", "other", ""),
        (FACT, said(FACT, "sure"), "unsupported", "supporting", "The judge says sure."),
        (FACT, said(FACT, "inferred", text="PRICES\n rose."), "inferred", "supporting", None),
        (SURE, said(SURE, "confirmed", "other"), "confirmed", "recommendation", ""),
        (
            FACT,
            said(FACT, "confirmed", "recommendation"),
            "confirmed",
            "recommendation",
            "The judge says that it stands in recommendation.",
        ),
    ],
)
def test_of_two_words_on_one_claim_the_stricter_holds(
    own: Claim, word: dict[str, Any], label: str, section: str, note: str | None
) -> None:
    judge = judge_who(is_lost, [judged(word)])

    [claim] = settled(own, phase="advisory", judge=judge).counted_claims

    assert (claim.label, claim.section) == (label, section)
    assert note is None or claim.note == note
    assert (claim.text, claim.said, claim.source) == (own.text, own.label, "submission")


def test_a_claim_that_only_the_judge_tells_counts_if_the_work_makes_it() -> None:
    told = [said(ADVICE, "unsupported"), said(ADVICE, "unsupported", text="Rob a bank.")]
    judge = judge_who(denies, [judged(*told)])

    conclusion = settled(SURE, judge=judge)

    assert result(conclusion) == PRUNED
    assert [(one.text, one.source) for one in conclusion.counted_claims] == [
        (SURE.text, "submission"),
        (ADVICE.text, "judge"),
    ]


@pytest.mark.parametrize(
    ("text", "counts"), [("the", False), ("house", False), ("the house", True)]
)
def test_a_single_word_is_no_claim_that_a_judge_could_have_taken_out(
    text: str, counts: bool
) -> None:
    judge = judge_who(denies, [judged(said(ADVICE, "unsupported", text=text))])

    conclusion = settled(SURE, judge=judge)

    assert (text in [one.text for one in conclusion.counted_claims]) is counts
    assert conclusion.verdict == "accept"


def test_a_section_that_does_not_exist_is_noted_and_advice_by_any_name_is_advice() -> None:
    hidden = replace(ADVICE, section="Recommended next steps")
    odd = replace(FACT, section="appendix")

    first, second = settled(hidden, odd, phase="advisory").counted_claims

    assert is_recommendation(first)
    assert second.note == "There is no such section: it counts as other."


def test_the_same_claim_twice_has_the_weaker_label() -> None:
    twin = replace(FACT, text="PRICES  rose.", label="inferred")

    claims = settled(FACT, twin, phase="advisory").counted_claims

    assert [one.label for one in claims] == ["inferred", "inferred"]
    assert claims[0].note == "It stands elsewhere as inferred."
