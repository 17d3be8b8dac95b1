"""Runs and trials whose workers are this very process."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import Project
from processes.models import Process, ProcessVersion
from tests.trials.builders import make_trial
from verification.runs.models import Evaluation, Run
from verification.trials.models import Comparison, Trial
from verification.trials.working import sampling, working

PLACEHOLDER = "Budget: [TBD]"
"""An advisory of the process `general`; the legacy engine rejects for it."""


def legacy_beside(project: Project, **columns: Any) -> Trial:
    """A trial of the legacy engine (old) beside the policy engine, which judges runs (new)."""
    live = project.verifiers.get(is_active=True)
    legacy = project.verifiers.filter(engine="legacy").latest("number")
    usual: dict[str, Any] = {"aa_rate": 0.0}
    return make_trial(project, baseline=legacy, candidate=live, **{**usual, **columns})


def unpublished(process: Process, source_text: str) -> ProcessVersion:
    return ProcessVersion.objects.create(
        process=process,
        number=process.versions.count() + 1,
        source_text=source_text,
        sha256=hashlib.sha256(source_text.encode()).hexdigest(),
    )


def worked(trial: Trial) -> list[Comparison]:
    """Queue the trial's new runs, make all comparisons, and return them in order."""
    trial.refresh_from_db()
    sampling.take_new(trial)
    working.work_on(trial.pk)
    trial.refresh_from_db()
    return list(trial.comparisons.order_by("run__created_at", "pk"))


def work_once(trial: Trial) -> Comparison:
    """The same, for a trial that has one comparison."""
    [comparison] = worked(trial)
    return comparison


def waiting(trial: Trial) -> Any:
    return Comparison.objects.filter(trial=trial, compared_at=None)


def lose(trial: Trial) -> None:
    """As if the workers of what is claimed were killed, and their leases over."""
    past = timezone.now() - timedelta(seconds=1)
    waiting(trial).filter(lease_until__isnull=False).update(lease_until=past)


def beside(trial: Trial) -> list[Evaluation]:
    return list(Evaluation.objects.filter(trial_id=trial.pk).order_by("run_id", "purpose", "seq"))


def is_over(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == "finished"
