from django.db import migrations


class Migration(migrations.Migration):
    """PostgreSQL tells that a run is over, whoever ended it, when the transaction commits."""

    dependencies = [("runs", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            create function runs_tell_over() returns trigger language plpgsql as $$
            begin
                perform pg_notify('run_over', new.uuid::text);
                return null;
            end $$;
            create trigger runs_run_over after update of state on runs_run for each row
            when (old.state is distinct from new.state
                  and new.state in ('finished', 'errored', 'cancelled'))
            execute function runs_tell_over();
            """,
            "drop trigger runs_run_over on runs_run; drop function runs_tell_over();",
        )
    ]
