from django.db import migrations, models


class Migration(migrations.Migration):
    """Who waits for a decision is told of it as of a run's end; claims know since when they last."""

    dependencies = [
        ("runs", "0005_reviews"),
    ]

    operations = [
        migrations.AddField(
            model_name="review",
            name="claimed_at",
            field=models.DateTimeField(
                blank=True, help_text="Since when its holder has it, without a break.", null=True
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="told",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="What was told of the decision: who, why, findings.",
            ),
        ),
        migrations.RunSQL(
            """
            create trigger runs_review_over after update of review_state on runs_run for each row
            when (old.review_state = 'pending' and new.review_state <> 'pending')
            execute function runs_tell_over();

            create function runs_note_claim() returns trigger language plpgsql as $$
            begin
                if new.claimed_by_id is null and new.claimed_key_id is null then
                    new.claimed_at := null;
                elsif (old.claimed_by_id, old.claimed_key_id)
                        is distinct from (new.claimed_by_id, new.claimed_key_id)
                        or old.lease_until is null or old.lease_until <= now() then
                    new.claimed_at := now();
                end if;
                return new;
            end $$;
            create trigger runs_review_claimed
            before update of claimed_by_id, claimed_key_id, lease_until on runs_review for each row
            execute function runs_note_claim();
            """,
            """
            drop trigger runs_review_claimed on runs_review; drop function runs_note_claim();
            drop trigger runs_review_over on runs_run;
            """,
        ),
    ]
