"""What is counted as comparisons change comes to what their rows say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import make_project, make_run
from tests.trials.at_once import at_once
from tests.trials.builders import make_comparison, make_comparisons, make_queued, make_trial
from verification.trials import tallies
from verification.trials.figures import figures_of
from verification.trials.models import Comparison, Origin, Tally, Trial

KEY = ("origin", "old", "new", "old_again", "new_again", "diff_class", "judged", "kind")
Counts = dict[tuple[Any, ...], tuple[int, Decimal, Decimal]]
PERCENTILES = """
    select percentile_cont(0.95) within group (order by old_ms),
           percentile_cont(0.95) within group (order by new_ms)
    from trials_comparison
    where trial_id = %s and origin in ('live', 'past') and diff_class <> ''
"""


def _added(rows: Any, counted: Callable[[Any], int]) -> Counts:
    found: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        key = (*(getattr(row, name) for name in KEY), tuple(row.rules))
        sums = found.setdefault(key, [0, Decimal(0), Decimal(0)])
        n = counted(row)
        weight = n if isinstance(row, Comparison) else 1
        sums[0] += n
        sums[1] += weight * row.old_cost_usd
        sums[2] += weight * row.new_cost_usd
    return {key: (n, old, new) for key, (n, old, new) in found.items() if n}


def of_rows(trial: Trial) -> Counts:
    return _added(Comparison.objects.filter(trial=trial, compared_at__isnull=False), lambda _: 1)


def tallied(trial: Trial) -> Counts:
    return _added(Tally.objects.filter(trial_id=trial.pk), lambda row: row.count)


def percentiles(trial: Trial) -> tuple[float, float]:
    with connection.cursor() as cursor:
        cursor.execute(PERCENTILES, [trial.pk])
        old, new = cursor.fetchone()
    return old or 0.0, new or 0.0


def _compared(trial: Trial) -> None:
    """As a worker stores: several at a time that waited, one of them in vain."""
    waiting = [make_queued(trial) for _ in range(4)]
    at = timezone.now()
    for row, columns in zip(
        waiting,
        (
            {"old": "pass", "new": "pass", "diff_class": "no_diff"},
            {"old": "fail", "new": "pass", "diff_class": "old_fail_new_pass", "kind": "k"},
            {"error_text": "The run was deleted before it was compared."},
        ),
        strict=False,
    ):
        Comparison.objects.filter(pk=row.pk).update(compared_at=at, **columns)


def _judged(trial: Trial) -> None:
    moves = Comparison.objects.filter(trial=trial, old="fail", new="pass")
    assert moves.update(judged="new") > 1


def _taken_back(trial: Trial) -> None:
    first = Comparison.objects.filter(trial=trial, judged="new").first()
    assert first
    assert Comparison.objects.filter(pk=first.pk).update(judged="") == 1


def _run_deleted(trial: Trial) -> None:
    run = make_run(trial.project)
    make_comparison(trial, "pass", "fail", run=run)
    run.delete()


def _rows_deleted(trial: Trial) -> None:
    assert Comparison.objects.filter(trial=trial, old="pass").delete()[0] > 1


CHANGES: tuple[Callable[[Trial], Any], ...] = (
    _compared,
    lambda trial: make_comparisons(
        trial,
        {("fail", "pass"): 3, ("pass", "undecided"): 2},
        origin=Origin.PAST,
        rules=["a", "b"],
        old_cost_usd=Decimal("0.000001"),
        new_cost_usd=Decimal("12.5"),
        is_aa=True,
        old_again="fail",
    ),
    lambda trial: make_comparisons(trial, {("fail", "fail"): 5}, origin=Origin.CORPUS),
    _judged,
    _taken_back,
    _run_deleted,
    _rows_deleted,
)


@pytest.mark.django_db
@pytest.mark.parametrize("merging", [False, True])
def test_counts_follow_whatever_changes_comparisons(project: Project, merging: bool) -> None:
    trial, other = make_trial(project), make_trial(project)
    make_comparisons(other, {("pass", "pass"): 2})

    for change in CHANGES:
        change(trial)
        if merging:
            tallies.merge(trial.pk)

        assert tallied(trial) == of_rows(trial) != {}
        found = figures_of(trial)
        assert (found.old_p95_ms, found.new_p95_ms) == percentiles(trial)

    assert [row.count for row in Tally.objects.filter(trial_id=other.pk)] == [2]
    if merging:
        assert Tally.objects.filter(trial_id=trial.pk).count() == len(of_rows(trial))


@pytest.mark.django_db
def test_the_slowest_twentieth_lies_where_postgresql_finds_it(project: Project) -> None:
    trial = make_trial(project)

    for number in range(1, 45):
        make_comparison(trial, old_ms=number * 7919 % 101, new_ms=number * 104_729 % 5_003)
        found = figures_of(trial)

        assert (found.old_p95_ms, found.new_p95_ms) == pytest.approx(percentiles(trial), rel=1e-12)


@pytest.mark.django_db
def test_the_relay_merges_what_has_grown_and_nothing_of_a_deleted_trial_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "ENOUGH", 3)
    grown, few, gone = (make_trial(project) for _ in range(3))
    for trial, count in ((grown, 3), (few, 2), (gone, 3)):
        for _ in range(count):
            make_comparison(trial)
    gone.delete()

    assert (tallies.sweep(), tallies.sweep()) == (2, 0)

    left = Tally.objects.order_by("pk").values_list("trial_id", "count", "is_merged")
    assert Counter(left) == {(few.pk, 1, False): 2, (grown.pk, 3, True): 1}


@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_or_counted_twice_while_several_merge_and_add() -> None:
    trial = make_trial(make_project())
    make_comparisons(trial, {("fail", "pass"): 2})

    def adds() -> None:
        for _ in range(6):
            with transaction.atomic():
                make_comparison(trial, "fail", "pass")

    def merges() -> None:
        for _ in range(6):
            tallies.merge(trial.pk)

    at_once(adds, merges, merges, adds)

    assert tallied(trial) == of_rows(trial)
    assert figures_of(trial).count == 14
