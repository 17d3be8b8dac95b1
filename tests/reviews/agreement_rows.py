"""Decided reviews for the figures, as the services would have written them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from loomverify.accounts.models import Project, User
from tests.builders import make_run, make_user
from tests.judged import make_tier
from tests.reviewing import make_review
from tests.reviews.deciding_rows import make_decision, over
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.models import Decision, FindingLabel
from verification.runs.models import Evaluation, Finding, Review, ReviewState, Run, TierResult

UNDECIDED = "undecided"
WORDS = ("pass", "pass_with_warnings", "partial_verified", "fail")


def make_decided(
    project: Project,
    said: str = "fail",
    people: str = "fail",
    *,
    by: User | None = None,
    rule: str = "",
    labels: Sequence[bool] = (),
    model: str = "",
    confidence: float | None = None,
    phase: str = "build",
    process: Any = None,
    created_at: datetime | None = None,
    **columns: Any,
) -> Review:
    """The verifier said one thing, and people another, or the same."""
    is_doubt = said == UNDECIDED
    run = make_run(
        project,
        process=process,
        phase=phase,
        outcome=Outcome.FAIL if is_doubt else Outcome(said),
        verdict=Verdict.UNDECIDED if is_doubt else None,
        reason_code="rule_violated" if said == "fail" else "",
        created_at=created_at,
        findings=[
            {"rule": rule, "fingerprint": f"f{n}"} for n in range(max(1, len(labels)))
        ] if rule else (),
        evaluation={"confidence": confidence},
        tier_achieved=2 if model or confidence is not None else 1,
    )  # fmt: skip
    assert run.live_evaluation is not None
    if model:
        make_tier(run.live_evaluation, 2, model=model)
    review = make_review(
        project,
        run,
        state=ReviewState.DECIDED,
        created_at=created_at,
        **{"rule": rule, **columns},
    )
    reviewer = by or make_user(project)
    make_decision(
        review, reviewer, Outcome(people), labels={f"f{n}": one for n, one in enumerate(labels)}
    )
    return over(review, Outcome(people))


def make_matrix(project: Project, rows: dict[tuple[str, str], int], **columns: Any) -> None:
    """So many reviews of each kind: one is made, the others are its copies."""
    by = make_user(project)
    for (said, people), n in rows.items():
        if n:
            copy_decided([make_decided(project, said, people, by=by, **columns)], n - 1)


STRIDE = 10_000_000
"""The ids of copies begin where no sequence comes."""
COPIED = (Run, Evaluation, Finding, TierResult, Review, Decision, FindingLabel)


def copy_decided(reviews: Sequence[Review], count: int) -> None:
    """Copy reviews, their runs, what was found in these and what was decided, in the database."""
    ids = [review.pk for review in reviews]
    evaluations = [review.evaluation_id for review in reviews]
    found: dict[type[Model], QuerySet[Any]] = {
        Run: Run.objects.filter(review__in=ids),
        Evaluation: Evaluation.objects.filter(pk__in=evaluations),
        Finding: Finding.objects.filter(evaluation__in=evaluations),
        TierResult: TierResult.objects.filter(evaluation__in=evaluations),
        Review: Review.objects.filter(pk__in=ids),
        Decision: Decision.objects.filter(review__in=ids),
        FindingLabel: FindingLabel.objects.filter(decision__review__in=ids),
    }
    with transaction.atomic():
        for model in COPIED:
            copy_rows(model, list(found[model].values_list("pk", flat=True)), count)


def copy_rows(model: type[Model], ids: Sequence[int], count: int) -> None:
    """Rows and what they name among the copied are moved on by a stride for each copy."""
    values = {}
    for field in model._meta.concrete_fields:
        name = f'"{field.column}"'
        is_moved = field.primary_key or field.related_model in COPIED
        values[name] = f"{name} + copy * {STRIDE}" if is_moved else name
        if field.column == "uuid":
            values[name] = "gen_random_uuid()"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            insert into {model._meta.db_table} ({", ".join(values)})
            select {", ".join(values.values())}
            from {model._meta.db_table}, generate_series(1::bigint, %s) as copy
            where {model._meta.pk.column} = any(%s)
            """,  # noqa: S608 - names of our own columns
            [count, list(ids)],
        )
