"""Trials begin here; workers and the relay do the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, FaultError, InputError, Issue, NotFound
from processes.models import Process, ProcessVersion
from verification.engine.verifier import VerifierSpec
from verification.runs.storable import storable
from verification.trials.models import Trial, TrialState
from verification.trials.wording import MAX_TITLE, title_of
from verification.verifiers.comparing import judge_alike, same_verdicts
from verification.verifiers.models import JudgeConnection, VerifierVersion

MAX_RUNNING = 10
"""Trials of one project that people started and that still run."""
MAX_BUDGET_USD = Decimal(1_000_000)
LONGEST = timedelta(days=366)
AA_RATE = 0.1


@dataclass(frozen=True, slots=True)
class Sides:
    """Old and new. A process version that is None is the run's own."""

    baseline_verifier: VerifierVersion
    candidate_verifier: VerifierVersion
    baseline_process_version: ProcessVersion | None = None
    candidate_process_version: ProcessVersion | None = None

    @property
    def verifiers(self) -> tuple[VerifierVersion, VerifierVersion]:
        return self.baseline_verifier, self.candidate_verifier

    @property
    def process_versions(self) -> list[ProcessVersion]:
        """Those that are named."""
        both = (self.baseline_process_version, self.candidate_process_version)
        return [one for one in both if one is not None]

    @property
    def columns(self) -> dict[str, Any]:
        return {
            "baseline_verifier": self.baseline_verifier,
            "candidate_verifier": self.candidate_verifier,
            "baseline_process_version": self.baseline_process_version,
            "candidate_process_version": self.candidate_process_version,
        }


@dataclass(frozen=True, slots=True)
class Terms:
    """How a trial runs. Rates are shares, 0 to 1; without a budget or an end it has none."""

    sample_rate: float = 1.0
    aa_rate: float = AA_RATE
    budget_usd: Decimal | None = None
    ends_at: datetime | None = None
    title: str = ""

    def check(self, now: datetime) -> None:
        """Raises `InputError`: `trial.sample_rate`, `trial.aa_rate`, `trial.budget`, `trial.end`."""
        if not 0 < self.sample_rate <= 1:
            raise _wrong("sample_rate", "A trial takes more than none of the runs, 1 at most.")
        if not 0 <= self.aa_rate <= 1:
            raise _wrong("aa_rate", "The share that is asked twice is from 0 to 1.")
        if self.budget_usd is not None and not _is_budget(self.budget_usd):
            raise _wrong("budget_usd", f"More than 0 USD, {MAX_BUDGET_USD:,} at most.", "budget")
        if self.ends_at is not None and not now < self.ends_at <= now + LONGEST:
            raise _wrong("ends_at", "A trial ends later than now, within a year.", "end")


def start(
    *,
    access: Access,
    baseline_verifier: VerifierVersion | None = None,
    candidate_verifier: VerifierVersion | None = None,
    baseline_process_version: ProcessVersion | None = None,
    candidate_process_version: ProcessVersion | None = None,
    process: Process | None = None,
    sample_rate: float = 1.0,
    aa_rate: float = AA_RATE,
    budget_usd: Decimal | None = None,
    ends_at: datetime | None = None,
    title: str = "",
) -> Trial:
    """Start a trial over runs that finish from now on. What is left out is what judges now.

    A version of a process narrows it down to that process.

    Raises:
        NotFound: a version or process of another project.
        InputError: `trial.same_sides`, `trial.same_but_program`, `trial.same_but_standing`,
            `trial.other_process`; those of `Terms.check`.
        Conflict: `trial.judge_removed`; `trial.too_many` run.
        Forbidden: below editor.
    """
    access.need(Role.EDITOR)
    terms = Terms(sample_rate, aa_rate, budget_usd, ends_at, title)
    terms.check(timezone.now())
    live = live_verifier(access.project)
    sides = Sides(
        baseline_verifier or live,
        candidate_verifier or live,
        baseline_process_version or _in_place_of(candidate_process_version),
        candidate_process_version,
    )
    process = process or next((one.process for one in sides.process_versions), None)
    _refuse_foreign(access.project, sides, process)
    _refuse_same(sides)
    with transaction.atomic():
        lock(access.project)
        _refuse_removed_judges(access.project, sides.verifiers)
        _refuse_too_many(access.project)
        return store(access.project, access.actor, sides, terms, process=process)


