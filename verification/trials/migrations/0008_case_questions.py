from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """What both sides asked over a golden case, and why a replay was cancelled."""

    dependencies: ClassVar = [
        ("runs", "0008_target_hours"),
        ("trials", "0007_run_keys"),
    ]

    operations: ClassVar = [
        migrations.AddField(
            model_name="trialreplay",
            name="cancel_text",
            field=models.CharField(blank=True, help_text="Why it was cancelled.", max_length=500),
        ),
        migrations.CreateModel(
            name="CaseQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("side", models.CharField(choices=[("old", "Old"), ("new", "New")], max_length=3)),
                (
                    "position",
                    models.PositiveIntegerField(help_text="In the order in which the side asked."),
                ),
                ("tier", models.PositiveSmallIntegerField()),
                (
                    "ask",
                    models.CharField(
                        choices=[
                            ("assess", "assess"),
                            ("again", "again"),
                            ("restate", "restate"),
                            ("vote", "vote"),
                            ("compare", "compare"),
                            ("confirm", "confirm"),
                        ],
                        max_length=10,
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="Of this kind, in this tier.")),
                ("judge", models.CharField(max_length=120)),
                ("model", models.CharField(blank=True, max_length=120)),
                ("recovery", models.CharField(blank=True, max_length=40)),
                ("is_missing", models.BooleanField(default=False)),
                ("is_stale", models.BooleanField(default=False)),
                (
                    "blob",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="runs.blob",
                    ),
                ),
                (
                    "comparison",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="trials.comparison",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("comparison", "side", "position"), name="case_question_unique"
                    )
                ],
            },
        ),
    ]
