from typing import ClassVar

import django.contrib.postgres.fields
from django.db import migrations, models

_KEY = """
    trial_id, origin, old, new, old_again, new_again, diff_class, judged, kind, rules
"""
_COLUMNS = f"{_KEY}, summary, old_cost_usd, new_cost_usd, compared_at"
_ADD = f"""
    insert into trials_tally
        ({_KEY}, summary, count, old_cost_usd, new_cost_usd, is_merged)
    select {_KEY}, min(summary), sum(n), sum(n * old_cost_usd), sum(n * new_cost_usd), {{merged}}
    from ({{rows}}) counted where compared_at is not null
    group by {_KEY}
    having (sum(n), sum(n * old_cost_usd), sum(n * new_cost_usd)) <> (0, 0, 0)
"""  # noqa: S608 - constants of this module


def _rows(table: str, n: int) -> str:
    return f"select {n} as n, {_COLUMNS} from {table}"  # noqa: S608


def _adding(name: str, event: str, tables: str, rows: str) -> migrations.RunSQL:
    """One row for all that a statement stores alike: nobody waits for anybody else's."""
    return migrations.RunSQL(
        f"""
        create function trials_tally_{name}() returns trigger language plpgsql as $$
        #variable_conflict use_column
        begin
            {_ADD.format(rows=rows, merged="false")};
            return null;
        end $$;
        create trigger trials_comparison_tally_{name} after {event} on trials_comparison
        referencing {tables} for each statement execute function trials_tally_{name}();
        """,
        f"""
        drop trigger trials_comparison_tally_{name} on trials_comparison;
        drop function trials_tally_{name}();
        """,
    )


def _percentile(side: str) -> migrations.AddIndex:
    return migrations.AddIndex(
        model_name="comparison",
        index=models.Index(
            condition=models.Q(
                models.Q(("diff_class", ""), _negated=True), ("origin__in", ["live", "past"])
            ),
            fields=["trial", f"{side}_ms"],
            name=f"comparison_{side}_ms",
        ),
    )


class Migration(migrations.Migration):
    """PostgreSQL counts comparisons as they change, so that no page counts them again."""

    dependencies: ClassVar = [("trials", "0008_case_questions")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Tally",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("trial_id", models.BigIntegerField()),
                ("origin", models.CharField(max_length=10)),
                ("old", models.CharField(max_length=20)),
                ("new", models.CharField(max_length=20)),
                ("old_again", models.CharField(max_length=20)),
                ("new_again", models.CharField(max_length=20)),
                ("diff_class", models.CharField(max_length=25)),
                ("judged", models.CharField(max_length=10)),
                ("kind", models.CharField(max_length=16)),
                (
                    "rules",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), size=None
                    ),
                ),
                ("summary", models.CharField(max_length=300)),
                ("count", models.IntegerField()),
                ("old_cost_usd", models.DecimalField(decimal_places=6, max_digits=20)),
                ("new_cost_usd", models.DecimalField(decimal_places=6, max_digits=20)),
                ("is_merged", models.BooleanField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["trial_id"], name="tally_of_trial"),
                    models.Index(
                        condition=models.Q(("is_merged", False)),
                        fields=["trial_id"],
                        name="tally_unmerged",
                    ),
                ],
            },
        ),
        _percentile("old"),
        _percentile("new"),
        migrations.AddIndex(
            model_name="comparison",
            index=models.Index(
                condition=models.Q(("origin", "corpus")),
                fields=["trial", "-id"],
                name="comparison_of_corpus",
            ),
        ),
        _adding("made", "insert", "new table as made", _rows("made", 1)),
        _adding(
            "changed",
            "update",
            "old table as was new table as made",
            f"{_rows('made', 1)} union all {_rows('was', -1)}",
        ),
        _adding("deleted", "delete", "old table as was", _rows("was", -1)),
        migrations.RunSQL(
            _ADD.format(rows=_rows("trials_comparison", 1), merged="true"), migrations.RunSQL.noop
        ),
    ]
