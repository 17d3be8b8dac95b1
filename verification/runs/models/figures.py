from __future__ import annotations

from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project
from processes.models import Process
from verification.verifiers.models import VerifierVersion


class RollupHour(models.Model):
    """Finished runs of one hour, counted. Recomputed whole whenever the hour is dirty."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="+")
    verifier_version = models.ForeignKey(
        VerifierVersion, on_delete=models.CASCADE, related_name="+"
    )
    hour = models.DateTimeField()
    outcome = models.CharField(max_length=20)
    verdict = models.CharField(max_length=10)
    severity_class = models.CharField(max_length=20, blank=True)
    reason_code = models.CharField(max_length=40, blank=True)
    count = models.PositiveIntegerField()
    deterministic_count = models.PositiveIntegerField(
        default=0, help_text="Of these, rejected by tier 1 alone."
    )
    retried_count = models.PositiveIntegerField(
        default=0, help_text="Of these, verified again without the work being done again."
    )
    overturned_count = models.PositiveIntegerField(
        default=0, help_text="Of these, rejected by us and accepted by a person."
    )
    shadow_passed_count = models.PositiveIntegerField(
        default=0, help_text="Of these, rejected by tier 1 and accepted by a judge in shadow."
    )
    cost_usd = models.DecimalField(max_digits=16, decimal_places=6, default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    "project",
                    "hour",
                    "process",
                    "verifier_version",
                    "outcome",
                    "verdict",
                    "severity_class",
                    "reason_code",
                ],
                name="rollup_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h {self.outcome} {self.count}"


class RuleHour(models.Model):
    """How many runs of one hour violated a rule: each once, by its most severe finding on it.

    Recomputed together with the hour's `RollupHour`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    rule = models.CharField(max_length=200)
    source = models.CharField(max_length=15)
    enforcement = models.CharField(max_length=10)
    reason_code = models.CharField(max_length=40)
    count = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    "project",
                    "hour",
                    "process",
                    "rule",
                    "source",
                    "enforcement",
                    "reason_code",
                ],
                name="rule_hour_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h {self.rule} {self.count}"


class DirtyHour(models.Model):
    """An hour whose rollup is out of date."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "hour"], name="dirty_hour_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h"


class TargetHour(models.Model):
    """What the rollout's targets count of one hour: rooms above do, whenever the hour changes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    process = models.CharField(max_length=80)
    figure = models.CharField(max_length=30)
    counted = models.PositiveIntegerField()
    of_all = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "figure", "hour", "process"], name="target_hour_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h {self.figure} {self.counted} of {self.of_all}"


class TargetMark(models.Model):
    """An hour whose targets changed beyond what marks it dirty. PostgreSQL itself writes them.

    A project that is deleted leaves its own behind: no key holds them.
    """

    project_id = models.BigIntegerField()
    hour = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project_id", "hour"], name="target_mark_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h"


class CallHour(models.Model):
    """Calls of judges in one hour, by model and by how the answer was read.

    Added to, never recomputed: calls are deleted with their runs, and what was paid stays paid.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    model = models.CharField(max_length=120)
    recovery = models.CharField(
        max_length=40, blank=True, help_text="The stage; blank: lost, or not read yet."
    )
    lost = models.CharField(max_length=40, blank=True)
    calls = models.PositiveIntegerField(default=0)
    cached = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=16, decimal_places=6, default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "hour", "process", "model", "recovery", "lost"],
                name="call_hour_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h {self.model} {self.recovery or self.lost} {self.calls}"
