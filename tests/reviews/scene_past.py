"""Two months of decisions: verifier and people agree often, and not always."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from loomverify.accounts.access import person
from loomverify.accounts.models import User
from processes.models import Process
from tests.builders import make_run
from tests.judged import make_tier
from tests.reviewing import make_review
from tests.reviews.scene_files import MARKDOWN
from verification.engine.outcome import Outcome, Verdict
from verification.engine.reviewing import RANDOM_SAMPLE
from verification.reviews.models import Decision, FindingLabel
from verification.runs.figures import mark_dirty
from verification.runs.models import Event, Finding, Review, ReviewState, Run

RIGHT = {
    "no-placeholders": 0.97,
    "sections-present": 0.92,
    "figures-have-sources": 0.59,
    "sober-tone": 0.72,
}
"""How often people find each rule right."""
MODELS = {"openai/gpt-5-mini": 0.0, "anthropic/claude-sonnet-4": 0.05, "mistral/large": -0.2}
"""How much surer than right each judge is, the other way round."""
COMMENTS = (
    "",
    "",
    "",
    "The report says so on page 12.",
    "No source anywhere.",
    "Praise, but true.",
)
DAYS = 60
SHARE_DRAWN = 0.4
SHARE_OF_TWO = 0.15


@dataclass(frozen=True, slots=True)
class Judged:
    """How the verifier ended one run, and what it comes to by what people think."""

    outcome: Outcome
    verdict: Verdict
    reason: str
    rule: str
    model: str
    confidence: float
    truth: Outcome
    is_drawn: bool


def past(
    processes: Mapping[str, Process],
    people: Sequence[User],
    chance: random.Random,
    *,
    count: int,
    now: datetime,
) -> int:
    """Make reviews with decisions until there are `count` decisions; return how many there are."""
    made = 0
    while made < count:
        is_for_two = count - made > 3 and chance.random() < SHARE_OF_TWO
        slug = "double-study" if is_for_two else ("market-study", "blind-study")[made % 3 == 0]
        at = now - timedelta(minutes=chance.randrange(60 * 24 * 2, 60 * 24 * DAYS))
        judged = _judged(chance)
        review = _review(processes[slug], judged, at, reviewers=2 if is_for_two else 1)
        made += _decided(review, judged, people, chance)
    return made


def _judged(chance: random.Random) -> Judged:
    model = chance.choice(list(MODELS))
    confidence = round(chance.uniform(0.35, 0.99), 2)
    is_right = chance.random() < min(0.98, confidence + MODELS[model])
    is_drawn = chance.random() < SHARE_DRAWN
    rule = chance.choice(list(RIGHT))
    if not is_drawn and chance.random() < 0.45:
        truth = chance.choice((Outcome.PASS, Outcome.FAIL))
        doubt = chance.choice(("vote_divergence", "parse_inconclusive"))
        outcome, verdict, reason = Outcome.FAIL, Verdict.UNDECIDED, doubt
    elif chance.random() < (0.25 if is_drawn else 0.6):
        outcome, verdict, reason = Outcome.FAIL, Verdict.REJECT, "rule_violated"
        truth = Outcome.FAIL if chance.random() < RIGHT[rule] else Outcome.PASS
    else:
        outcome, verdict, reason = Outcome.PASS, Verdict.ACCEPT, ""
        truth = Outcome.PASS if is_right or chance.random() < 0.6 else Outcome.FAIL
    return Judged(outcome, verdict, reason, rule, model, confidence, truth, is_drawn)


def _review(process: Process, judged: Judged, at: datetime, *, reviewers: int) -> Review:
    is_found = judged.outcome is Outcome.FAIL
    run = make_run(
        process.project,
        process=process,
        phase=("collect", "write")[at.minute % 2],
        title=f"Market for {('grinders', 'kettles', 'scales')[at.minute % 3]} of {at:%B}",
        outcome=judged.outcome,
        verdict=judged.verdict,
        reason_code=judged.reason,
        confidence=judged.confidence,
        created_at=at,
        output=MARKDOWN,
        findings=[{"rule": judged.rule, "line": 5, "tier": 2, "source": "llm"}] if is_found else (),
        evaluation={"confidence": judged.confidence},
        tier_requested=2,
        tier_achieved=2,
    )
    assert run.live_evaluation is not None
    make_tier(run.live_evaluation, 2, model=judged.model)
    flagged = [] if judged.is_drawn else [judged.reason or "low_confidence"]
    return make_review(
        process.project,
        run,
        created_at=at,
        state=ReviewState.DECIDED,
        reasons=[*flagged, *([RANDOM_SAMPLE] if judged.is_drawn else [])],
        is_flagged=not judged.is_drawn,
        sample_rate=0.05 if judged.is_drawn else None,
        is_blind=process.slug == "blind-study",
        reviewers=reviewers,
    )


def _decided(review: Review, judged: Judged, people: Sequence[User], chance: random.Random) -> int:
    """Decide it as its process asks; where two disagree, a third adjudicates."""
    at = review.created_at + timedelta(minutes=chance.randrange(2, 600))
    asked = chance.sample(list(people), 3)
    made = []
    for user in asked[: review.reviewers]:
        outcome = _said(judged, chance)
        first, comment = _first(review, outcome, chance), chance.choice(COMMENTS)
        made.append(decide(review, user, outcome, at=at, first=first, comment=comment))
        _labelled(made[-1], chance)
    if len({one.outcome for one in made}) > 1:
        review.round, review.reviewers, review.is_adjudication = 2, 1, True
        made.append(decide(review, asked[2], judged.truth, at=at + timedelta(hours=1)))
    _close(review, made)
    return len(made)


def _said(judged: Judged, chance: random.Random) -> Outcome:
    """What one person says: the truth, most of the time."""
    if chance.random() < 0.9:
        return judged.truth
    return Outcome.PASS if judged.truth is Outcome.FAIL else Outcome.FAIL


def _first(review: Review, outcome: Outcome, chance: random.Random) -> str:
    """Before the reveal, in a blind review: now and then another outcome."""
    if not review.is_blind:
        return ""
    return outcome if chance.random() < 0.85 else Outcome.PASS_WITH_WARNINGS


def decide(
    review: Review, user: User, outcome: Outcome, *, at: datetime, first: str = "", **columns: Any
) -> Decision:
    """A decision that counts, as its service would have written it."""
    return Decision.objects.create(
        project_id=review.project_id,
        review=review,
        evaluation_id=review.evaluation_id,
        reviewer=user,
        outcome=outcome,
        first_outcome=first,
        seconds=20 + at.minute * 3,
        created_at=at,
        settled_at=at + timedelta(seconds=10),
        **{"round": review.round, "is_adjudication": review.is_adjudication, **columns},
    )


def _labelled(decision: Decision, chance: random.Random) -> None:
    for finding in Finding.objects.filter(evaluation=decision.evaluation_id):
        if chance.random() < 0.85:
            is_right = chance.random() < RIGHT[finding.rule]
            FindingLabel.objects.create(decision=decision, finding=finding, is_right=is_right)


def _close(review: Review, made: Sequence[Decision]) -> None:
    last, people = made[-1], [person(one.reviewer).name for one in made if one.reviewer]
    review.outcome, review.decided_at = last.outcome, last.created_at
    told_at = last.settled_at or last.created_at
    review.takes_effect_at = review.told_at = told_at
    review.told = {
        "passed": last.outcome != Outcome.FAIL,
        "comment": "\n\n".join(dict.fromkeys(one.comment for one in made if one.comment)),
        "by": people,
        "findings": {},
    }
    review.save()
    Run.objects.filter(pk=review.run_id).update(final_outcome=last.outcome, review_state="decided")
    asked = {"reasons": review.reasons}
    said = {"outcome": last.outcome, "by": ", ".join(people), "round": review.round}
    for seq, kind, at, told in (
        (2, "review_requested", review.created_at, asked),
        (3, "review_decided", told_at, said),
    ):
        Event.objects.create(run_id=review.run_id, seq=seq, kind=kind, at=at, data=told)
    mark_dirty(review.run)
