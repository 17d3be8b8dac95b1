"""Trials and their comparisons, as pages, the gate and the API read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError, NotFound
from processes.models import Process, ProcessVersion
from verification.engine import cutover
from verification.engine.cutover import Corpus, Evidence, Gate
from verification.golden.guards.asking import ended, is_over_published, unknown_before
from verification.golden.models import Replay, ReplayPurpose, ReplayState
from verification.golden.replays import selectors as replays
from verification.trials.figures import Figures, figures_of, figures_of_all
from verification.trials.filters import ComparisonFilters, narrowings
from verification.trials.models import Acknowledgement, Comparison, Trial

RELATED = (
    "project",
    "process",
    "baseline_verifier",
    "candidate_verifier",
    "baseline_process_version",
    "candidate_process_version",
    "watches",
)
HEAVY = (
    "process__description",
    "baseline_process_version__source_text",
    "candidate_process_version__source_text",
)
ALL = ComparisonFilters()
Candidate: TypeAlias = tuple[int, int | None, bool]
"""Verifier version, process version, and whether another verifier than before would judge."""
HEAVY_COMPARISON = ("old_observed", "new_observed")


def trials(project: Project) -> QuerySet[Trial]:
    """Newest first, with what is shown of them."""
    rows = Trial.objects.filter(project=project).select_related(*RELATED).defer(*HEAVY)
    return rows.order_by("-created_at", "-id")


def trial_of(project: Project, uuid: UUID) -> Trial:
    """Raises `NotFound`: `trial.unknown`."""
    found = trials(project).filter(uuid=uuid).first()
    if found is None:
        raise NotFound("trial.unknown", "This project has no such trial.")
    return found


def gate_of(trial: Trial, figures: Figures | None = None) -> Gate:
    """Whether the candidate may take over, and what its criteria lack.

    `figures`: those of live and past runs, where they were counted just now.
    """
    return cutover.gate(_evidence(figures or figures_of(trial), _corpus(trial)))


def gates_of(trials: Iterable[Trial]) -> dict[int, tuple[Figures, Gate]]:
    """Figures and gate of each trial by its id; the figures of all with two statements."""
    found = list(trials)
    figures = figures_of_all(found)
    corpora = _corpora(found)
    return {
        trial.pk: (
            figures[trial.pk],
            cutover.gate(_evidence(figures[trial.pk], corpora[_candidate(trial)])),
        )
        for trial in found
    }


def _evidence(figures: Figures, corpus: Corpus | None) -> Evidence:
    return Evidence(
        pairs=figures.pairs,
        people=figures.people,
        old_flips=figures.old_flips,
        new_flips=figures.new_flips,
        old_cost=figures.old_cost,
        new_cost=figures.new_cost,
        old_p95_ms=figures.old_p95_ms,
        new_p95_ms=figures.new_p95_ms,
        corpus=corpus,
    )


def corpus_terms(trial: Trial) -> tuple[Process | None, ProcessVersion | None]:
    """Over which cases a cutover's replay of the corpus goes, and by which process version.

    A verifier judges every process, the others as they are published; where that stays as it is,
    a version of a process judges its own cases alone.
    """
    version = trial.candidate_process_version
    return (version.process if version and not _is_other_verifier(trial) else None), version


def _is_other_verifier(trial: Trial) -> bool:
    return trial.candidate_verifier_id != trial.baseline_verifier_id


def cutover_replay(trial: Trial) -> Replay | None:
    """The newest finished replay of the whole corpus by the candidate, as the corpus is now."""
    found = newest_cutover_replay(trial, (ReplayState.FINISHED,))
    return found if found and is_over_published(found) else None


def newest_cutover_replay(trial: Trial, states: Iterable[str]) -> Replay | None:
    """In one of these states; None where there is none, or it goes over other cases than now."""
    process, version = corpus_terms(trial)
    rows = replays.replays(trial.project).filter(
        purpose=ReplayPurpose.CUTOVER,
        state__in=states,
        verifier_version=trial.candidate_verifier,
        process=process,
        process_version=version,
        candidate_sha256="",
        tags=[],
    )
    found = rows.first()
    if found is None:
        return None
    now = replays.corpus_sha256(trial.project, process=process, with_canary=True)
    return found if found.corpus_sha256 == now else None


def _corpus(trial: Trial) -> Corpus | None:
    """Cases that could never be judged say nothing; those that could once are missed."""
    found = cutover_replay(trial)
    if found is None:
        return None
    heard = ended(found)
    regressed = heard.worse_count - heard.lost_count
    return Corpus(found.total, regressed, heard.lost_count, unknown_before(found))


def _corpora(trials: Iterable[Trial]) -> dict[Candidate, Corpus | None]:
    """What the corpus says of each candidate; those that were never replayed cost nothing."""
    by_candidate = {_candidate(trial): trial for trial in trials}
    replayed = set(
        Replay.objects.filter(
            purpose=ReplayPurpose.CUTOVER,
            state=ReplayState.FINISHED,
            verifier_version__in={verifier for verifier, *_ in by_candidate},
        ).values_list("verifier_version_id", flat=True)
    )
    return {
        candidate: _corpus(trial) if candidate[0] in replayed else None
        for candidate, trial in by_candidate.items()
    }


def _candidate(trial: Trial) -> Candidate:
    is_other = _is_other_verifier(trial)
    return trial.candidate_verifier_id, trial.candidate_process_version_id, is_other


def comparisons(trial: Trial, filters: ComparisonFilters = ALL) -> QuerySet[Comparison]:
    """What was compared, newest first; `is_acknowledged` says whether its kind is, just now."""
    rows = Comparison.objects.filter(trial=trial, compared_at__isnull=False)
    rows = rows.annotate(is_acknowledged=Exists(_standing_of_its_kind()))
    for narrowing in narrowings(filters):
        rows = rows.filter(narrowing)
    return (
        rows.select_related("run")
        .defer(*HEAVY_COMPARISON, "run__search", "run__result")
        .order_by("-id")
    )


def comparisons_page(
    trial: Trial,
    filters: ComparisonFilters = ALL,
    *,
    cursor: str = "",
    limit: int,
) -> tuple[list[Comparison], str | None]:
    """A page in the order of `comparisons`, and the cursor of the next.

    Raises:
        InputError: `cursor.invalid`.
    """
    rows = comparisons(trial, filters)
    if cursor:
        rows = rows.filter(pk__lt=_decode(cursor))
    found = list(rows[: limit + 1])
    if len(found) <= limit:
        return found, None
    return found[:limit], str(found[limit - 1].pk)


def comparison_of(trial: Trial, uuid: UUID) -> Comparison:
    """One whole, compared or waiting. Raises `NotFound`: `comparison.unknown`."""
    rows = Comparison.objects.filter(trial=trial, uuid=uuid)
    sides = ("old_evaluation", "new_evaluation")
    versions = ("process_version", "verifier_version")
    related = (
        *("trial", "run", "replay", "case_version"),
        *sides,
        *(f"{side}__{version}" for side in sides for version in versions),
    )
    rows = rows.annotate(is_acknowledged=Exists(_standing_of_its_kind()))
    heavy = ("run__search", *(f"{side}__process_version__source_text" for side in sides))
    found = rows.select_related(*related).defer(*heavy).first()
    if found is None:
        raise NotFound("comparison.unknown", "This trial has no such comparison.")
    return found


def acknowledgements(trial: Trial) -> QuerySet[Acknowledgement]:
    """Those that hold now, the first to run out first."""
    rows = trial.acknowledgements.filter(withdrawn_at=None, until__gt=timezone.now())
    return rows.order_by("until", "id")


def _standing_of_its_kind() -> QuerySet[Acknowledgement]:
    return Acknowledgement.objects.filter(
        trial=OuterRef("trial"),
        kind=OuterRef("kind"),
        withdrawn_at=None,
        until__gt=timezone.now(),
    ).exclude(kind="")


def _decode(cursor: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", cursor, re.ASCII):
        raise InputError(
            "cursor.invalid", "This cursor was not made by us.", loc=("query", "cursor"), status=400
        )
    return int(cursor)
