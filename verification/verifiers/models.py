from __future__ import annotations

from typing import ClassVar

from django.db import models

from loomverify.accounts.models import Project


class VerifierVersion(models.Model):
    """Everything that can change a verdict, but for the process. Immutable, one active."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="verifiers")
    number = models.PositiveIntegerField()
    engine = models.CharField(max_length=10)
    spec = models.JSONField()
    spec_sha256 = models.CharField(max_length=64)
    engine_build = models.CharField(max_length=40)
    is_active = models.BooleanField(default=False)
    note = models.CharField(max_length=300, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "number"], name="verifier_number_unique"),
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(is_active=True), name="verifier_one_active"
            ),
        ]

    def __str__(self) -> str:
        return f"verifier v{self.number} ({self.engine})"
