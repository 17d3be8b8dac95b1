from django.db import migrations, models


class Migration(migrations.Migration):
    """What the runs of a night came to is counted from the index of the newest alone."""

    dependencies = [("runs", "0016_events_tried_again")]

    operations = [
        migrations.RemoveIndex("run", "run_newest"),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["project", "-created_at", "-id"],
                include=["process", "state", "verdict", "outcome", "reason_code", "cost_usd"],
                name="run_newest",
            ),
        ),
    ]
