from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("trials", "0003_reveal")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="comparison",
            name="asked_again",
            field=models.PositiveSmallIntegerField(
                default=0,
                help_text="How often it was put off, to ask again a judge that was away.",
            ),
        ),
        migrations.AddField(
            model_name="comparison",
            name="undecided_since",
            field=models.DateTimeField(
                blank=True, help_text="When it was first put off.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="comparison",
            name="claims",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="How often a worker took it, or put it off."
            ),
        ),
        migrations.AddIndex(
            model_name="comparison",
            index=models.Index(
                condition=models.Q(("asked_again__gt", 0), ("compared_at__isnull", True)),
                fields=["trial"],
                name="comparison_put_off",
            ),
        ),
    ]
