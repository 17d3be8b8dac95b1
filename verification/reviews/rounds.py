"""A review's rows, locked, and what was said in its rounds.

Whoever changes more than one of them locks the task first, then the review, then the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from loomverify.accounts.access import Access, Actor, person
from loomverify.errors import NotFound
from verification.reviews.models import Decision
from verification.reviews.reviewers import reviewer
from verification.runs.models import Review, Run, Task

M = TypeVar("M", Task, Review, Run)
UNREAD = (
    "evaluation__rule_trace", "evaluation__feedback", "evaluation__claims",
    "evaluation__claim_list", "evaluation__score", "evaluation__loop",
)  # fmt: skip
STANDING = Q(undone_at__isnull=True) & ~Q(outcome="")
"""Said in full, and not taken back."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a decision is about, locked until the transaction is over."""

    task: Task
    review: Review
    run: Run


def named(access: Access, review: UUID) -> Review:
    """Raises NotFound, `review.unknown`: the project has none of this name."""
    found = Review.objects.select_related("run").only("pk", "run__task_id", "run_id")
    row = found.filter(project=access.project, uuid=review).first()
    if row is None:
        raise NotFound("review.unknown", "This project has no such review.")
    return row


def lock(review: Review, *, skip_locked: bool = False) -> Rows | None:
    """Lock the rows in their order. None: deleted meanwhile, or, asked to skip, held elsewhere."""
    task = _locked(Task.objects.all(), review.run.task_id, skip_locked)
    row = task and _locked(
        Review.objects.select_related("evaluation").defer(*UNREAD),
        review.pk,
        skip_locked,
        of=("self",),
    )
    run = row and _locked(
        Run.objects.select_related("process").defer("search", "result", "process__description"),
        review.run_id,
        skip_locked,
        of=("self",),
    )
    if not (task and row and run):
        return None
    row.run = run  # its name, which the audit log keeps, needs no other query
    return Rows(task, row, run)


def spoken(review: Review) -> list[Decision]:
    """What was said in full in the newest round, oldest first."""
    rows = review.decisions.filter(STANDING, round=review.round).order_by("created_at", "id")
    return list(rows.select_related("reviewer", "api_key"))


def own(review: Review, actor: Actor) -> QuerySet[Decision]:
    """What this reviewer said of it and did not take back."""
    return review.decisions.filter(undone_at__isnull=True, **reviewer(actor))


def revealed(review: Review, actor: Actor) -> Decision | None:
    """What this reviewer said in this round before the verdict was revealed to them.

    Also where it was taken back: nobody sees less for it.
    """
    rows = review.decisions.filter(round=review.round, **reviewer(actor))
    return rows.exclude(first_outcome="").order_by("id").first()


def name_of(decision: Decision) -> str:
    if decision.reviewer is not None:
        return person(decision.reviewer).name
    return decision.api_key.name if decision.api_key else ""


def _locked(rows: QuerySet[M], pk: int, skip_locked: bool, *, of: tuple[str, ...] = ()) -> M | None:
    return rows.select_for_update(skip_locked=skip_locked, no_key=True, of=of).filter(pk=pk).first()
