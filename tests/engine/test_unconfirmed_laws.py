from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.claim_cases import (
    ADVICE,
    BLOCK,
    BY_PEOPLE,
    CONFIRMED_ELSEWHERE,
    FACT,
    GUESS,
    HUNCH,
    PHASES,
    QUEUE,
    SURE,
    TEXT,
    THEN_QUEUE,
    Confirm,
    confirms,
    denies,
    is_lost,
    is_unreadable,
    judge_who,
    judged,
    said,
    settled,
)
from tests.tiers import long_search
from verification.engine.claims.labels import passes_unconfirmed_recommendation
from verification.engine.claims.settlement import ClaimState
from verification.engine.evidence import Claim
from verification.engine.verifier import Flags

CLAIMS = [ADVICE, SURE, FACT, GUESS, HUNCH, CONFIRMED_ELSEWHERE]
SOME = st.lists(st.sampled_from(CLAIMS), max_size=5, unique=True)
HEARD = st.sampled_from([None, confirms, denies, is_lost, is_unreadable])


@long_search(150)
@given(
    SOME,
    SOME,
    st.sampled_from(sorted(PHASES)),
    st.sampled_from([BLOCK, THEN_QUEUE, QUEUE]),
    st.sampled_from([Flags(), BY_PEOPLE, Flags(allow_partial_verified=False)]),
    HEARD,
    st.sampled_from([TEXT, "Buy the house. Rents will fall.", "Something else."]),
)
def test_counts_add_up_and_no_unconfirmed_advice_stands_in_what_is_accepted(
    claims: list[Claim],
    of_judge: list[Claim],
    phase: str,
    behaviour: str,
    flags: Flags,
    confirm: Confirm | None,
    output: str,
) -> None:
    told = judged(*(said(one, "inferred") for one in of_judge))
    judge = judge_who(confirm, [told]) if confirm else None

    conclusion = settled(
        *claims, phase=phase, behaviour=behaviour, judge=judge, output=output, flags=flags
    )

    counts = conclusion.claims
    standing = [one for one in conclusion.counted_claims if one.state is not ClaimState.PRUNED]
    by_label = (counts["confirmed"], counts["inferred"], counts["unsupported"])
    assert sum(by_label) == len(standing)
    assert len(conclusion.counted_claims) >= len(claims)
    guarded = "critical" in phase or phase == "synthesis"
    if guarded and behaviour == BLOCK and conclusion.verdict == "accept":
        assert counts["recommendation_unconfirmed"] == 0
    assert not passes_unconfirmed_recommendation(conclusion.outcome, counts)
    if "synthesis" in phase and conclusion.verdict == "accept":
        assert conclusion.counted_claims
    for claim in conclusion.counted_claims:
        if claim.state is ClaimState.PRUNED:
            assert all(
                claim.text.encode() not in one.content
                for one in conclusion.artefacts
                if one.kind != "unconfirmed_appendix"
            )
    if confirm in (is_lost, is_unreadable):
        lost = conclusion.reason_code in ("rate_limited", "parse_inconclusive")
        assert not (lost and conclusion.verdict != "undecided")


@long_search(100)
@given(
    SOME,
    st.sampled_from(sorted(PHASES)),
    st.sampled_from([BLOCK, THEN_QUEUE, QUEUE]),
    st.sampled_from([Flags(), BY_PEOPLE, Flags(allow_partial_verified=False)]),
    st.sampled_from([is_lost, is_unreadable]),
    st.sampled_from([TEXT, "Something else."]),
)
def test_an_answer_that_is_lost_neither_blames_nor_lets_pass(
    claims: list[Claim], phase: str, behaviour: str, flags: Flags, lost: Confirm, output: str
) -> None:
    about: dict[str, Any] = {
        "phase": phase,
        "behaviour": behaviour,
        "flags": flags,
        "output": output,
    }

    unheard, yes, no = (
        settled(*claims, judge=judge_who(confirm), **about).verdict
        for confirm in (lost, confirms, denies)
    )

    assert unheard != "reject" or yes == "reject"
    assert unheard != "accept" or no == "accept"
