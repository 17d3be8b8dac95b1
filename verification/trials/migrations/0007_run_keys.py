from typing import ClassVar

from django.db import migrations, models

_BEFORE = """
    select distinct trial.project_id, date_trunc('hour', changed.created_at, 'UTC') as hour
    from {tables} join trials_trial trial on trial.id = changed.trial_id
    where {where} order by 1, 2
"""
# A run counts in the newest of its comparisons: what changes in one may change what the others do.
# One that is still compared is among them, since two can be stored at once. A plan is kept for as
# long as the connection is: with `offset 0` those beside are found through their index, and
# `except` takes as long for a thousand rows each as it says, where a join may not.
_MARKED = """
    with moved as ({moved}), affected as (
        select trial_id, created_at from moved
        union all
        select beside.trial_id, beside.created_at
        from moved cross join lateral (
            select trial_id, created_at from trials_comparison
            where run_key = moved.run_key offset 0
        ) beside
        where moved.run_key is not null
    )
    select distinct trial.project_id, date_trunc('hour', affected.created_at, 'UTC') as hour
    from affected join trials_trial trial on trial.id = affected.trial_id
    order by 1, 2
"""
_COUNTED = "changed.diff_class <> ''"
_COUNTED_ONES = f"select trial_id, run_key, created_at from changed where {_COUNTED}"  # noqa: S608
_JOINED = "was join changed using (id)"
_CHANGED = """
    (was.diff_class, was.judged, was.old_evaluation_id, was.new_evaluation_id)
    is distinct from
    (changed.diff_class, changed.judged, changed.old_evaluation_id, changed.new_evaluation_id)
"""
_COUNTING = """
    id, trial_id, run_key, created_at, diff_class, judged, old_evaluation_id, new_evaluation_id
"""
_CHANGED_ONES = f"select {_COUNTING} from changed except select {_COUNTING} from was"  # noqa: S608


def _marking(name: str, moved: str, before: str) -> migrations.RunSQL:
    function = """
        create or replace function trials_mark_{name}() returns trigger language plpgsql as $$
        begin
            perform runs_mark_target(project_id, hour) from ({marked}) marked;
            return null;
        end $$
    """
    return migrations.RunSQL(
        function.format(name=name, marked=_MARKED.format(moved=moved)),
        function.format(name=name, marked=before),
    )


class Migration(migrations.Migration):
    """A run counts once: PostgreSQL marks the hours of all its comparisons when one changes."""

    dependencies: ClassVar = [("trials", "0006_key_reviewers")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="comparison",
            name="run_key",
            field=models.BigIntegerField(
                blank=True, help_text="The run's; kept when the run is deleted.", null=True
            ),
        ),
        migrations.RunSQL(
            "update trials_comparison set run_key = run_id where run_id is not null",
            migrations.RunSQL.noop,
        ),
        migrations.AddIndex(
            model_name="comparison",
            index=models.Index(
                condition=models.Q(run_key__isnull=False),
                fields=["run_key"],
                name="comparison_by_run",
            ),
        ),
        _marking("made", _COUNTED_ONES, _BEFORE.format(tables="changed", where=_COUNTED)),
        _marking("changed", _CHANGED_ONES, _BEFORE.format(tables=_JOINED, where=_CHANGED)),
        _marking("deleted", _COUNTED_ONES, _BEFORE.format(tables="changed", where=_COUNTED)),
        migrations.RunSQL(
            """
            insert into runs_targetmark (project_id, hour)
            select distinct trial.project_id, date_trunc('hour', found.created_at, 'UTC')
            from trials_comparison found join trials_trial trial on trial.id = found.trial_id
            where exists (
                select from trials_comparison other
                where other.run_key = found.run_key and other.id <> found.id
            )
            on conflict do nothing
            """,
            migrations.RunSQL.noop,
        ),
    ]
