from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from loomverify.accounts.models import Member, Project
from processes.models import Process, ProcessVersion
from verification.engine.golden.standing import Change, Standing
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Blob, Run
from verification.runs.models.run import choices
from verification.verifiers.models import VerifierVersion


class GoldenCase(models.Model):
    """A case that must come out the same for ever, by its name in the project.

    What it holds is in its versions; `current` is the one that counts. `process` is a slug: a
    case outlives the process it was made for. A retired case is kept, and replayed no more.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="golden_cases")
    name = models.CharField(max_length=120)
    process = models.CharField(max_length=80)
    phase = models.CharField(max_length=120)
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    owner = models.CharField(max_length=200, blank=True)
    is_shipped = models.BooleanField(default=False, help_text="Came with the program.")
    current = models.ForeignKey(
        "GoldenCaseVersion", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="golden_cases",
        help_text="The run it was made from.",
    )  # fmt: skip
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="golden_case_name_unique"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "process", "name"], name="golden_case_by_process"),
            GinIndex(fields=["tags"], name="golden_case_tags"),
        ]

    def __str__(self) -> str:
        return self.name


class GoldenCaseVersion(models.Model):
    """Immutable. `spec` is the case's document without its files' contents (docs/golden.md)."""

    case = models.ForeignKey(GoldenCase, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    spec = models.JSONField()
    spec_sha256 = models.CharField(max_length=64, help_text="Of the document, files and all.")
    input_sha256 = models.CharField(max_length=64, help_text="Of what is submitted alone.")
    likeness = ArrayField(
        models.BigIntegerField(), default=list, blank=True,
        help_text="A sketch of what is submitted, by which near duplicates are found.",
    )  # fmt: skip
    reason = models.CharField(max_length=1000, blank=True, help_text="Why it replaced the last.")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["case", "number"], name="golden_version_unique"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["input_sha256"], name="golden_version_by_input"),
        ]

    def __str__(self) -> str:
        return f"{self.case} v{self.number}"


class GoldenFile(models.Model):
    """A submitted file of a case version; its content is kept as long as the version is."""

    version = models.ForeignKey(GoldenCaseVersion, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    size = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "path"], name="golden_file_unique"),
        ]

    def __str__(self) -> str:
        return self.path


class ReplayState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"
    ERRORED = "errored", "Errored"


OPEN_STATES = (ReplayState.QUEUED, ReplayState.RUNNING)


class ReplayPurpose(models.TextChoices):
    """Why a replay was started."""

    MANUAL = "manual", "By hand"
    CI = "ci", "From CI"
    NIGHTLY = "nightly", "Nightly"
    PUBLISH = "publish", "Before publishing"
    ACTIVATE = "activate", "Before activating"
    CUTOVER = "cutover", "Before a cutover"


class Replay(models.Model):
    """Cases replayed by one verifier version. Its results are its work items.

    `process_version` or `candidate_text` (a process file that is no version yet) stand in for
    the published version of their process, and leave the other processes' cases out; a version
    without `process` leaves none out.
    `is_live_line`: verifier and processes were those that judge runs; only such a replay says
    what held before. `corpus_sha256` names the case versions it ran over.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="replays")
    purpose = models.CharField(max_length=10, choices=ReplayPurpose, default=ReplayPurpose.MANUAL)
    verifier_version = models.ForeignKey(
        VerifierVersion, on_delete=models.PROTECT, related_name="+"
    )
    legacy_version = models.ForeignKey(
        VerifierVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+",
        help_text="The old engine's version that is replayed beside it.",
    )  # fmt: skip
    process = models.ForeignKey(
        Process, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    process_version = models.ForeignKey(
        ProcessVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    candidate_text = models.TextField(blank=True)
    candidate_sha256 = models.CharField(max_length=64, blank=True)
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    is_live = models.BooleanField(default=False, help_text="The judges were asked anew.")
    is_live_line = models.BooleanField(default=False)
    corpus_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=ReplayState, default=ReplayState.QUEUED)
    total = models.PositiveIntegerField(default=0)
    counts = models.JSONField(
        default=dict, help_text="How many of each change, once it has finished."
    )
    stale_share = models.FloatField(null=True, blank=True, help_text="0 to 1.")
    error_text = models.CharField(max_length=500, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    next_at = models.DateTimeField(null=True, blank=True, help_text="When it is looked at again.")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at", "-id"], name="replay_newest"),
            models.Index(
                fields=["next_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="replay_due",
            ),
        ]

    def __str__(self) -> str:
        return f"replay {self.uuid}"

    @property
    def is_over(self) -> bool:
        return self.state not in OPEN_STATES


class ReplayResult(models.Model):
    """One case of one replay: queued until `replayed_at` is set, then what came of it.

    `legacy` is what the old engine made of it. `change` is how `standing` relates to what
    held before.
    """

    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="results")
    case = models.ForeignKey(GoldenCase, on_delete=models.CASCADE, related_name="results")
    case_version = models.ForeignKey(
        GoldenCaseVersion, on_delete=models.CASCADE, related_name="results"
    )
    process_version = models.ForeignKey(
        ProcessVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    claims = models.PositiveSmallIntegerField(default=0, help_text="How often a worker took it.")
    replayed_at = models.DateTimeField(null=True, blank=True)
    standing = models.CharField(max_length=20, blank=True, choices=choices(Standing))
    change = models.CharField(max_length=20, blank=True, choices=choices(Change))
    outcome = models.CharField(max_length=20, blank=True, choices=choices(Outcome))
    verdict = models.CharField(max_length=10, blank=True, choices=choices(Verdict))
    reason_code = models.CharField(max_length=40, blank=True)
    observed = models.JSONField(default=dict)
    differences = models.JSONField(default=list)
    legacy = models.JSONField(default=dict)
    played = models.JSONField(default=list, help_text="The questions asked, and what answered.")
    questions = models.PositiveIntegerField(default=0)
    stale = models.PositiveIntegerField(default=0)
    missing = models.PositiveIntegerField(default=0)
    error_text = models.CharField(max_length=500, blank=True)
    duration_ms = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["replay", "case"], name="replay_result_unique"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["replay", "id"],
                condition=models.Q(replayed_at__isnull=True),
                name="replay_result_waiting",
            ),
            models.Index(fields=["case_version", "-id"], name="replay_result_by_version"),
            models.Index(fields=["replay", "change"], name="replay_result_by_change"),
        ]

    def __str__(self) -> str:
        return f"{self.case} in {self.replay}"


class GoldenSchedule(models.Model):
    """When a project's corpus is replayed by the clock."""

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, related_name="golden_schedule"
    )
    is_enabled = models.BooleanField(default=True)
    hour = models.PositiveSmallIntegerField(default=2, help_text="0 to 23, UTC.")
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    last_replay = models.ForeignKey(
        Replay, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    last_started_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"nightly replay of {self.project}"


class GoldenNotice(models.Model):
    """A member who is mailed when a nightly replay regressed."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE, related_name="golden_notice")
    created_at = models.DateTimeField(auto_now_add=True)
    told_until = models.DateTimeField(
        null=True, blank=True, help_text="The end of the newest replay that they were told of."
    )

    def __str__(self) -> str:
        return str(self.member)
