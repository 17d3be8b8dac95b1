"""The trial that belongs to the flag `shadow_compare_enabled` of the active verifier version."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from loomverify.errors import InputError
from verification.engine.verifier import Engine, VerifierSpec
from verification.trials.models import StopReason, Trial, TrialState
from verification.trials.services.starting import Sides, Terms, lock, store
from verification.trials.services.stopping import close
from verification.verifiers.models import VerifierVersion

logger = logging.getLogger(__name__)

FLAGGED = {"is_active": True, "spec__flags__shadow_compare_enabled": True}
REST = timedelta(days=1)
"""A standing trial that stopped itself begins again after so long."""
ALL_RUNS = Terms()
NOT_ASKED_FOR = "The active verifier version does not ask for it any more."


def sweep(now: datetime | None = None) -> int:
    """Begin and end standing trials as the flags say; return how many. The relay calls this."""
    now = now or timezone.now()
    flagged = set(VerifierVersion.objects.filter(**FLAGGED).values_list("project", flat=True))
    standing = Trial.objects.filter(is_standing=True, state=TrialState.RUNNING)
    running = {one.project_id: one for one in standing}
    changed = 0
    for project in Project.objects.filter(pk__in=flagged | running.keys()).order_by("pk"):
        try:
            changed += ensure(project, now)
        except InputError as error:
            logger.warning("standing_trial_refused project=%s reason=%s", project.pk, error.code)
    return changed


def ensure(project: Project, now: datetime) -> bool:
    """Whether anything had to change for this project."""
    wanted = wanted_sides(project)
    if _running(project, wanted) or (wanted and _rests(project, wanted, now)):
        return False
    with transaction.atomic():
        lock(project)
        wanted = wanted_sides(project)
        if _running(project, wanted):
            return False
        ended = _end(project, wanted)
        if wanted is None:
            return ended
        store(project, SYSTEM, wanted, ALL_RUNS, is_standing=True)
    return True


def wanted_sides(project: Project) -> Sides | None:
    """Legacy is the old one, policy the new one, whichever judges. None: no flag, or no pair."""
    active = VerifierVersion.objects.filter(project=project, **FLAGGED).first()
    if active is None:
        return None
    if active.engine == Engine.LEGACY:
        other = _newest(project, Engine.POLICY)
        return Sides(active, other) if other else None
    other = _newest(project, Engine.LEGACY)
    return Sides(other, active) if other else None


def _newest(project: Project, engine: Engine) -> VerifierVersion | None:
    """Of legacy, before all others one that is the old engine as it was."""
    rows = list(VerifierVersion.objects.filter(project=project, engine=engine).order_by("-number"))
    if engine == Engine.LEGACY:
        came = (one for one in rows if VerifierSpec.from_json(one.spec).is_as_it_came)
        return next(came, rows[0] if rows else None)
    return rows[0] if rows else None


def _running(project: Project, wanted: Sides | None) -> bool:
    """Whether all is as it should be: the wanted trial runs, or none is wanted and none runs."""
    rows = Trial.objects.filter(project=project, is_standing=True, state=TrialState.RUNNING)
    return _of(rows.first(), wanted)


def _of(trial: Trial | None, wanted: Sides | None) -> bool:
    if trial is None or wanted is None:
        return trial is None and wanted is None
    verifiers = (trial.baseline_verifier_id, trial.candidate_verifier_id)
    return verifiers == tuple(one.pk for one in wanted.verifiers)


def _rests(project: Project, wanted: Sides, now: datetime) -> bool:
    """The last one of these two stopped itself a short while ago."""
    rows = Trial.objects.filter(project=project, is_standing=True).order_by("-created_at", "-id")
    last = rows.first()
    is_same = last is not None and _of(last, wanted) and last.state == TrialState.STOPPED
    ended = last.finished_at if last is not None and is_same else None
    return ended is not None and now - ended < REST


def _end(project: Project, wanted: Sides | None) -> bool:
    rows = Trial.objects.filter(project=project, is_standing=True, state=TrialState.RUNNING)
    trial = rows.select_related("project").first()
    if trial is None:
        return False
    text = "" if wanted else NOT_ASKED_FOR
    return close(trial, state=TrialState.ENDED, reason=StopReason.REPLACED, text=text)
