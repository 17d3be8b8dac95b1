from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from loomverify.accounts.models import Project, User
from verification.engine.outcome import Outcome
from verification.runs.models.evaluation import Finding
from verification.runs.models.run import Run, choices


class ReviewState(models.TextChoices):
    PENDING = "pending", "Pending"
    DECIDED = "decided", "Decided"
    EXPIRED = "expired", "Expired"


class Review(models.Model):
    """A run that a person is asked about."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reviews")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="review")
    reasons = ArrayField(models.CharField(max_length=40))
    urgency = models.PositiveSmallIntegerField(help_text="0 to 100, higher is sooner.")
    state = models.CharField(max_length=10, choices=ReviewState, default=ReviewState.PENDING)
    outcome = models.CharField(max_length=20, blank=True, choices=choices(Outcome))
    rounds = models.PositiveSmallIntegerField(default=1)
    claimed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["project", "-urgency", "created_at"],
                condition=models.Q(state="pending"),
                name="review_queue",
            ),
        ]

    def __str__(self) -> str:
        return f"review of {self.run}"


class Decision(models.Model):
    """One reviewer's word in one round. The engine's own outcome is never rewritten."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    round = models.PositiveSmallIntegerField(default=1)
    outcome = models.CharField(max_length=20, choices=choices(Outcome))
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["review", "reviewer", "round"], name="decision_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.outcome}"


class FindingLabel(models.Model):
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="labels")
    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="labels")
    is_right = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["decision", "finding"], name="label_unique"),
        ]

    def __str__(self) -> str:
        return "right" if self.is_right else "wrong"
