import django.db.models.deletion
from django.db import migrations, models

_ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    """Targets are counted by hours; PostgreSQL marks the hour of a run that is deleted."""

    dependencies = [("accounts", "0001_initial"), ("runs", "0007_shadow")]

    operations = [
        migrations.CreateModel(
            name="TargetHour",
            fields=[
                ("id", _ID),
                ("hour", models.DateTimeField()),
                ("process", models.CharField(max_length=80)),
                ("figure", models.CharField(max_length=30)),
                ("counted", models.PositiveIntegerField()),
                ("of_all", models.PositiveIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "figure", "hour", "process"), name="target_hour_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TargetMark",
            fields=[
                ("id", _ID.clone()),
                ("project_id", models.BigIntegerField()),
                ("hour", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project_id", "hour"), name="target_mark_unique"
                    )
                ],
            },
        ),
        migrations.RunSQL(
            """
            create function runs_mark_target(project bigint, at timestamptz) returns void
            language plpgsql as $$
            declare
                since constant timestamptz := date_trunc('hour', at, 'UTC');
            begin
                loop  -- held until the transaction ends; it can vanish between both statements
                    insert into runs_targetmark (project_id, hour) values (project, since)
                    on conflict do nothing;
                    exit when found;
                    perform from runs_targetmark where project_id = project and hour = since
                    for key share;
                    exit when found;
                end loop;
            end $$;
            create function runs_mark_deleted() returns trigger language plpgsql as $$
            begin
                perform runs_mark_target(project_id, hour) from (
                    select distinct project_id, date_trunc('hour', created_at, 'UTC') as hour
                    from gone order by 1, 2
                ) marked;
                return null;
            end $$;
            create trigger runs_run_deleted after delete on runs_run
            referencing old table as gone for each statement
            execute function runs_mark_deleted();
            insert into runs_targetmark (project_id, hour)
            select distinct project_id, date_trunc('hour', created_at, 'UTC') from runs_run;
            """,
            """
            drop trigger runs_run_deleted on runs_run;
            drop function runs_mark_deleted();
            drop function runs_mark_target(bigint, timestamptz);
            """,
        ),
    ]
