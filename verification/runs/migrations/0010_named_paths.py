from django.db import migrations, models


class Migration(migrations.Migration):
    """The paths that a submission names stand beside its texts; decided runs are found by themselves."""

    dependencies = [("runs", "0009_runs_by_phase")]

    operations = [
        migrations.AddField("submission", "named_paths", models.JSONField(null=True)),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["process", "phase_id", "-created_at", "-id"],
                condition=models.Q(review_state="decided"),
                name="run_decided",
            ),
        ),
    ]
