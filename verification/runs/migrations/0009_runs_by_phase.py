from django.db import migrations, models


class Migration(migrations.Migration):
    """A rule is tried on the runs of its phases: those of a rare one are found by themselves."""

    dependencies = [("runs", "0008_target_hours")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["process", "phase_id", "-created_at", "-id"],
                condition=models.Q(live_evaluation__isnull=False),
                name="run_by_phase",
            ),
        )
    ]
