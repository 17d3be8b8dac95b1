from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

OF_ITS_WEBHOOK = """
UPDATE actions_delivery SET project_id = actions_webhook.project_id
FROM actions_webhook WHERE actions_webhook.id = actions_delivery.webhook_id
"""
# A foreign key that is checked at the end would keep the table from being altered until then.
CHECKED_NOW = "SET CONSTRAINTS ALL IMMEDIATE"


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("accounts", "0001_initial"),
        ("actions", "0004_webhook_forms"),
    ]

    operations: ClassVar = [
        migrations.AddField(
            "delivery",
            "project",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="accounts.project",
            ),
        ),
        migrations.RunSQL([OF_ITS_WEBHOOK, CHECKED_NOW], migrations.RunSQL.noop),
        migrations.AlterField(
            "delivery",
            "project",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="accounts.project",
            ),
        ),
        migrations.RemoveIndex("delivery", "delivery_newest"),
        migrations.AddIndex(
            "delivery",
            models.Index(fields=["project", "-created_at", "-id"], name="delivery_newest"),
        ),
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["project", "state", "-created_at", "-id"],
                condition=models.Q(("state", "delivered"), _negated=True),
                name="delivery_troubled",
            ),
        ),
    ]
