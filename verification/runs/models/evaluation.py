from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project
from processes.definition.model import Enforcement, Severity, Target
from processes.models import ProcessVersion, RuleVersion
from verification.engine.claims.settlement import ArtefactKind
from verification.engine.judges.asking import Ask
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Outcome,
    Purpose,
    RetryStrategy,
    SeverityClass,
    Source,
    Status,
    Verdict,
)
from verification.runs.models.run import Blob, Run, choices
from verification.verifiers.models import VerifierVersion


class Evaluation(models.Model):
    """One pass of the engine over a run. One live evaluation counts."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="evaluations")
    purpose = models.CharField(max_length=10, choices=choices(Purpose))
    trial_id = models.BigIntegerField(null=True, blank=True)
    seq = models.PositiveIntegerField(default=1)
    process_version = models.ForeignKey(ProcessVersion, on_delete=models.PROTECT, related_name="+")
    verifier_version = models.ForeignKey(
        VerifierVersion, on_delete=models.PROTECT, related_name="+"
    )
    engine_build = models.CharField(max_length=40)  # of the program that ran
    outcome = models.CharField(max_length=20, blank=True, choices=choices(Outcome))
    verdict = models.CharField(max_length=10, blank=True, choices=choices(Verdict))
    reason_code = models.CharField(max_length=40, blank=True)
    severity_class = models.CharField(max_length=20, blank=True, choices=choices(SeverityClass))
    confidence = models.FloatField(null=True, blank=True)
    vote_share = models.FloatField(null=True, blank=True)
    confidence_level = models.CharField(max_length=6, blank=True, choices=choices(ConfidenceLevel))
    action = models.CharField(max_length=15, blank=True, choices=choices(Action))
    retry_strategy = models.CharField(max_length=20, blank=True, choices=choices(RetryStrategy))
    tier_achieved = models.PositiveSmallIntegerField(default=0)
    rule_trace = models.JSONField(default=list)
    feedback = models.JSONField(default=dict)
    claims = models.JSONField(default=dict, help_text="The counts.")
    claim_list = models.JSONField(default=list, help_text="Each claim as it counts.")
    score = models.JSONField(null=True, blank=True)
    loop = models.JSONField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    duration_ms = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "purpose", "trial_id", "seq"],
                nulls_distinct=False,
                name="evaluation_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} evaluation of {self.run}"


class TierResult(models.Model):
    """One tier of the climb, saved as it ends; `result` lets another worker go on from here."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="tiers")
    tier = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=10, choices=choices(Status))
    model = models.CharField(max_length=120, blank=True)
    calls = models.PositiveIntegerField(default=0)
    cached = models.PositiveIntegerField(default=0)
    recovery = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    duration_ms = models.PositiveIntegerField(default=0)
    detail = models.CharField(max_length=500, blank=True)
    result = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["evaluation", "tier"], name="tier_result_unique"),
        ]

    def __str__(self) -> str:
        return f"tier {self.tier} {self.status}"


class GateRow(models.Model):
    """How one gate of one component ended. `report` is the engine's, for reuse and for pages."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="gates")
    position = models.PositiveSmallIntegerField(default=0)
    gate = models.CharField(max_length=20)
    component = models.CharField(max_length=600, blank=True)
    status = models.CharField(max_length=10, choices=choices(Status))
    command = models.TextField(blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    started_ms = models.PositiveIntegerField(default=0, help_text="After the first gate began.")
    duration_ms = models.PositiveIntegerField(default=0)
    tests = models.JSONField(null=True, blank=True)
    report = models.JSONField(default=dict)
    inputs_sha256 = models.CharField(max_length=64, blank=True)
    reused_from = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    log = models.ForeignKey(
        Blob, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    record = models.ForeignKey(
        Blob, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    detail = models.TextField(blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.gate} {self.status}"


class GateResult(GateRow):
    """Of the work itself."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "gate", "component"], name="gate_result_unique"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["inputs_sha256"],
                condition=~models.Q(inputs_sha256=""),
                name="gate_by_inputs",
            ),
        ]


