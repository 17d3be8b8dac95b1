from django.db import migrations

KEPT = {
    "processes_processversion": (
        "process_id", "number", "source_text", "sha256", "note", "is_shipped", "created_by",
        "created_at",
    ),
    "processes_ruleversion": ("rule_id", "content_sha256", "spec"),
    "processes_phaserule": ("process_version_id", "phase_id", "rule_version_id", "position"),
}  # fmt: skip


def _trigger(table: str, columns: tuple[str, ...]) -> str:
    old, new = (", ".join(f"{row}.{name}" for name in columns) for row in ("old", "new"))
    return f"""
        create trigger {table}_stays before update on {table} for each row
        when (({old}) is distinct from ({new})) execute function processes_refuse_change();
    """


class Migration(migrations.Migration):
    """What a version says never changes, whoever writes; when it was published may."""

    dependencies = [("processes", "0003_reviews")]

    operations = [
        migrations.RunSQL(
            """
            create function processes_refuse_change() returns trigger language plpgsql as $$
            begin
                raise exception 'what a process version says never changes (%)', tg_table_name
                using errcode = 'restrict_violation';
            end $$;
            """
            + "".join(_trigger(table, columns) for table, columns in KEPT.items()),
            "".join(f"drop trigger {table}_stays on {table};" for table in KEPT)
            + "drop function processes_refuse_change();",
        )
    ]
