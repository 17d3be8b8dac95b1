from django.db import migrations, models

_TABLES = """
    select distinct trial.project_id, date_trunc('hour', changed.created_at, 'UTC') as hour
    from {changed} join trials_trial trial on trial.id = changed.trial_id
    where {where} order by 1, 2
"""
_COUNTED = "changed.diff_class <> ''"
_CHANGED = """
    (was.diff_class, was.judged, was.old_evaluation_id, was.new_evaluation_id)
    is distinct from
    (changed.diff_class, changed.judged, changed.old_evaluation_id, changed.new_evaluation_id)
"""


def _marking(name: str, event: str, tables: str, changed: str, where: str) -> migrations.RunSQL:
    marked = _TABLES.format(changed=changed, where=where)
    return migrations.RunSQL(
        f"""
        create function trials_mark_{name}() returns trigger language plpgsql as $$
        begin
            perform runs_mark_target(project_id, hour) from ({marked}) marked;
            return null;
        end $$;
        create trigger trials_comparison_{name} after {event} on trials_comparison
        referencing {tables} for each statement execute function trials_mark_{name}();
        """,
        f"""
        drop trigger trials_comparison_{name} on trials_comparison;
        drop function trials_mark_{name}();
        """,
    )


class Migration(migrations.Migration):
    """PostgreSQL marks the hour of a comparison that counts otherwise than before."""

    dependencies = [("runs", "0008_target_hours"), ("trials", "0004_asked_again")]

    operations = [
        migrations.AddIndex(
            model_name="comparison",
            index=models.Index(fields=["trial", "-created_at", "-id"], name="comparison_by_time"),
        ),
        _marking("made", "insert", "new table as changed", "changed", _COUNTED),
        _marking(
            "changed",
            "update",
            "old table as was new table as changed",
            "was join changed using (id)",
            _CHANGED,
        ),
        _marking("deleted", "delete", "old table as changed", "changed", _COUNTED),
        migrations.RunSQL(
            "insert into runs_targetmark (project_id, hour)"
            + _TABLES.format(changed="trials_comparison changed", where=_COUNTED)
            + " on conflict do nothing",
            migrations.RunSQL.noop,
        ),
    ]
