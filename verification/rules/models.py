"""What is known of a rule beyond its text: pinned examples, and what it would do to history."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project
from processes.models import Process, Rule
from verification.runs.models import Run


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
