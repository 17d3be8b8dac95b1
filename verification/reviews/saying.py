"""What a reviewer said, checked and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project
from loomverify.errors import Conflict, InputError
from verification.engine.outcome import Outcome
from verification.reviews.models import Decision, FindingLabel
from verification.reviews.reviewers import holds, reviewer
from verification.runs.intake.redaction import redacted_text
from verification.runs.models import Finding, Review
from verification.runs.storable import storable

MAX_COMMENT_CHARS = 10_000
MAX_SECONDS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Said:
    """One reviewer's word. `outcome` None: the verifier's own, or what was said blind.

    `findings` says of fingerprints whether they are right. `is_first` False confirms a blind
    answer, True gives it and confirms nothing, None does whichever is due. `evaluation` names
    what was looked at: a decision about anything else is refused. `anew` False leaves alone what
    somebody else decided before.
    """

    outcome: Outcome | None
    comment: str = ""
    findings: Mapping[str, bool] = field(default_factory=dict)
    wants_case: bool = False
    is_first: bool | None = None
    evaluation: UUID | None = None
    anew: bool = True


def checked(said: Said) -> Said:
    """Raises InputError: `comment.too_long`."""
    comment = storable(said.comment.replace("\r\n", "\n")).strip()
    if len(comment) > MAX_COMMENT_CHARS:
        raise InputError(
            "comment.too_long",
            f"A comment has at most {MAX_COMMENT_CHARS} characters.",
            loc=("body", "comment"),
        )
    return replace(said, comment=comment)


def kept(project: Project, said: Said) -> Said:
    """The same as it may be stored: a comment is told to agents, and to models by them.

    Raises:
        InputError: `comment.too_long`, `redaction.too_slow`.
    """
    said = checked(said)
    return replace(said, comment=redacted_text(project, said.comment))


def own_outcome(review: Review) -> str:
    """Raises InputError, `outcome.required`: the verifier came to nothing that could be agreed to."""
    if not review.evaluation.outcome:
        raise required()
    return review.evaluation.outcome


def required() -> InputError:
    return InputError("outcome.required", "Say which outcome.", loc=("body", "outcome"))


def refuse_if_changed(review: Review, said: Said) -> None:
    """Raises Conflict, `review.changed`: the run was verified again since it was looked at."""
    if said.evaluation is not None and said.evaluation != review.evaluation.uuid:
        raise Conflict("review.changed", "The run was verified again: look at it once more.")


def findings_of(review: Review, said: Said) -> dict[int, bool]:
    """By key, whether a finding is right.

    Raises:
        InputError: `finding.unknown`.
    """
    asked = dict(said.findings)
    if not asked:
        return {}
    rows = Finding.objects.filter(
        evaluation=review.evaluation,
        fingerprint__in=[name for name in asked if storable(name) == name],
    )
    keys = dict(rows.values_list("fingerprint", "pk"))
    for name in asked:
        if name not in keys:
            shown = storable(name)[:120]
            raise InputError(
                "finding.unknown",
                "This evaluation has no such finding.",
                loc=("body", "findings", shown),
            )
    return {keys[name]: is_right for name, is_right in asked.items()}


def store(
    review: Review, actor: Actor, *, now: datetime, labels: Mapping[int, bool], **columns: Any
) -> Decision:
    decision = Decision.objects.create(
        project_id=review.project_id,
        review=review,
        evaluation=review.evaluation,
        round=review.round,
        is_adjudication=review.is_adjudication,
        seconds=_seconds(review, actor, now),
        created_at=now,
        **reviewer(actor),
        **columns,
    )
    label(decision, labels)
    return decision


def label(decision: Decision, labels: Mapping[int, bool]) -> None:
    FindingLabel.objects.bulk_create(
        FindingLabel(decision=decision, finding_id=finding, is_right=is_right)
        for finding, is_right in labels.items()
    )


def is_same(decision: Decision, *, outcome: str, comment: str, labels: Mapping[int, bool]) -> bool:
    """Whether this says again what was said: a button pressed twice."""
    known = dict(decision.labels.values_list("finding", "is_right"))
    return (decision.outcome, decision.comment, known) == (outcome, comment, dict(labels))


def _seconds(review: Review, actor: Actor, now: datetime) -> int | None:
    """From the claim on; None: it was not claimed."""
    if review.claimed_at is None or not holds(review, actor):
        return None
    return min(MAX_SECONDS, max(0, int((now - review.claimed_at).total_seconds())))
