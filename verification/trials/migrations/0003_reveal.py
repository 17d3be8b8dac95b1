from __future__ import annotations

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("trials", "0002_replay_process_versions")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Reveal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reviewer",
                    models.CharField(max_length=200, help_text="As the audit log names them."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "comparison",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reveals",
                        to="trials.comparison",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="reveal",
            constraint=models.UniqueConstraint(
                fields=("comparison", "reviewer"), name="reveal_one_each"
            ),
        ),
    ]
