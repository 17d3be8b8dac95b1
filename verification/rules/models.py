"""What is known of a rule beyond its text: pinned examples, and what it would do to history."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project
from processes.models import Process, Rule
from verification.runs.models import Run
from verification.verifiers.models import VerifierVersion


class Expected(models.TextChoices):
    """What a rule has to say of a pinned text."""

    CAUGHT = "caught", "Must be caught"
    PASSED = "passed", "Must pass"


class Pin(models.Model):
    """A text that a rule must speak against, or must not.

    The text is a copy: a run that retention deletes takes nothing away. `path` is the file's in
    that run, `evidence` the id of its evidence; with neither it is the output, or pasted.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="pins")
    expected = models.CharField(max_length=6, choices=Expected)
    text = models.TextField()
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="pins"
    )
    path = models.CharField(max_length=500, blank=True)
    evidence = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=300, blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(
        null=True, blank=True, help_text="Taken away; it can be taken back."
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["rule", "id"], condition=models.Q(removed_at=None), name="pin_of_rule"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.expected}"


class Backtest(models.Model):
    """A rule that was tried on past runs, and what it would have done to them.

    The rule is known by its name and by what it looks for: it may stand in a draft alone, and how
    it counts does not matter here. `figures` holds `evaluated`, `matched`, `buckets` by name and
    `counted_as`, the enforcement that the figures are about. Of each content the last one is kept.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="backtests")
    rule = models.CharField(max_length=200)
    looks_for_sha256 = models.CharField(max_length=64)
    figures = models.JSONField()
    seconds = models.FloatField()
    tried_by = models.CharField(max_length=200)
    tried_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["process", "rule", "looks_for_sha256"], name="backtest_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule} on history"


class Drawn(models.TextChoices):
    """Which past runs a judge is asked about."""

    BY_LOT = "by_lot", "drawn by lot"
    DECIDED = "decided", "decided by people, the newest"
    PINNED = "pinned", "pinned to the rule"


class SampleState(models.TextChoices):
    OPEN = "open", "Open"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"


class SampleStop(models.TextChoices):
    """Why not all runs of a sample were asked about."""

    BUDGET = "budget", "The day's budget holds no further call."
    AGREED = "agreed", "What was agreed to is spent."
    JUDGE = "judge", "The judge gave no answer, several times."
    TEXT = "text", "Its process does not load any more."


class Sample(models.Model):
    """A judge's rule that is tried on some past runs, by asking the judge; paid for.

    The rule has the number `rule_index` in `candidate_text`, `replaces` is its published name, ''
    for a new one. `cost_usd` holds what calls under way cost at most; none is begun that it would
    lift above `max_usd`. `is_narrowed`: of one phase, or of some time alone.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="samples")
    rule = models.CharField(max_length=200)
    looks_for_sha256 = models.CharField(max_length=64)
    replaces = models.CharField(max_length=200, blank=True)
    rule_index = models.PositiveIntegerField()
    candidate_text = models.TextField()
    verifier_version = models.ForeignKey(
        VerifierVersion, on_delete=models.CASCADE, related_name="+"
    )
    drawn = models.CharField(max_length=10, choices=Drawn)
    is_narrowed = models.BooleanField(default=False)
    max_usd = models.DecimalField(max_digits=16, decimal_places=6)
    cost_usd = models.DecimalField(max_digits=16, decimal_places=6, default=0)
    total = models.PositiveIntegerField()
    state = models.CharField(max_length=9, choices=SampleState, default=SampleState.OPEN)
    stopped = models.CharField(max_length=6, choices=SampleStop, blank=True)
    asked_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    next_at = models.DateTimeField(
        null=True, blank=True, help_text="When workers are woken again, if nobody works on it."
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"], condition=models.Q(state="open"), name="sample_to_wake"
            ),
            models.Index(fields=["process", "looks_for_sha256", "-id"], name="sample_of_rule"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} on {self.total} past runs"

    @property
    def is_open(self) -> bool:
        return self.state == SampleState.OPEN


class SampledRun(models.Model):
    """What the judge says of a rule in one past run. `claims` is the fencing number too.

    `findings` are the rule's own, as the engine writes them; none where it is satisfied. `lost`
    is the reason code for which nothing was heard; `answered_at` null: not asked about yet.
    """

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="runs")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    claims = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    findings = models.JSONField(default=list)
    lost = models.CharField(max_length=60, blank=True)
    why = models.CharField(max_length=500, blank=True)
    calls = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sample", "run"], name="sampled_run_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.sample}: run {self.run_id}"


class SampledAnswer(models.Model):
    """A reply as it came, so that the same question is not paid for twice. It goes with its run.

    `recovery` is the stage by which it was read, '' where it was not read yet.
    """

    sampled_run = models.ForeignKey(SampledRun, on_delete=models.CASCADE, related_name="answers")
    cache_key = models.CharField(max_length=64, db_index=True)
    text = models.TextField()
    model = models.CharField(max_length=120)
    completion_tokens = models.PositiveIntegerField(default=0)
    is_cut = models.BooleanField(default=False)
    recovery = models.CharField(max_length=20, blank=True)

    def __str__(self) -> str:
        return self.cache_key[:12]


class RuleUse(models.Model):
    """What one content of a rule did in the runs of one hour. Recounted whole with the hour.

    Runs are counted, each once: `applied` to, `violated`, `unknown`; `found_right` and
    `found_wrong` as people labelled what it found; of the runs that it spoke against and that
    were rejected, `decided` by a person, and of these `overturned`. No key leads to `last_run`:
    retention may have deleted it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="+", db_index=False)
    hour = models.DateTimeField()
    rule = models.CharField(max_length=200)
    content_sha256 = models.CharField(max_length=64, blank=True)
    applied = models.PositiveIntegerField()
    violated = models.PositiveIntegerField()
    unknown = models.PositiveIntegerField()
    found_right = models.PositiveIntegerField()
    found_wrong = models.PositiveIntegerField()
    decided = models.PositiveIntegerField()
    overturned = models.PositiveIntegerField()
    cost_usd = models.DecimalField(max_digits=16, decimal_places=6, default=0)
    last_at = models.DateTimeField(null=True, blank=True, help_text="When it last spoke.")
    last_run = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["process", "rule", "hour", "content_sha256"], name="rule_use_unique"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "hour"], name="rule_use_of_hour"),
            models.Index(
                fields=["process", "rule", "-hour"],
                condition=models.Q(violated__gt=0),
                name="rule_use_fired",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h {self.rule} {self.violated} of {self.applied}"
