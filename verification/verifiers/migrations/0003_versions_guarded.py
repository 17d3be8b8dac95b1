from django.db import migrations


class Migration(migrations.Migration):
    """PostgreSQL keeps a verifier version as it was made, whoever writes."""

    dependencies = [("verifiers", "0002_judges")]

    operations = [
        migrations.RunSQL(
            """
            create function verifiers_keep_version() returns trigger language plpgsql as $$
            begin
                if tg_op = 'DELETE' and not exists (
                    select from accounts_project where id = old.project_id
                ) then
                    return old;
                end if;
                raise exception 'verifier version % never changes: make another', old.number
                    using errcode = 'restrict_violation';
            end $$;
            create trigger verifiers_version_kept before update on verifiers_verifierversion
            for each row when (
                (old.id, old.project_id, old.number, old.engine, old.spec, old.spec_sha256,
                 old.engine_build, old.note, old.created_by, old.created_at)
                is distinct from
                (new.id, new.project_id, new.number, new.engine, new.spec, new.spec_sha256,
                 new.engine_build, new.note, new.created_by, new.created_at)
            )
            execute function verifiers_keep_version();
            create trigger verifiers_version_stays before delete on verifiers_verifierversion
            for each row execute function verifiers_keep_version();
            """,
            """
            drop trigger verifiers_version_stays on verifiers_verifierversion;
            drop trigger verifiers_version_kept on verifiers_verifierversion;
            drop function verifiers_keep_version();
            """,
        )
    ]
