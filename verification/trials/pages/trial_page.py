"""What the page of one trial shows: figures that move while it runs, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, Sum

from verification.engine.drift import Against
from verification.engine.shadow import SideOutcome
from verification.engine.statistics.intervals import wilson
from verification.golden.models import Replay
from verification.runs.templatetags.loomverify import percent
from verification.runs.wording import Badge
from verification.trials import selectors
from verification.trials.figures import COUNTED, Figures, figures_of
from verification.trials.filters import RUNS
from verification.trials.judging.wording import side_badge
from verification.trials.models import (
    Comparison,
    Origin,
    StopReason,
    Tally,
    Trial,
    TrialReplay,
    TrialState,
)
from verification.trials.pages.criteria import Panel, panel_of
from verification.trials.pages.matrix import Matrix, matrix_of
from verification.trials.pages.wording import STATES, sides_in_words
from verification.trials.promoted import live_is_promoted
from verification.trials.replays import cutover
from verification.trials.replays.selectors import Progress, progress_of, replays
from verification.trials.services.watching import Basis, basis_of

ORIGINS = {
    "": COUNTED,
    RUNS: COUNTED,
    Origin.LIVE.value: (Origin.LIVE,),
    Origin.PAST.value: (Origin.PAST,),
    Origin.CORPUS.value: (Origin.CORPUS,),
}
MAX_REPLAYS = 8
UNDER_WAY_SECONDS, CALM_SECONDS = 2, 15


@dataclass(frozen=True, slots=True)
class ReplayRow:
    replay: TrialReplay
    progress: Progress

    @property
    def is_over(self) -> bool:
        return self.replay.finished_at is not None

    @property
    def over(self) -> str:
        return "Golden corpus" if self.replay.origin == Origin.CORPUS else "Past runs"


@dataclass(frozen=True, slots=True)
class Risen:
    """An outcome that rose beyond its interval after the cutover."""

    badge: Badge
    before: str
    after: str
    between: str
    before_n: int | None
    after_n: int | None
    is_of_trial: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a trial stands. `watch` runs after its cutover; `risen` is what that saw.

    `judges_already`: the candidate does; nothing is left to promote.
    `basis`: what runs are held against since then; None: they are not.
    """

    badge: Badge
    sides: str
    stopped: str
    watch: Trial | None
    risen: Sequence[Risen]
    drift_at: datetime | None
    is_live: bool
    judges_already: bool
    basis: Basis | None

    @property
    def is_alarmed(self) -> bool:
        return bool(self.risen) and self.is_live


@dataclass(frozen=True, slots=True)
class Live:
    """The part that is asked for again: figures of an origin, the gate, what is under way."""

    figures: Figures
    matrix: Matrix
    panel: Panel
    replays: Sequence[ReplayRow]
    corpus_replay: Replay | None
    waiting: int
    put_off: int
    not_compared: int
    counts: dict[str, int]
    seconds: int
    """Between two looks; 0: nothing moves any more."""

    @property
    def open_replays(self) -> Sequence[ReplayRow]:
        return [one for one in self.replays if not one.is_over]

    @property
    def ended_replays(self) -> Sequence[ReplayRow]:
        return [one for one in self.replays if one.is_over]

    @property
    def runs(self) -> int:
        return sum(self.counts.get(origin, 0) for origin in COUNTED)

    @property
    def corpus(self) -> int:
        return self.counts.get(Origin.CORPUS, 0)


def live_of(trial: Trial, origin: str) -> Live:
    """`origin` as it stands in the address; what fits none finds nothing."""
    origins = ORIGINS.get(origin, ())
    of_all = figures_of(trial, tuple(Origin))
    counted, figures = of_all.of(COUNTED), of_all.of(origins)
    listed = list(replays(trial)[:MAX_REPLAYS])
    progress = progress_of(listed)
    rows = [ReplayRow(one, progress[one.pk]) for one in listed]
    totals = _totals(trial)
    running_replay = cutover.under_way(trial)
    replay = running_replay or selectors.cutover_replay(trial)
    is_busy = bool(totals["waiting"]) or running_replay is not None
    calm = CALM_SECONDS if trial.is_running else 0
    return Live(
        figures=figures,
        matrix=matrix_of(figures, origin),
        panel=panel_of(trial, selectors.gate_of(trial, counted), counted, replay),
        replays=rows,
        corpus_replay=running_replay,
        waiting=totals["waiting"],
        put_off=totals["put_off"],
        not_compared=sum(totals["not_compared"].get(one, 0) for one in origins),
        counts=totals["origins"],
        seconds=UNDER_WAY_SECONDS if is_busy else calm,
    )


def _totals(trial: Trial) -> dict[str, Any]:
    """How many by origin, and of these what could not be compared; what waits."""
    rows = Tally.objects.filter(trial_id=trial.pk).values("origin")
    found = list(
        rows.annotate(
            compared=Sum("count", filter=~Q(diff_class=""), default=0),
            lost=Sum("count", filter=Q(diff_class=""), default=0),
        )
    )
    return {
        **Comparison.objects.filter(trial=trial, compared_at__isnull=True).aggregate(
            waiting=Count("pk"), put_off=Count("pk", filter=Q(asked_again__gt=0))
        ),
        "origins": {row["origin"]: row["compared"] for row in found},
        "not_compared": {row["origin"]: row["lost"] for row in found},
    }


def standing_of(trial: Trial) -> Standing:
    watch = Trial.objects.filter(watches=trial).first() if trial.promoted_at else None
    is_live = trial.state == TrialState.PROMOTED and live_is_promoted(trial)
    return Standing(
        badge=STATES[TrialState(trial.state)],
        sides=sides_in_words(trial),
        stopped=_stopped(trial),
        watch=watch,
        risen=[_risen(one) for one in watch.drift] if watch else (),
        drift_at=watch.drift_at if watch else None,
        is_live=is_live,
        judges_already=trial.candidate_verifier.is_active
        and trial.candidate_process_version_id is None,
        basis=basis_of(trial) if is_live else None,
    )


def _stopped(trial: Trial) -> str:
    if trial.state not in (TrialState.ENDED, TrialState.STOPPED) or not trial.stop_reason:
        return ""
    why = StopReason(trial.stop_reason).label
    return f"{why}: {trial.stop_text}" if trial.stop_text else f"{why}."


def _risen(one: dict[str, Any]) -> Risen:
    n = one.get("after_n")
    found = wilson(round(one["after"] * n), n) if n else None
    return Risen(
        badge=side_badge(SideOutcome(one["outcome"])),
        before=percent(one["before"]),
        after=percent(one["after"]),
        between=f"{found.low * 100:.1f} to {found.high * 100:.1f}" if found else "",
        before_n=one.get("before_n"),
        after_n=n,
        is_of_trial=one.get("against", Against.TRIAL) == Against.TRIAL,
    )