class BaseGateResult(GateRow):
    """Of the workspace as it was before the work; kept as soon as it is known."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="base_gates")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "gate", "component"], name="base_gate_unique"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["inputs_sha256"],
                condition=~models.Q(inputs_sha256=""),
                name="base_gate_by_inputs",
            ),
        ]


class GateProgress(models.Model):
    """A gate that runs, and the last of what it wrote; gone when its evaluation has ended.

    `tail` is the end of `written` characters in all.
    """

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="progress")
    gate = models.CharField(max_length=20)
    component = models.CharField(max_length=600, blank=True)
    status = models.CharField(max_length=10, blank=True, choices=choices(Status))
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    written = models.PositiveBigIntegerField(default=0)
    tail = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "gate", "component"], name="gate_progress_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gate} {self.status or 'runs'}"


class Vote(models.Model):
    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="votes")
    index = models.PositiveSmallIntegerField()
    model = models.CharField(max_length=120, blank=True)
    passed = models.BooleanField(null=True, help_text="Null: the vote could not be read.")
    confidence = models.FloatField(null=True, blank=True)
    why = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["evaluation", "index"], name="vote_unique"),
        ]

    def __str__(self) -> str:
        return f"vote {self.index}"


class ModelCall(models.Model):
    """One call of a judge. `nonce` keeps votes and A/A pairs from sharing a cached reply.

    `cost_usd` is what this call cost, never a running total.
    """

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="model_calls")
    tier = models.PositiveSmallIntegerField()
    seq = models.PositiveIntegerField()
    judge = models.CharField(max_length=120, help_text="The connection's name.")
    model = models.CharField(max_length=120)
    ask = models.CharField(max_length=10, blank=True, choices=choices(Ask))
    tried = models.PositiveSmallIntegerField(default=1, help_text="Which try at its question.")
    lost = models.CharField(max_length=40, blank=True, help_text="The reason nothing came.")
    prompt_version = models.PositiveIntegerField()
    request = models.ForeignKey(
        Blob, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reply = models.ForeignKey(
        Blob, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    cache_key = models.CharField(max_length=64, blank=True)
    nonce = models.CharField(max_length=40, blank=True)
    cached = models.BooleanField(default=False)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    recovery = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=300, blank=True)
    duration_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["evaluation", "tier", "seq"], name="call_unique"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["cache_key"], condition=~models.Q(cache_key=""), name="call_cache"
            ),
            # Few replies need more than the first stage: those are the ones looked for.
            models.Index(
                fields=["recovery"],
                condition=~models.Q(recovery__in=["", "strict_json"]),
                name="call_recovery",
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.seq} of {self.judge}"


class Artefact(models.Model):
    """A text that the engine made of a submitted one. `path` '' is the output."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="artefacts")
    kind = models.CharField(max_length=30, choices=choices(ArtefactKind))
    path = models.CharField(max_length=500, blank=True)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["evaluation", "kind", "path"], name="artefact_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"

    @property
    def file_name(self) -> str:
        return f"{self.kind}-{self.path.rpartition('/')[2] or 'output.md'}"


class Finding(models.Model):
    """A violated or unknown rule, with its place. `line` and `column` count from 1."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="findings")
    tier = models.PositiveSmallIntegerField()
    position = models.PositiveIntegerField()
    rule = models.CharField(max_length=200)
    rule_version = models.ForeignKey(
        RuleVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="findings"
    )
    source = models.CharField(max_length=15, choices=choices(Source))
    enforcement = models.CharField(max_length=10, choices=choices(Enforcement))
    target = models.CharField(max_length=15, blank=True, choices=choices(Target))
    severity = models.CharField(max_length=10, blank=True, choices=choices(Severity))
    verdict = models.CharField(max_length=10, choices=choices(FindingVerdict))
    reason_code = models.CharField(max_length=40)
    message = models.TextField()
    quote = models.TextField(blank=True)
    quote_verified = models.BooleanField(null=True)
    path = models.CharField(max_length=500, blank=True)
    line = models.PositiveIntegerField(null=True, blank=True)
    column = models.PositiveIntegerField(null=True, blank=True)
    place = models.JSONField(
        default=dict, help_text="Where beyond path and line: {tool_call: 3} or {claim: 0}."
    )
    confidence = models.FloatField(null=True, blank=True)
    suggestion = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["evaluation", "tier", "rule", "fingerprint"], name="finding_unique"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "fingerprint"], name="finding_by_fingerprint"),
            models.Index(fields=["project", "rule"], name="finding_by_rule"),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.message[:60]}"
