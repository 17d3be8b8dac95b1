from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project
from processes.models import Process, ProcessVersion
from verification.verifiers.models import VerifierVersion


class TrialState(models.TextChoices):
    RUNNING = "running", "Running"
    ENDED = "ended", "Ended"
    STOPPED = "stopped", "Stopped"
    PROMOTED = "promoted", "Promoted"
    ROLLED_BACK = "rolled_back", "Rolled back"


class StopReason(models.TextChoices):
    """Why a trial takes no further runs."""

    TIME = "time", "Its time is over"
    PERSON = "person", "A person stopped it"
    BUDGET = "budget", "Its budget is spent"
    ERRORS = "errors", "Too many verifications broke"
    LATENCY = "latency", "Live runs had to wait"
    REPLACED = "replaced", "Another one took its place"
    CUTOVER = "cutover", "The candidate was promoted"


class Trial(models.Model):
    """Two verifiers, or two versions of a process, over the same runs.

    *Old* is the baseline, *new* the candidate; either may be what judges runs. A process version
    that is None is the run's own. `seen_until` is up to when finished runs were looked through.
    A `is_standing` trial belongs to a verifier version's flag; a trial that `watches` another
    runs after its cutover.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trials")
    title = models.CharField(max_length=200)
    process = models.ForeignKey(
        Process, null=True, blank=True, on_delete=models.CASCADE, related_name="trials",
        help_text="None: all of the project's.",
    )  # fmt: skip
    baseline_verifier = models.ForeignKey(
        VerifierVersion, on_delete=models.PROTECT, related_name="+"
    )
    candidate_verifier = models.ForeignKey(
        VerifierVersion, on_delete=models.PROTECT, related_name="+"
    )
    baseline_process_version = models.ForeignKey(
        ProcessVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    candidate_process_version = models.ForeignKey(
        ProcessVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    sample_rate = models.FloatField(default=1.0, help_text="Share of finished runs, 0 to 1.")
    aa_rate = models.FloatField(
        default=0.1, help_text="Share of the pairs whose sides are both asked twice, 0 to 1."
    )
    budget_usd = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    ends_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=12, choices=TrialState, default=TrialState.RUNNING)
    stop_reason = models.CharField(max_length=10, choices=StopReason, blank=True)
    stop_text = models.CharField(max_length=500, blank=True)
    is_standing = models.BooleanField(default=False)
    watches = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="watch"
    )
    seen_until = models.DateTimeField()
    next_at = models.DateTimeField(null=True, blank=True, help_text="When it is looked at again.")
    promotion = models.JSONField(
        default=dict, blank=True, help_text="What judged runs before, what does now, who and why."
    )
    promoted_at = models.DateTimeField(null=True, blank=True)
    rolled_back_at = models.DateTimeField(null=True, blank=True)
    drift = models.JSONField(
        default=list, blank=True, help_text="Outcomes that rose beyond their interval."
    )
    drift_at = models.DateTimeField(null=True, blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(is_standing=True, state="running"),
                name="trial_one_standing",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at", "-id"], name="trial_newest"),
            models.Index(
                fields=["next_at"], condition=models.Q(next_at__isnull=False), name="trial_due"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_running(self) -> bool:
        return self.state == TrialState.RUNNING


class Origin(models.TextChoices):
    """Where a comparison's work came from."""

    LIVE = "live", "Live runs"
    PAST = "past", "Past runs"
    CORPUS = "corpus", "Golden corpus"


class TrialReplay(models.Model):
    """A trial taken over past runs or over the corpus. Its comparisons are its work items."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="replays")
    origin = models.CharField(max_length=10, choices=Origin)
    since = models.DateTimeField(null=True, blank=True)
    until = models.DateTimeField(null=True, blank=True)
    process_versions = models.JSONField(
        default=dict, blank=True, help_text="By which version of its process a case is taken."
    )
    total = models.PositiveIntegerField(default=0)
    is_cancelled = models.BooleanField(default=False)
    cancel_text = models.CharField(max_length=500, blank=True, help_text="Why it was cancelled.")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.trial} over {self.origin}"
