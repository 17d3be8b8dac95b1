from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from loomverify.accounts.models import ApiKey, Project, User
from processes.models import Process
from verification.engine.outcome import Outcome
from verification.runs.models.evaluation import Evaluation
from verification.runs.models.run import Run, choices


class ReviewState(models.TextChoices):
    """`held`: the process's daily cap was reached; nobody is asked, and the run stays as it is."""

    PENDING = "pending", "Pending"
    HELD = "held", "Held back"
    DECIDED = "decided", "Decided"
    EXPIRED = "expired", "Expired"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Review(models.Model):
    """A run that people are asked about, by its process's review policy.

    `rank_at` orders the queue, earliest first: the time it was opened, less what its urgency is
    worth. `round` rises with each adjudication and each change of mind. A decision takes effect,
    in the run and outside, at `takes_effect_at`; `told_at` is when it did. PostgreSQL itself keeps
    `claimed_at` (migration 0006).
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reviews")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="review")
    process = models.ForeignKey(Process, on_delete=models.CASCADE, related_name="reviews")
    phase_id = models.CharField(max_length=120)
    evaluation = models.ForeignKey(
        Evaluation, on_delete=models.CASCADE, related_name="+", help_text="What is reviewed."
    )
    reasons = ArrayField(models.CharField(max_length=40))
    rule = models.CharField(max_length=200, blank=True, help_text="Of the leading finding.")
    fingerprint = models.CharField(
        max_length=80, blank=True, help_text="Of the leading finding: what groups reviews."
    )
    urgency = models.PositiveSmallIntegerField(help_text="0 to 100, higher is sooner.")
    rank_at = models.DateTimeField()
    is_flagged = models.BooleanField(default=True, help_text="False: drawn by chance alone.")
    sample_rate = models.FloatField(
        null=True, blank=True, help_text="How likely it was drawn. Null: it was not."
    )
    is_blind = models.BooleanField(default=False)
    reviewers = models.PositiveSmallIntegerField(
        default=1, help_text="How many decide in this round."
    )
    round = models.PositiveSmallIntegerField(default=1)
    is_adjudication = models.BooleanField(default=False)

    state = models.CharField(max_length=10, choices=ReviewState, default=ReviewState.PENDING)
    claimed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    claimed_key = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    claimed_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when its holder has it, without a break."
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    assigned_to = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    outcome = models.CharField(max_length=20, blank=True, choices=choices(Outcome))
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    takes_effect_at = models.DateTimeField(null=True, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)
    told = models.JSONField(
        default=dict, blank=True, help_text="What was told of the decision: who, why, findings."
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["project", "rank_at", "id"],
                condition=models.Q(state="pending"),
                name="review_queue",
            ),
            models.Index(
                fields=["project", "fingerprint"],
                condition=models.Q(state="pending"),
                name="review_alike",
            ),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(state__in=["pending", "held"]),
                name="review_expiry",
            ),
            models.Index(
                fields=["takes_effect_at"],
                condition=models.Q(state="decided", told_at__isnull=True),
                name="review_untold",
            ),
            models.Index(fields=["process", "created_at"], name="review_opened"),
            models.Index(fields=["project", "state", "-created_at", "-id"], name="review_by_state"),
            models.Index(
                fields=["project", "-decided_at"],
                condition=models.Q(state="decided"),
                name="review_decided",
            ),
        ]

    def __str__(self) -> str:
        return f"review of {self.run}"
