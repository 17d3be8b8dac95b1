from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

OF_ITS_RUN = """
update actions_change set project_id = run.project_id, submitted_at = run.created_at
from runs_run run where run.id = actions_change.run_id
"""
OF_ITS_CHANGE = """
update actions_action set submitted_at = change.submitted_at
from actions_change change where change.id = actions_action.change_id
"""
CHECKED_NOW = "SET CONSTRAINTS ALL IMMEDIATE"
# The first that is true of a change; `standing` in docs/morning-report.md.
STANDING = """
create function actions_standing(of_change bigint) returns table (standing text, kind text, reason text)
language sql stable as $$
    select (array[
        'reverted', 'committed', 'held', 'proposed', 'under_way', 'held', 'nothing'
      ])[place], ranked.kind, ranked.reason_code
    from (
      select action.id, action.kind, action.reason_code, case
          when action.kind = 'revert' and action.state = 'done' and not exists (
            select from actions_action restoring where restoring.change_id = of_change
              and restoring.kind = 'restore' and restoring.state = 'done'
              and restoring.id > action.id) then 1
          when action.kind in ('commit', 'restore') and action.state = 'done' then 2
          when action.state = 'held' then 3
          when action.state = 'proposed' then 4
          when action.state = 'pending' then 5
          when action.kind = 'review_branch' and action.state = 'done' and not exists (
            select from actions_action closing where closing.change_id = of_change
              and closing.kind = 'close' and closing.state = 'done') then 6
          else 7 end as place
      from actions_action action where action.change_id = of_change
    ) ranked
    order by place, id limit 1
$$;
"""
# The change is held first: who comes second to it sees what the first one wrote.
KEEP = """
create function actions_keep_standing() returns trigger language plpgsql as $$
begin
    perform from actions_change where id = new.change_id for no key update;
    update actions_change set standing = found.standing, standing_kind = found.kind,
      standing_reason = found.reason
    from actions_standing(new.change_id) found where actions_change.id = new.change_id;
    return null;
end
$$;
create trigger actions_action_made after insert on actions_action
    for each row execute function actions_keep_standing();
create trigger actions_action_changed after update on actions_action
    for each row when (
        (old.state, old.kind, old.reason_code) is distinct from (new.state, new.kind, new.reason_code)
    ) execute function actions_keep_standing();
"""
NO_LONGER_KEPT = """
drop trigger actions_action_changed on actions_action;
drop trigger actions_action_made on actions_action;
drop function actions_keep_standing();
drop function actions_standing(bigint);
"""
AS_THEY_STAND = """
update actions_change set standing = found.standing, standing_kind = found.kind,
  standing_reason = found.reason
from actions_change change, lateral actions_standing(change.id) found
where actions_change.id = change.id
"""


class Migration(migrations.Migration):
    """What became of a change is kept with it, so that a night is counted from one index."""

    dependencies: ClassVar = [
        ("accounts", "0001_initial"),
        ("actions", "0007_endpoints_served"),
    ]

    operations: ClassVar = [
        migrations.AddField(
            "change",
            "project",
            models.ForeignKey(
                null=True,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="changes",
                to="accounts.project",
            ),
        ),
        migrations.AddField("change", "submitted_at", models.DateTimeField(null=True)),
        migrations.AddField("action", "submitted_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "change",
            "standing",
            models.CharField(default="nothing", editable=False, max_length=10),
        ),
        migrations.AddField(
            "change",
            "standing_kind",
            models.CharField(blank=True, default="", editable=False, max_length=20),
            preserve_default=False,
        ),
        migrations.AddField(
            "change",
            "standing_reason",
            models.CharField(blank=True, default="", editable=False, max_length=60),
            preserve_default=False,
        ),
        migrations.RunSQL([STANDING, KEEP], NO_LONGER_KEPT),
        migrations.RunSQL(
            [OF_ITS_RUN, OF_ITS_CHANGE, AS_THEY_STAND, CHECKED_NOW], migrations.RunSQL.noop
        ),
        migrations.AlterField(
            "change",
            "project",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="changes",
                to="accounts.project",
            ),
        ),
        migrations.AlterField(
            "change", "submitted_at", models.DateTimeField(help_text="When its run was.")
        ),
        migrations.AlterField(
            "action", "submitted_at", models.DateTimeField(help_text="When the change's run was.")
        ),
        migrations.AddIndex(
            "change",
            models.Index(
                fields=["project", "standing", "-submitted_at", "-id"],
                include=["standing_kind", "standing_reason"],
                name="change_standing",
            ),
        ),
        migrations.RemoveIndex("action", "action_by_state"),
        migrations.AddIndex(
            "action",
            models.Index(
                fields=["project", "state", "-created_at"],
                include=["kind", "reason_code"],
                name="action_by_state",
            ),
        ),
        migrations.AddIndex(
            "action",
            models.Index(
                fields=["project", "finished_at"],
                include=["kind", "submitted_at"],
                condition=models.Q(("state", "done")),
                name="action_done",
            ),
        ),
    ]
