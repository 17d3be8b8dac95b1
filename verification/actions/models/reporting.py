from __future__ import annotations

import uuid
from datetime import time
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Member, Project
from processes.models import Process


class ReportSettings(models.Model):
    """When a project's report is made, who is mailed, and when nobody is to be.

    Times are of the project's zone. `on_since` keeps nights from before the last change of these
    settings from being reported now. Equal quiet times: there are no quiet hours.
    """

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, related_name="report_settings"
    )
    is_on = models.BooleanField(default=False)
    on_since = models.DateTimeField(null=True, blank=True)
    begins = models.TimeField(default=time(18), help_text="When a night begins.")
    ends = models.TimeField(default=time(8), help_text="When it ends and its report is made.")
    recipients = models.ManyToManyField(Member, related_name="+", blank=True)
    quiet_begins = models.TimeField(default=time(0))
    quiet_ends = models.TimeField(default=time(0))
    changed_by = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "report settings"

    def __str__(self) -> str:
        return f"reports of {self.project}"


class NightReport(models.Model):
    """A report as it was made on schedule: what it said then, whatever became of it since."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="night_reports")
    start = models.DateTimeField()
    end = models.DateTimeField()
    summary = models.CharField(max_length=300)
    markdown = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "start", "end"], name="night_unique"),
        ]
        indexes: ClassVar = [models.Index(fields=["project", "-end", "-id"], name="night_newest")]

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%d %H:%M} to {self.end:%Y-%m-%d %H:%M}"


class BudgetWarning(models.Model):
    """A budget of which most was spent on a day (UTC). Without a process: all of the project's."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    process = models.ForeignKey(Process, null=True, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    warned_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "process", "day"],
                nulls_distinct=False,
                name="budget_warning_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.process or self.project}"


class Mail(models.Model):
    """A mail to one member, sent at least once, outside of quiet hours."""

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    subject = models.CharField(max_length=200)
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["created_at"], condition=models.Q(sent_at__isnull=True), name="mail_due"
            ),
        ]

    def __str__(self) -> str:
        return self.subject
