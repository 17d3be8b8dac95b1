from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from verification.engine.judges.asking import Ask
from verification.engine.shadow import DiffClass, SideOutcome
from verification.golden.models import GoldenCaseVersion
from verification.runs.models import Blob, Evaluation, Run
from verification.runs.models.run import choices
from verification.trials.models.trial import Origin, Trial, TrialReplay


class Judged(models.TextChoices):
    """What people made of a comparison."""

    OLD = "old", "Old right"
    NEW = "new", "New right"
    BOTH = "both", "Both right"
    NEITHER = "neither", "Neither right"
    DISPUTED = "disputed", "Disputed"


SAID = (Judged.OLD, Judged.NEW, Judged.BOTH, Judged.NEITHER)
"""What one person can say; disputed is what several come to."""


PAIR = models.Q(~models.Q(diff_class=""), origin__in=[Origin.LIVE.value, Origin.PAST.value])
"""What a cutover rests on."""


class Comparison(models.Model):
    """Old and new over one piece of work: queued until `compared_at` is set.

    What counts is kept here, so that a comparison outlives the run: a side's `outcome` is one of
    `SideOutcome`. `old_again` and `new_again` are the second answers of an A/A pair, '' where
    there is none. Costs and durations are those of a side without any cached answer. `kind`
    names the same difference wherever it occurs in the trial.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="comparisons")
    replay = models.ForeignKey(
        TrialReplay, null=True, blank=True, on_delete=models.CASCADE, related_name="comparisons"
    )
    origin = models.CharField(max_length=10, choices=Origin)
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="comparisons"
    )
    run_key = models.BigIntegerField(
        null=True, blank=True, help_text="The run's; kept when the run is deleted."
    )
    case_version = models.ForeignKey(
        GoldenCaseVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    process = models.CharField(max_length=80)
    phase = models.CharField(max_length=120)
    title = models.CharField(max_length=200, help_text="The task's name, or the case's.")
    is_aa = models.BooleanField(default=False, help_text="Both sides are asked twice.")

    lease_until = models.DateTimeField(null=True, blank=True)
    claims = models.PositiveSmallIntegerField(
        default=0, help_text="How often a worker took it, or put it off."
    )
    asked_again = models.PositiveSmallIntegerField(
        default=0, help_text="How often it was put off, to ask again a judge that was away."
    )
    undecided_since = models.DateTimeField(
        null=True, blank=True, help_text="When it was first put off."
    )
    compared_at = models.DateTimeField(null=True, blank=True)
    error_text = models.CharField(
        max_length=500, blank=True, help_text="Why it could not be compared."
    )

    old_evaluation = models.ForeignKey(
        Evaluation, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    new_evaluation = models.ForeignKey(
        Evaluation, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    old_observed = models.JSONField(default=dict, blank=True, help_text="Of a corpus case.")
    new_observed = models.JSONField(default=dict, blank=True, help_text="Of a corpus case.")
    old = models.CharField(max_length=20, blank=True, choices=choices(SideOutcome))
    new = models.CharField(max_length=20, blank=True, choices=choices(SideOutcome))
    old_reason = models.CharField(max_length=40, blank=True)
    new_reason = models.CharField(max_length=40, blank=True)
    old_again = models.CharField(max_length=20, blank=True, choices=choices(SideOutcome))
    new_again = models.CharField(max_length=20, blank=True, choices=choices(SideOutcome))
    old_cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    new_cost_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    old_ms = models.PositiveIntegerField(default=0)
    new_ms = models.PositiveIntegerField(default=0)
    has_failed = models.BooleanField(default=False, help_text="A side's verification broke.")

    diff_class = models.CharField(max_length=25, blank=True, choices=choices(DiffClass))
    finer = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    rules = ArrayField(
        models.CharField(max_length=200), default=list, blank=True,
        help_text="On which the sides differ.",
    )  # fmt: skip
    summary = models.CharField(max_length=300, blank=True, help_text="What differs, in a line.")
    kind = models.CharField(max_length=16, blank=True)
    judged = models.CharField(max_length=10, blank=True, choices=Judged)
    judged_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["trial", "run"],
                condition=models.Q(run__isnull=False),
                name="comparison_run_unique",
            ),
            models.UniqueConstraint(
                fields=["replay", "case_version"],
                condition=models.Q(case_version__isnull=False),
                name="comparison_case_unique",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["trial", "-id"], name="comparison_newest"),
            models.Index(fields=["trial", "diff_class", "-id"], name="comparison_by_class"),
            models.Index(fields=["trial", "old", "new", "-id"], name="comparison_by_cell"),
            models.Index(fields=["trial", "kind"], name="comparison_by_kind"),
            models.Index(fields=["trial", "-created_at", "-id"], name="comparison_by_time"),
            models.Index(
                fields=["run_key"],
                condition=models.Q(run_key__isnull=False),
                name="comparison_by_run",
            ),
            models.Index(
                fields=["trial", "id"],
                condition=models.Q(compared_at__isnull=True),
                name="comparison_waiting",
            ),
            models.Index(
                fields=["trial"],
                condition=models.Q(compared_at__isnull=True, asked_again__gt=0),
                name="comparison_put_off",
            ),
            models.Index(
                fields=["trial", "-id"],
                condition=models.Q(origin="corpus"),
                name="comparison_of_corpus",
            ),
            models.Index(fields=["trial", "old_ms"], condition=PAIR, name="comparison_old_ms"),
            models.Index(fields=["trial", "new_ms"], condition=PAIR, name="comparison_new_ms"),
            GinIndex(fields=["rules"], name="comparison_rules"),
        ]

    def __str__(self) -> str:
        return f"{self.title} in {self.trial}"


class Tally(models.Model):
    """So many comparisons that came out the same, more or fewer: a trial's rows add up.

    PostgreSQL itself adds rows whenever compared ones change. A trial that is deleted may leave
    some behind that come to nothing: no key holds them. Columns are those of `Comparison`;
    without a `diff_class` it could not be compared.
    """

    trial_id = models.BigIntegerField()
    origin = models.CharField(max_length=10)
    old = models.CharField(max_length=20)
    new = models.CharField(max_length=20)
    old_again = models.CharField(max_length=20)
    new_again = models.CharField(max_length=20)
    diff_class = models.CharField(max_length=25)
    judged = models.CharField(max_length=10)
    kind = models.CharField(max_length=16)
    rules = ArrayField(models.CharField(max_length=200))
    summary = models.CharField(max_length=300)
    count = models.IntegerField()
    old_cost_usd = models.DecimalField(max_digits=20, decimal_places=6)
    new_cost_usd = models.DecimalField(max_digits=20, decimal_places=6)
    is_merged = models.BooleanField()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["trial_id"], name="tally_of_trial"),
            models.Index(
                fields=["trial_id"],
                condition=models.Q(is_merged=False),
                name="tally_unmerged",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.count:+} {self.old} to {self.new}"


class CaseQuestion(models.Model):
    """A question that a side put over a golden case. `blob` holds it as a judge would be sent it.

    `recovery` is how the recorded answer was read. `is_stale`: that had answered other words.
    """

    comparison = models.ForeignKey(Comparison, on_delete=models.CASCADE, related_name="questions")
    side = models.CharField(max_length=3, choices=[("old", "Old"), ("new", "New")])
    position = models.PositiveIntegerField(help_text="In the order in which the side asked.")
    tier = models.PositiveSmallIntegerField()
    ask = models.CharField(max_length=10, choices=choices(Ask))
    number = models.PositiveIntegerField(help_text="Of this kind, in this tier.")
    judge = models.CharField(max_length=120)
    model = models.CharField(max_length=120, blank=True)
    recovery = models.CharField(max_length=40, blank=True)
    is_missing = models.BooleanField(default=False)
    is_stale = models.BooleanField(default=False)
    blob = models.ForeignKey(Blob, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["comparison", "side", "position"], name="case_question_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.side}: {self.ask} {self.number} of tier {self.tier}"
