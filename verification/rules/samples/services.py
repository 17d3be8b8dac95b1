"""Samples are started and cancelled here; workers do the rest."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, NotFound
from verification.rules.backtest.wish import Wish
from verification.rules.models import Drawn, Sample, SampledRun, SampleState
from verification.rules.samples import waking
from verification.rules.samples.price import Price, active_verifier, price

MAX_OPEN = 5
"""Samples of one project that are not over yet."""
MAX_KEPT = 20
"""Of one rule."""


def start(*, access: Access, wish: Wish, drawn: Drawn, size: int, max_usd: Decimal) -> Sample:
    """Have workers ask the judge about a sample; they never spend more than `max_usd` (USD).

    Raises:
        Conflict: `backtest.no_judge`; `backtest.no_runs`; `backtest.price` is higher than what was
            agreed to; `backtest.too_many` of this project are not over yet.
    """
    access.need(Role.EDITOR)
    priced = price(wish, drawn, size)
    if not priced.runs:
        raise Conflict("backtest.no_runs", "No run that a judge has seen is there to ask about.")
    if priced.max_usd > max_usd and not priced.is_estimated:
        told = f"It may cost up to ${priced.max_usd} now, and ${max_usd} was agreed to."
        raise Conflict("backtest.price", told)
    try:
        return _started(access, wish, drawn, priced, max_usd)
    except IntegrityError as error:
        raise Conflict("backtest.runs_gone", "A run was deleted meanwhile. Try again.") from error


def _started(access: Access, wish: Wish, drawn: Drawn, priced: Price, max_usd: Decimal) -> Sample:
    """What is asked already is not asked twice: who asks the same follows it."""
    with transaction.atomic():
        _lock(wish.process.project)
        same = {"candidate_text": wish.source_text, "rule_index": wish.index, "drawn": drawn}
        rows = Sample.objects.filter(process=wish.process, state=SampleState.OPEN, **same)
        if twin := rows.filter(total=priced.runs).first():
            return twin
        _refuse_too_many(wish.process.project)
        sample = _store(access, wish, drawn, priced, max_usd)
        transaction.on_commit(waking.waker(sample.pk, sample.total))
    return sample


def cancel(*, access: Access, sample: Sample) -> bool:
    """What is answered stays. False: it was over already."""
    access.need(Role.EDITOR)
    rows = Sample.objects.filter(pk=sample.pk, state=SampleState.OPEN)
    return bool(rows.update(state=SampleState.CANCELLED, finished_at=timezone.now(), next_at=None))


def sample_of(project: Project, uuid: UUID) -> Sample:
    """Raises `NotFound`."""
    rows = Sample.objects.select_related("process__project", "verifier_version")
    found = rows.filter(project=project, uuid=uuid).first()
    if found is None:
        raise NotFound("sample.unknown", "There is no such sample.")
    return found


def newest_of(wish: Wish) -> Sample | None:
    """The last one of a rule that looks for the same."""
    return (
        _of_rule(wish)
        .filter(looks_for_sha256=wish.rule.looks_for_sha256)
        .select_related("process__project", "verifier_version")
        .order_by("-pk")
        .first()
    )


def _of_rule(wish: Wish) -> QuerySet[Sample]:
    return Sample.objects.filter(process=wish.process, rule=wish.rule.name)


def _lock(project: Project) -> None:
    """Of two that start at once, the second sees the first."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('samples'), %s)", [project.pk])


def _refuse_too_many(project: Project) -> None:
    if Sample.objects.filter(project=project, state=SampleState.OPEN).count() >= MAX_OPEN:
        told = f"{MAX_OPEN} samples of this project are under way: wait, or cancel one."
        raise Conflict("backtest.too_many", told)


def _store(access: Access, wish: Wish, drawn: Drawn, priced: Price, max_usd: Decimal) -> Sample:
    now, project = timezone.now(), wish.process.project
    sample = Sample.objects.create(
        project=project,
        process=wish.process,
        rule=wish.rule.name,
        looks_for_sha256=wish.rule.looks_for_sha256,
        replaces=wish.published.name if wish.published else "",
        rule_index=wish.index,
        candidate_text=wish.source_text,
        verifier_version=active_verifier(project),
        drawn=drawn,
        is_narrowed=wish.is_narrowed,
        max_usd=max_usd,
        total=priced.runs,
        asked_by=access.actor.name[:200],
        created_at=now,
        next_at=now + waking.AGAIN,
    )
    SampledRun.objects.bulk_create(
        SampledRun(sample=sample, run_id=run) for run in priced.drawn.run_ids
    )
    older = _of_rule(wish).exclude(state=SampleState.OPEN).order_by("-pk")
    Sample.objects.filter(pk__in=list(older.values_list("pk", flat=True)[MAX_KEPT:])).delete()
    return sample
