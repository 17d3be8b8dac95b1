from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models

from loomverify.accounts.models import Project


class Process(models.Model):
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="processes")
    slug = models.CharField(max_length=80)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    published = models.ForeignKey(
        "ProcessVersion", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    is_builtin = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "slug"], name="process_slug_unique"),
        ]
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return self.slug


class ProcessVersion(models.Model):
    """Immutable. The source text is the truth; everything else is read from it."""

    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    source_text = models.TextField()
    sha256 = models.CharField(max_length=64)
    warnings = models.JSONField(default=list)
    note = models.CharField(max_length=300, blank=True)
    is_shipped = models.BooleanField(default=False, help_text="Came with the program.")
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["process", "number"], name="process_version_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.process} v{self.number}"


class Draft(models.Model):
    """What one editor has not published yet. Its text may hold errors.

    `previous_text` is the text before the last change, for one step back; empty: none.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="drafts")
    editor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    base = models.ForeignKey(ProcessVersion, on_delete=models.CASCADE, related_name="+")
    source_text = models.TextField()
    previous_text = models.TextField(blank=True)
    lock_version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
    discarded_at = models.DateTimeField(
        null=True, blank=True, help_text="Kept until its editor begins anew, to be taken back."
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["process", "editor"], name="draft_unique"),
        ]

    def __str__(self) -> str:
        return f"draft of {self.process}"


class Rule(models.Model):
    """A rule's identity: its name within its process."""

    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="rules")
    name = models.CharField(max_length=200)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["process", "name"], name="rule_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class RuleVersion(models.Model):
    """A rule's content. The same content in two process versions is one row."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="versions")
    content_sha256 = models.CharField(max_length=64)
    spec = models.JSONField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rule", "content_sha256"], name="rule_content_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} {self.content_sha256[:8]}"


class PhaseRule(models.Model):
    """That a rule applies to a phase in a process version.

    Phase `*` is every phase; an empty one says that the rule's author named none.
    """

    process_version = models.ForeignKey(
        ProcessVersion, on_delete=models.CASCADE, related_name="phase_rules"
    )
    phase_id = models.CharField(max_length=120, blank=True)
    rule_version = models.ForeignKey(
        RuleVersion, on_delete=models.CASCADE, related_name="phase_rules"
    )
    position = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["process_version", "phase_id", "position"], name="phase_rule_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule_version} in {self.phase_id}"
