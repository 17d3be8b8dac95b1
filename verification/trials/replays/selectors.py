"""How far the replays of a trial are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from loomverify.accounts.models import Project
from loomverify.errors import NotFound
from verification.trials.models import Comparison, Trial, TrialReplay

COMPARED = Q(compared_at__isnull=False)
NOT_COMPARED = COMPARED & Q(diff_class="")
"""Looked at, and one side could not be had: the comparison says why."""
NO_RUN = "No finished run fits that the trial has not compared already."
NO_CASE = "No golden case fits what was asked for."


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` were looked at; of those, `not_compared` say why not."""

    done: int
    total: int
    not_compared: int = 0

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


def replays(trial: Trial) -> QuerySet[TrialReplay]:
    """Newest first."""
    return TrialReplay.objects.filter(trial=trial).order_by("-pk")


def replay_of(project: Project, trial: Trial, uuid: UUID) -> TrialReplay:
    """Raises `NotFound`: `trial_replay.unknown`."""
    found = replays(trial).filter(trial__project=project, uuid=uuid).first()
    if found is None:
        raise NotFound("trial_replay.unknown", "This trial has no such replay.")
    return found


def progress(replay: TrialReplay) -> Progress:
    return progress_of([replay])[replay.pk]


def progress_of(those: Iterable[TrialReplay]) -> Mapping[int, Progress]:
    """Of several at once, by their rows."""
    totals = {one.pk: one.total for one in those}
    counted = (
        Comparison.objects.filter(replay__in=list(totals))
        .values_list("replay")
        .annotate(done=Count("pk", filter=COMPARED), lost=Count("pk", filter=NOT_COMPARED))
    )
    found = {replay: (done, lost) for replay, done, lost in counted}
    return {
        replay: Progress(done, total, lost)
        for replay, total in totals.items()
        for done, lost in [found.get(replay, (0, 0))]
    }
