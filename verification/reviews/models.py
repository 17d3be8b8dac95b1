"""What people do about reviews. The reviews themselves are rows of `verification.runs`."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from loomverify.accounts.models import ApiKey, Member, Project, User
from verification.engine.outcome import Outcome
from verification.runs.models import Evaluation, Finding, Review, Run

OUTCOMES = [(one.value, one.value) for one in Outcome]


class Decision(models.Model):
    """One reviewer's word in one round of a review.

    In a blind review `first_outcome` is what was said before the verdict was revealed, and
    `outcome` stays empty until it is confirmed or changed. What was undone is kept, and does
    not count.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="decisions")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="decisions")
    evaluation = models.ForeignKey(
        Evaluation, on_delete=models.CASCADE, related_name="+", help_text="What was decided about."
    )
    reviewer = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    api_key = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    round = models.PositiveSmallIntegerField(default=1)
    is_adjudication = models.BooleanField(default=False)
    first_outcome = models.CharField(max_length=20, blank=True, choices=OUTCOMES)
    outcome = models.CharField(max_length=20, blank=True, choices=OUTCOMES)
    comment = models.TextField(blank=True)
    seconds = models.PositiveIntegerField(
        null=True, blank=True, help_text="From the claim to the decision."
    )
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(reviewer__isnull=True) ^ models.Q(api_key__isnull=True),
                name="decision_has_one_reviewer",
            ),
            models.UniqueConstraint(
                fields=["review", "reviewer", "round"],
                condition=models.Q(reviewer__isnull=False, undone_at__isnull=True),
                name="decision_unique_person",
            ),
            models.UniqueConstraint(
                fields=["review", "api_key", "round"],
                condition=models.Q(api_key__isnull=False, undone_at__isnull=True),
                name="decision_unique_key",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["reviewer", "-created_at", "-id"], name="decision_newest"),
            models.Index(fields=["project", "-created_at", "-id"], name="decision_by_project"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(settled_at__isnull=True, undone_at__isnull=True)
                & ~models.Q(outcome=""),
                name="decision_unsettled",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer or self.api_key}: {self.outcome or self.first_outcome}"


class FindingLabel(models.Model):
    """Whether a person found a finding right."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="labels")
    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="labels")
    is_right = models.BooleanField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["decision", "finding"], name="finding_label_unique"),
        ]

    def __str__(self) -> str:
        return "right" if self.is_right else "wrong"


class Skip(models.Model):
    """A reviewer passed over a review: they get the others first."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="skips")
    reviewer = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    api_key = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["review", "reviewer", "api_key"],
                nulls_distinct=False,
                name="skip_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer or self.api_key} skipped {self.review}"


class CaseDraft(models.Model):
    """A run that a reviewer wants to be a golden case."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="case_drafts")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="case_draft")
    review = models.ForeignKey(
        Review, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    outcome = models.CharField(
        max_length=20, blank=True, choices=OUTCOMES, help_text="What the run should come to."
    )
    made_by = models.CharField(max_length=200, help_text="The actor's name at that time.")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"draft of a case from {self.run}"


class Notice(models.TextChoices):
    """When a reviewer is mailed about what waits."""

    OFF = "off", "Never"
    AT_ONCE = "at_once", "At once"
    HOURLY = "hourly", "Every hour"
    DAILY = "daily", "Every morning"


class NoticePreference(models.Model):
    """How one member wants to hear of reviews. Digests gather what came since `sent_at`."""

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, related_name="notice_preference"
    )
    notice = models.CharField(max_length=8, choices=Notice, default=Notice.OFF)
    min_urgency = models.PositiveSmallIntegerField(default=0, help_text="0 to 100.")
    sent_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.member}: {self.notice}"
