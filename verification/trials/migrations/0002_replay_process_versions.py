from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("trials", "0001_shadow"),
    ]

    operations = [
        migrations.AddField(
            model_name="trialreplay",
            name="process_versions",
            field=models.JSONField(
                blank=True, default=dict, help_text="By which version of its process a case is taken."
            ),
        ),
    ]
