from __future__ import annotations

from typing import ClassVar

from django.db import models

from verification.trials.models.comparison import SAID, Comparison
from verification.trials.models.trial import Trial


class Judgement(models.Model):
    """What one person said of a comparison whose sides they could not tell apart."""

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="judgements")
    reviewer = models.CharField(max_length=200, help_text="As the audit log names them.")
    said = models.CharField(max_length=10, choices=[(one.value, one.label) for one in SAID])
    is_old_first = models.BooleanField(help_text="Which side stood on the left, or came as first.")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["comparison", "reviewer"],
                condition=models.Q(withdrawn_at__isnull=True),
                name="judgement_one_each",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.said}"


class Reveal(models.Model):
    """Somebody knows which side of a comparison is which, and can judge it no more."""

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="reveals")
    reviewer = models.CharField(max_length=200, help_text="As the audit log names them.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["comparison", "reviewer"], name="reveal_one_each"),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} saw {self.comparison}"


class ComparisonNote(models.Model):
    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="notes")
    text = models.TextField(max_length=4000)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.text[:60]


class Acknowledgement(models.Model):
    """A known difference that need not be looked at again until `until`; it counts all the same."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="acknowledgements")
    kind = models.CharField(max_length=16, help_text="A comparison's.")
    summary = models.CharField(max_length=300)
    reason = models.CharField(max_length=1000)
    until = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["trial", "kind"],
                condition=models.Q(withdrawn_at__isnull=True),
                name="acknowledgement_one",
            ),
        ]

    def __str__(self) -> str:
        return self.summary
