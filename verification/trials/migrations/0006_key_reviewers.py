from typing import Any, ClassVar

from django.db import migrations
from django.db.models import Count, Min


def name_keys(apps: Any, _schema_editor: Any) -> None:
    """What a key said, saw and noted by its name alone is that key's, where one alone had it."""
    keys = apps.get_model("accounts", "ApiKey").objects
    by_number = {f"key {name} #{pk}" for name, pk in keys.values_list("name", "pk")}
    alone = keys.order_by().values("project", "name").annotate(first=Min("pk"), count=Count("pk"))
    for key in alone.filter(count=1):
        old = f"key {key['name']}"
        if old not in by_number:  # of a key that is called like another and its number
            _rename(apps, key["project"], old, f"{old} #{key['first']}")


def _rename(apps: Any, project: int, old: str, new: str) -> None:
    """What the key said or saw again since, by its number too, stays: one of each is allowed."""
    said, seen, noted = (
        apps.get_model("trials", name).objects.filter(comparison__trial__project=project)
        for name in ("Judgement", "Reveal", "ComparisonNote")
    )
    standing = said.filter(withdrawn_at=None)
    said.exclude(withdrawn_at=None).filter(reviewer=old).update(reviewer=new)
    for rows in (standing, seen):
        again = rows.filter(reviewer=new).values("comparison")
        rows.filter(reviewer=old).exclude(comparison__in=again).update(reviewer=new)
    noted.filter(created_by=old).update(created_by=new)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("accounts", "0001_initial"), ("trials", "0005_target_marks")]

    operations: ClassVar = [migrations.RunPython(name_keys, migrations.RunPython.noop)]
