from django.db import migrations, models


class Migration(migrations.Migration):
    """A judge can be asked about the runs that are pinned to a rule."""

    dependencies = [("rules", "0003_samples")]

    operations = [
        migrations.AlterField(
            "sample",
            "drawn",
            models.CharField(
                choices=[
                    ("by_lot", "drawn by lot"),
                    ("decided", "decided by people, the newest"),
                    ("pinned", "pinned to the rule"),
                ],
                max_length=10,
            ),
        ),
    ]
