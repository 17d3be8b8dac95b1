"""Whether what was promoted judges still: anybody may activate or publish something else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from processes.models import Process, ProcessVersion
from verification.trials.models import Trial, TrialState
from verification.verifiers.models import VerifierVersion


@dataclass(frozen=True, slots=True)
class Judging:
    """What judges now: verifier versions by project, published versions by project and slug."""

    verifiers: Mapping[int, VerifierVersion]
    published: Mapping[tuple[int, str], ProcessVersion]


def judging_now(trials: Collection[Trial]) -> Judging:
    """In the projects of these trials, with two statements; with none for no trial."""
    projects = {one.project_id for one in trials}
    if not projects:
        return Judging({}, {})
    active = VerifierVersion.objects.filter(project__in=projects, is_active=True)
    slugs = {one.promotion["process"]["slug"] for one in trials if "process" in one.promotion}
    processes = Process.objects.filter(
        project__in=projects, slug__in=slugs, published__isnull=False
    ).select_related("published__process")
    versions = {(one.project_id, one.slug): one.published for one in processes}
    return Judging(
        {one.project_id: one for one in active},
        {key: version for key, version in versions.items() if version is not None},
    )


def replaced_by(trial: Trial, judging: Judging) -> str:
    """What judges now in the place of what was promoted, in words; '' where it still does."""
    kept = trial.promotion
    now: VerifierVersion | ProcessVersion | None
    if "verifier" in kept:
        now = judging.verifiers.get(trial.project_id)
        if now is None or now.number != kept["verifier"]["after"]:
            return _not_promoted(now)
    if "process" in kept:
        now = judging.published.get((trial.project_id, kept["process"]["slug"]))
        if now is None or now.number != kept["process"]["after"]:
            return _not_promoted(now)
    return ""


def live_is_promoted(trial: Trial) -> bool:
    """Whether what judges now is what this trial's promotion put there."""
    return not replaced_by(trial, judging_now([trial]))


def candidate_judges(trial: Trial) -> bool:
    """Whether the new side of a trial is what judges runs now."""
    named = VerifierVersion.objects.filter(pk=trial.candidate_verifier_id, is_active=True)
    version = trial.candidate_process_version_id
    return named.exists() and (
        version is None or Process.objects.filter(published=version).exists()
    )


def still_in_force(trials: Iterable[Trial]) -> set[int]:
    """Those, by id, whose promotion was not rolled back and still judges; two statements."""
    found = [one for one in trials if one.state == TrialState.PROMOTED]
    judging = judging_now(found)
    return {one.pk for one in found if not replaced_by(one, judging)}


def _not_promoted(now: VerifierVersion | ProcessVersion | None) -> str:
    return f"Runs are judged by {now or 'nothing'} now, which is not what was promoted."
