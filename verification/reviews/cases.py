"""Drafts of golden cases: runs that a reviewer wants to keep as an example."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, Role
from loomverify.errors import NotFound
from verification.engine.outcome import Verdict
from verification.reviews import rounds
from verification.reviews.models import CaseDraft
from verification.runs.models import Review


def toggle_draft(*, access: Access, review: UUID) -> bool:
    """Make the run a draft, or no longer; return whether it is one now.

    Raises:
        NotFound: `review.unknown`.
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    asked = rounds.named(access, review)
    with transaction.atomic():
        row = Review.objects.select_for_update(no_key=True).get(pk=asked.pk)
        removed, _ = CaseDraft.objects.filter(run=row.run_id).delete()
        if removed:
            record(access.actor, "case_draft.removed", row, project=access.project)
        else:
            want(row, access.actor)
    return not removed


def want(review: Review, actor: Actor) -> None:
    """Keep the run as a draft. The caller holds the review's row."""
    _, is_new = CaseDraft.objects.get_or_create(
        run_id=review.run_id,
        defaults={
            "project_id": review.project_id,
            "review": review,
            "outcome": _outcome(review),
            "made_by": actor.name[:200],
            "created_at": timezone.now(),
        },
    )
    if is_new:
        record(actor, "case_draft.made", review, project=Project(pk=review.project_id))


def remove(*, access: Access, draft: UUID) -> None:
    """Raises NotFound, `case_draft.unknown`; Forbidden below reviewer."""
    access.need(Role.REVIEWER)
    with transaction.atomic():
        rows = CaseDraft.objects.select_for_update()
        row = rows.filter(project=access.project, uuid=draft).first()
        if row is None:
            raise NotFound("case_draft.unknown", "This project has no such draft.")
        record(access.actor, "case_draft.removed", row, project=access.project)
        row.delete()


def _outcome(review: Review) -> str:
    """What people decided, else what the verifier did; nothing that is still to be decided blind."""
    said = review.evaluation
    if review.outcome or review.is_blind or said.verdict == Verdict.UNDECIDED:
        return review.outcome
    return said.outcome
