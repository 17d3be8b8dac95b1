from __future__ import annotations

import uuid
from datetime import date, timedelta
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import ApiKey, Project, User
from processes.models import Process
from verification.runs.models.run import Run

MAX_REASON_CHARS = 1000


class Waiver(models.Model):
    """A security finding that somebody accepts for a time, in one process.

    It is found again by its `fingerprint`; `expires_at` is the end of its last day, in UTC.
    One that expired is ended, at that time, when the same finding is waived anew.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="waivers")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="waivers")
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+",
        help_text="Where it was seen.",
    )  # fmt: skip
    fingerprint = models.CharField(max_length=64)
    rule = models.CharField(max_length=200)
    path = models.CharField(max_length=500)
    message = models.TextField()
    reason = models.CharField(max_length=MAX_REASON_CHARS)
    created_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_key = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_name = models.CharField(max_length=200, help_text="Their name at that time.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    ended_name = models.CharField(max_length=200, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["process", "fingerprint"],
                condition=models.Q(ended_at__isnull=True),
                name="waiver_unique",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at", "-id"], name="waiver_newest"),
            models.Index(fields=["process", "fingerprint", "-id"], name="waiver_of_finding"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} in {self.path}"

    @property
    def until(self) -> date:
        """The last day on which it holds."""
        return (self.expires_at - timedelta(days=1)).date()
