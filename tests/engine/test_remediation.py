from __future__ import annotations

from typing import Any

import pytest

from processes.definition.model import Enforcement
from tests.engine.cases import case, evaluate, ports, regex
from tests.engine.claim_cases import (
    ADVICE,
    BY_PEOPLE,
    FACT,
    GUESS,
    QUEUE,
    SURE,
    denies,
    is_lost,
    judge_who,
    settled,
)
from verification.engine.claims.remediation import EXPECTED
from verification.engine.claims.settlement import Artefact, ArtefactKind, RemediationDraft
from verification.engine.climb import climb, conclude
from verification.engine.tiers import TierReport
from verification.engine.verifier import LEGACY_FLAGS, Flags

STRATEGIES = {
    "strategies": [
        {"id": "ask", "mode": "targeted_remediation"},
        {"id": "dig", "reason_codes": ["recommendation_pruned"], "mode": "remediate_and_retry"},
        "odd",
    ],
    "default_strategy": "ask",
}


def drafted(*claims: Any, **about: Any) -> list[tuple[str, str]]:
    """Mode and reason of each draft."""
    drafts = settled(*claims, **about).remediations
    return [(one.mode, one.request["reason_code"]) for one in drafts]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"phase": "other"}, [("confirm_or_prune", "unconfirmed_above_threshold")]),
        ({"behaviour": QUEUE}, [("confirm_or_prune", "unconfirmed_above_threshold")]),
        ({}, [("queue_follow_up", "recommendation_pruned")]),
        # Blocked, and left to people.
        ({"flags": BY_PEOPLE}, [("confirm_or_prune", "recommendation_unconfirmed")]),
        # Rejected work comes back by itself.
        ({"output": "Something else."}, []),
        ({"phase": "other", "flags": Flags(allow_partial_verified=False)}, []),
        ({"phase": "advisory"}, [("confirm_or_prune", "unconfirmed_above_threshold")]),
        # Only counted.
        ({"flags": LEGACY_FLAGS}, []),
        # Doubt is verified again first.
        ({"judge": judge_who(is_lost)}, []),
        ({"phase": "other", "gates": ["test"]}, []),
    ],
)
def test_unconfirmed_claims_that_are_let_pass_are_work_left_to_do(
    about: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert drafted(ADVICE, **about) == expected


def test_a_draft_holds_what_an_agent_needs_to_work_from() -> None:
    [draft] = settled(ADVICE, SURE, FACT, GUESS, phase="other").remediations

    assert draft.request == {
        "reason_code": "unconfirmed_above_threshold",
        "instructions": "",
        "expected": EXPECTED,
        "claims": [
            {
                "text": claim.text,
                "label": claim.label,
                "section": claim.section,
                "evidence": [],
                "state": "standing",
            }
            for claim in (ADVICE, GUESS)
        ],
    }
    assert RemediationDraft.from_json(draft.to_json()) == draft


def test_all_claims_are_told_where_a_finding_names_only_some() -> None:
    many = [type(ADVICE)(f"Buy {number}.", "inferred", "recommendation") for number in range(30)]

    [draft] = settled(SURE, *many, phase="other").remediations

    assert len(draft.request["claims"]) == 30


@pytest.mark.parametrize(
    ("remediation", "phase", "mode", "strategy"),
    [
        (STRATEGIES, {}, "targeted_remediation", "ask"),
        (STRATEGIES, {"is_critical_path": True}, "remediate_and_retry", "dig"),
        ({"default_strategy": "queue_follow_up"}, {}, "queue_follow_up", None),
        ({"default_strategy": "unknown"}, {}, "confirm_or_prune", None),
        ({"strategies": [], "default_strategy": {"odd": 1}}, {}, "confirm_or_prune", None),
    ],
)
def test_the_process_says_how_claims_are_put_right(
    remediation: dict[str, Any], phase: dict[str, Any], mode: str, strategy: str | None
) -> None:
    asked = case(
        claims=[ADVICE], output=f"So. {ADVICE.text}", of_phase=phase, remediation=remediation
    )

    [draft] = conclude(asked, list(climb(asked, ports()))).remediations

    assert draft.mode == mode
    assert draft.request.get("strategy", {}).get("id") == strategy


@pytest.mark.parametrize(
    ("mode", "enforcement", "verdict", "drafts"),
    [
        ("targeted_remediation", "advisory", "accept", 1),
        ("targeted_remediation", "hard", "reject", 1),
        ("queue_follow_up", "hard", "reject", 1),
        ("confirm_or_prune", "advisory", "accept", 1),
        ("remediate_and_retry", "advisory", "accept", 1),
        ("remediate_and_retry", "hard", "reject", 0),
        ("targeted_remediation", "observe", "accept", 0),
        ("", "hard", "reject", 0),
    ],
)
def test_a_broken_rule_leaves_the_work_that_its_author_asks_for(
    mode: str, enforcement: str, verdict: str, drafts: int
) -> None:
    rule = regex(
        "no-x",
        "x",
        enforcement=Enforcement(enforcement),
        remediation_mode=mode,
        suggestion="Take it out.",
    )
    other = regex("no-y", "y", remediation_mode="queue_follow_up")

    conclusion = evaluate(rules=[rule, other], output="x and x")

    assert conclusion.verdict == verdict
    assert [(one.mode, one.request["rule"]) for one in conclusion.remediations] == [
        (mode, "no-x")
    ] * drafts
    for draft in conclusion.remediations:
        assert draft.request["reason_code"] == "rule_violated"
        assert (draft.request["line"], draft.request["suggestion"]) == (1, "Take it out.")


def test_what_was_made_of_a_text_survives_a_change_of_workers_byte_for_byte() -> None:
    conclusion = settled(ADVICE, GUESS, FACT, phase="synthesis", judge=judge_who(denies))
    odd = Artefact(ArtefactKind.PRUNED, "a.txt", b"\xff\xfe\0\xe9")
    report = TierReport(
        2,
        "passed",  # type: ignore[arg-type]
        claims=conclusion.counted_claims,
        artefacts=(*conclusion.artefacts, odd),
    )

    assert TierReport.from_json(report.to_json()) == report
