from typing import ClassVar

from django.db import migrations

MARK_HOURS = """
    insert into runs_targetmark (project_id, hour)
    select distinct project_id, hour from runs_targethour
    where figure = 'recommendations' and counted > 0
    on conflict do nothing
"""


class Migration(migrations.Migration):
    """Partly verified runs no longer miss the target `recommendations`: count those hours anew."""

    dependencies: ClassVar = [
        ("trials", "0009_tallies"),
        ("runs", "0017_counted_nights"),
    ]

    operations: ClassVar = [migrations.RunSQL(MARK_HOURS, migrations.RunSQL.noop)]
