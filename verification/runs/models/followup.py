from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import ApiKey, Project
from verification.runs.models.run import Run


class RemediationState(models.TextChoices):
    QUEUED = "queued", "Queued"
    CLAIMED = "claimed", "Claimed"
    RESOLVED = "resolved", "Resolved"
    FAILED = "failed", "Failed"
    EXPIRED = "expired", "Expired"


class Remediation(models.Model):
    """Work that unconfirmed content asks for. Always has an owner or a time to live."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="remediations")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="remediations")
    mode = models.CharField(max_length=40)
    state = models.CharField(
        max_length=10, choices=RemediationState, default=RemediationState.QUEUED
    )
    owner = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=2)
    request = models.JSONField(default=dict)
    resolved_by = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["expires_at"],
                condition=models.Q(state__in=["queued", "claimed"]),
                name="remediation_expiry",
            ),
            models.Index(fields=["project", "state", "created_at"], name="remediation_queue"),
        ]

    def __str__(self) -> str:
        return f"{self.mode} for {self.run}"


class OutboxEvent(models.Model):
    """Something the outside world is to hear of. `uuid` is stable under redelivery."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    topic = models.CharField(max_length=60)
    payload = models.JSONField()
    created_at = models.DateTimeField()
    dispatched_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0, db_default=0)
    next_at = models.DateTimeField(
        null=True, blank=True, help_text="After a failure: not to be handed on before."
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["id"], condition=models.Q(dispatched_at__isnull=True), name="outbox_due"
            ),
        ]

    def __str__(self) -> str:
        return self.topic
