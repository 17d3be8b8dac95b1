from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from loomverify.accounts.models import ApiKey, Project, User
from processes.models import Process, ProcessVersion
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    LastOutcome,
    Outcome,
    RetryStrategy,
    SeverityClass,
    Verdict,
)
from verification.verifiers.models import VerifierVersion


def choices(*enums: type) -> list[tuple[str, str]]:
    """The values of string enums as Django's choices."""
    return [(value.value, value.value) for enum in enums for value in enum]  # type: ignore[attr-defined]


class RunState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    ERRORED = "errored", "Errored"
    CANCELLED = "cancelled", "Cancelled"


RUN_OVER = "run_over"
"""The channel on which PostgreSQL itself tells that a run is over (migration 0002)."""

OPEN_STATES = (RunState.QUEUED, RunState.RUNNING)


class Task(models.Model):
    """What an agent was asked to do. Groups its attempts; `external_id` is the caller's."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tasks")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="tasks")
    external_id = models.CharField(max_length=200)
    attempts_used = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField()
    submissions = models.PositiveIntegerField(default=0)
    repeats = models.PositiveIntegerField(default=0)
    last_candidate_sha256 = models.CharField(max_length=64, blank=True)
    last_outcome = models.CharField(max_length=12, blank=True, choices=choices(LastOutcome))
    exhausted = models.BooleanField(default=False)
    exhausted_reason = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["process", "external_id"], name="task_unique"),
        ]

    def __str__(self) -> str:
        return self.external_id


class Run(models.Model):
    """One submission of a task's work. The row is the work item: messages only wake workers.

    `fence` rises with every claim; whoever holds an older number may no longer write.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    process = models.ForeignKey(Process, on_delete=models.PROTECT, related_name="runs")
    process_version = models.ForeignKey(
        ProcessVersion, on_delete=models.PROTECT, related_name="runs"
    )
    verifier_version = models.ForeignKey(
        VerifierVersion, on_delete=models.PROTECT, related_name="runs"
    )
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="runs")
    phase_id = models.CharField(max_length=120)
    title = models.CharField(max_length=200, blank=True)
    executor_model = models.CharField(max_length=120, blank=True)

    idempotency_key = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - null is "none given" and stays out of the unique index
    body_sha256 = models.CharField(max_length=64)
    candidate_sha256 = models.CharField(max_length=64)
    submitted_key = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    submitted_user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    state = models.CharField(max_length=10, choices=RunState, default=RunState.QUEUED)
    fence = models.PositiveIntegerField(default=0)
    claims = models.PositiveIntegerField(default=0, help_text="For the evaluation under way.")
    lease_until = models.DateTimeField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True)
    error_text = models.CharField(max_length=500, blank=True)

    live_evaluation = models.ForeignKey(
        "Evaluation", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    outcome = models.CharField(max_length=20, null=True, choices=choices(Outcome))  # noqa: DJ001 - null is "not finished"
    verdict = models.CharField(max_length=10, blank=True, choices=choices(Verdict))
    final_outcome = models.CharField(max_length=20, blank=True, choices=choices(Outcome))
    reason_code = models.CharField(max_length=40, blank=True)
    severity_class = models.CharField(max_length=20, blank=True, choices=choices(SeverityClass))
    confidence = models.FloatField(null=True, blank=True)
    vote_share = models.FloatField(null=True, blank=True)
    confidence_level = models.CharField(max_length=6, blank=True, choices=choices(ConfidenceLevel))
    action = models.CharField(max_length=15, blank=True, choices=choices(Action))
    retry_strategy = models.CharField(max_length=20, blank=True, choices=choices(RetryStrategy))
    rerun_execution = models.BooleanField(default=False)
    tier_requested = models.PositiveSmallIntegerField()
    asks_gates = models.BooleanField(default=False, help_text="Its phase asks for gates.")
    tier_achieved = models.PositiveSmallIntegerField(default=0)
    attempt = models.PositiveIntegerField(
        null=True, blank=True, help_text="Which of the task's attempts this reject was."
    )
    hard_count = models.PositiveIntegerField(default=0)
    advisory_count = models.PositiveIntegerField(default=0)
    undecided_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when the run verifies itself again."
    )
    reverifications = models.PositiveIntegerField(
        default=0, help_text="How often it verified itself again."
    )
    asked_again = models.PositiveIntegerField(
        default=0, help_text="Calls beyond the first that reading or reaching a judge took."
    )
    review_state = models.CharField(max_length=14, default="not_required")
    result = models.JSONField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)

    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    retain_until = models.DateTimeField(null=True, blank=True)
    search = SearchVectorField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(state="finished", outcome__isnull=False)
                | (~models.Q(state="finished") & models.Q(outcome__isnull=True)),
                name="run_finished_has_outcome",
            ),
            models.UniqueConstraint(
                fields=["project", "idempotency_key"],
                condition=models.Q(idempotency_key__isnull=False),
                name="run_idempotency_unique",
            ),
        ]
        indexes: ClassVar = [
            # What a night came to is counted from it alone.
            models.Index(
                fields=["project", "-created_at", "-id"],
                include=["process", "state", "verdict", "outcome", "reason_code", "cost_usd"],
                name="run_newest",
            ),
            models.Index(
                fields=["project", "outcome", "-created_at", "-id"], name="run_by_outcome"
            ),
            models.Index(
                fields=["project", "reason_code", "-created_at", "-id"], name="run_by_reason"
            ),
            models.Index(
                fields=["project", "process", "-created_at", "-id"], name="run_by_process"
            ),
            models.Index(fields=["task", "created_at", "id"], name="run_by_task"),
            # A rule is tried on the runs of its phases, and a phase may be rare.
            models.Index(
                fields=["process", "phase_id", "-created_at", "-id"],
                condition=models.Q(live_evaluation__isnull=False),
                name="run_by_phase",
            ),
            models.Index(
                fields=["process", "phase_id", "-created_at", "-id"],
                condition=models.Q(review_state="decided"),
                name="run_decided",
            ),
            # What people look for is rare; small indexes find it without reading every run.
            models.Index(
                fields=["project", "-created_at", "-id"],
                condition=models.Q(verdict="undecided"),
                name="run_undecided",
            ),
            models.Index(
                fields=["project", "-created_at", "-id"],
                condition=models.Q(review_state="pending"),
                name="run_review_pending",
            ),
            models.Index(
                fields=["next_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="run_due",
            ),
            models.Index(
                fields=["project", "finished_at", "id"],
                condition=models.Q(state="finished"),
                name="run_by_end",
            ),
            GinIndex(fields=["search"], name="run_search"),
        ]

    def __str__(self) -> str:
        return f"run {self.uuid}"

    @property
    def is_over(self) -> bool:
        return self.state not in OPEN_STATES

    @property
    def is_in_doubt(self) -> bool:
        """Undecided so far: it verifies itself again."""
        return not self.is_over and self.undecided_since is not None


class Submission(models.Model):
    """What was submitted, after redaction, in the shape of the HTTP contract."""

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.CASCADE, related_name="submission"
    )
    body = models.JSONField()
    named_paths = models.JSONField(null=True)
    """As `submission.named_paths` tells; None where it was submitted to an earlier program."""

    def __str__(self) -> str:
        return f"submission of {self.run}"


class Blob(models.Model):
    """Content in the evidence store, kept once per project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="blobs")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "sha256"], name="blob_unique"),
        ]

    def __str__(self) -> str:
        return self.sha256[:12]


class RunFile(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    size = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "path"], name="run_file_unique"),
        ]

    def __str__(self) -> str:
        return self.path


class BaseFile(models.Model):
    """A file as it was before the work: what failed by it then does not count against the work."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="base_files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    size = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "path"], name="base_file_unique"),
        ]

    def __str__(self) -> str:
        return self.path


class Event(models.Model):
    """What happened to a run, append-only, past tense."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=50)
    at = models.DateTimeField()
    data = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "seq"], name="event_unique"),
        ]

    def __str__(self) -> str:
        return self.kind