def store(
    project: Project,
    actor: Actor,
    sides: Sides,
    terms: Terms,
    *,
    process: Process | None = None,
    **columns: Any,
) -> Trial:
    """Write a running trial down, in the caller's transaction."""
    now = timezone.now()
    trial = Trial(
        project=project,
        process=process,
        sample_rate=terms.sample_rate,
        aa_rate=terms.aa_rate,
        budget_usd=terms.budget_usd,
        ends_at=terms.ends_at,
        seen_until=now,
        next_at=now,
        created_by=actor.name[:200],
        **sides.columns,
        **columns,
    )
    trial.title = " ".join(storable(terms.title).split())[:MAX_TITLE] or title_of(trial)
    trial.save()
    diff: dict[str, list[Any]] = {
        "baseline": [None, _named(sides.baseline_verifier, sides.baseline_process_version)],
        "candidate": [None, _named(sides.candidate_verifier, sides.candidate_process_version)],
        "process": [None, process.slug if process else "all"],
        "sample_rate": [None, terms.sample_rate],
    }
    record(actor, "trial.started", trial, project=project, diff=diff)
    return trial


def _in_place_of(candidate: ProcessVersion | None) -> ProcessVersion | None:
    """The published version which a candidate would take the place of; None where it is published itself."""
    if candidate is None:
        return None
    return (
        ProcessVersion.objects.exclude(pk=candidate.pk)
        .filter(process__published_id=F("pk"), process=candidate.process_id)
        .first()
    )


def live_verifier(project: Project) -> VerifierVersion:
    """What judges runs that are submitted now."""
    found = VerifierVersion.objects.filter(project=project, is_active=True).first()
    if found is None:
        raise FaultError(f"project {project.pk} has no active verifier version")
    return found


def lock(project: Project) -> None:
    """Of two that start or replace a trial at once, the second sees the first's."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('trials'), %s)", [project.pk])


def _wrong(field: str, msg: str, code: str = "") -> InputError:
    return InputError(f"trial.{code or field}", msg, loc=("body", field))


def _is_budget(usd: Decimal) -> bool:
    return usd.is_finite() and 0 < usd <= MAX_BUDGET_USD


def _named(verifier: VerifierVersion, version: ProcessVersion | None) -> str:
    return f"{verifier}, {version}" if version else str(verifier)


def _refuse_foreign(project: Project, sides: Sides, process: Process | None) -> None:
    if any(one.project_id != project.pk for one in sides.verifiers):
        raise NotFound("verifier.unknown", "This project has no such verifier version.")
    if process is not None and process.project_id != project.pk:
        raise NotFound("process.unknown", "This project has no such process.")
    if any(process is None or one.process_id != process.pk for one in sides.process_versions):
        raise InputError(
            "trial.other_process",
            f"This is no version of {process}.",
            loc=("body", "candidate_process_version"),
        )


def _refuse_same(sides: Sides) -> None:
    """A side that is left open judges by what is published, so that naming it changes nothing."""
    old, new = sides.baseline_process_version, sides.candidate_process_version
    published = {_published(one) for one in sides.process_versions}
    keys = {one.pk if one else next(iter(published), None) for one in (old, new)}
    if len(keys) != 1:
        return
    same = same_verifiers(*sides.verifiers)
    if same is not None:
        raise InputError(same.code, same.msg, loc=("body", "candidate_verifier"))


def same_verifiers(old: VerifierVersion, new: VerifierVersion) -> Issue | None:
    """Why there is nothing to compare: the same one, or two that come to the same verdicts."""
    if old.pk == new.pk:
        return Issue(
            "trial.same_sides",
            "Both sides are the same: name another verifier version or another version "
            "of the process.",
        )
    names = f"v{old.number} and v{new.number}"
    if judge_alike(old, new):
        return Issue(
            "trial.same_but_program",
            f"{names} differ only in the engine build or the prompt version that they were made "
            "with. This program judges for both with its own: it would be compared with itself.",
        )
    if same_verdicts(old, new):
        return Issue(
            "trial.same_but_standing",
            f"{names} come to the same verdicts: of what judges runs nothing differs but "
            "shadow_compare_enabled, which has legacy judge beside and changes no verdict. "
            "Activate the one that you want; there is nothing to compare.",
        )
    return None


def _published(version: ProcessVersion) -> int | None:
    return version.process.published_id


def _refuse_removed_judges(project: Project, versions: Iterable[VerifierVersion]) -> None:
    for version in versions:
        names = VerifierSpec.from_json(version.spec).models.names
        removed = JudgeConnection.objects.filter(project=project, name__in=names, is_removed=True)
        name = removed.values_list("name", flat=True).first()
        if name is not None:
            raise Conflict(
                "trial.judge_removed",
                f"Version {version.number} names the judge {name}, which was removed.",
            )


def _refuse_too_many(project: Project) -> None:
    running = Trial.objects.filter(project=project, state=TrialState.RUNNING)
    if running.filter(is_standing=False, watches=None).count() >= MAX_RUNNING:
        raise Conflict(
            "trial.too_many",
            f"{MAX_RUNNING} trials of this project are running: wait, or stop one.",
        )
