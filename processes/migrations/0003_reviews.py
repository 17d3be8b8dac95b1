from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('processes', '0002_draft_undo'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='process',
            name='review_policy',
        ),
    ]
