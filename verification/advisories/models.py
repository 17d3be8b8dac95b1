from __future__ import annotations

from typing import ClassVar

from django.db import models

MAX_SOURCE_CHARS = 200


class Snapshot(models.Model):
    """What was known of one ecosystem at one time. One of each is current, and whole."""

    ecosystem = models.CharField(max_length=20)
    taken_at = models.DateTimeField(help_text="Up to when it knows of vulnerabilities.")
    loaded_at = models.DateTimeField()
    advisories = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0)
    source = models.CharField(max_length=MAX_SOURCE_CHARS, blank=True)
    is_current = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["ecosystem"],
                condition=models.Q(is_current=True),
                name="advisories_one_current",
            )
        ]

    def __str__(self) -> str:
        return f"{self.ecosystem} of {self.taken_at:%Y-%m-%d}"


class Advisory(models.Model):
    """One advisory about one package."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="rows")
    ecosystem = models.CharField(max_length=20)
    name = models.CharField(max_length=300, help_text="In the one way to write it.")
    osv_id = models.CharField(max_length=100)
    aliases = models.JSONField(default=list)
    summary = models.CharField(max_length=300, blank=True)
    score = models.FloatField(null=True, help_text="CVSS, 0 to 10; none where it tells none.")
    ranges = models.JSONField(default=list)
    versions = models.JSONField(default=list)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["ecosystem", "name"], name="advisories_package")]

    def __str__(self) -> str:
        return f"{self.osv_id} of {self.name}"
