from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("golden", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="goldennotice",
            name="told_until",
            field=models.DateTimeField(
                blank=True,
                help_text="The end of the newest replay that they were told of.",
                null=True,
            ),
        ),
    ]
