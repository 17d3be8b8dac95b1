import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('processes', '0003_reviews'),
        ('runs', '0004_rule_hours'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Before their columns, or there is no way back.
        migrations.RemoveConstraint(
            model_name='decision',
            name='decision_unique',
        ),
        migrations.RemoveConstraint(
            model_name='findinglabel',
            name='label_unique',
        ),
        migrations.RemoveField(
            model_name='decision',
            name='review',
        ),
        migrations.RemoveField(
            model_name='decision',
            name='reviewer',
        ),
        migrations.RemoveField(
            model_name='findinglabel',
            name='decision',
        ),
        migrations.RemoveField(
            model_name='findinglabel',
            name='finding',
        ),
        migrations.RemoveIndex(
            model_name='review',
            name='review_queue',
        ),
        migrations.RemoveField(
            model_name='review',
            name='rounds',
        ),
        migrations.AddField(
            model_name='review',
            name='assigned_to',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='review',
            name='claimed_key',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.apikey'),
        ),
        migrations.AddField(
            model_name='review',
            name='evaluation',
            field=models.ForeignKey(null=True, help_text='What is reviewed.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.evaluation'),
        ),
        migrations.AddField(
            model_name='review',
            name='fingerprint',
            field=models.CharField(blank=True, help_text='Of the leading finding: what groups reviews.', max_length=80),
        ),
        migrations.AddField(
            model_name='review',
            name='is_adjudication',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='review',
            name='is_blind',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='review',
            name='is_flagged',
            field=models.BooleanField(default=True, help_text='False: drawn by chance alone.'),
        ),
        migrations.AddField(
            model_name='review',
            name='phase_id',
            field=models.CharField(null=True, max_length=120),
        ),
        migrations.AddField(
            model_name='review',
            name='process',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='processes.process'),
        ),
        migrations.AddField(
            model_name='review',
            name='rank_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='review',
            name='reviewers',
            field=models.PositiveSmallIntegerField(default=1, help_text='How many decide in this round.'),
        ),
        migrations.AddField(
            model_name='review',
            name='round',
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name='review',
            name='rule',
            field=models.CharField(blank=True, help_text='Of the leading finding.', max_length=200),
        ),
        migrations.AddField(
            model_name='review',
            name='sample_rate',
            field=models.FloatField(blank=True, help_text='How likely it was drawn. Null: it was not.', null=True),
        ),
        migrations.AddField(
            model_name='review',
            name='takes_effect_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='review',
            name='told_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        # Reviews that wait already are about the evaluation that counts.
        migrations.RunSQL(
            """
            delete from runs_review review using runs_run run
            where run.id = review.run_id and run.live_evaluation_id is null;
            update runs_review review
            set evaluation_id = run.live_evaluation_id, phase_id = run.phase_id,
                process_id = run.process_id,
                rank_at = review.created_at - review.urgency * interval '1 hour'
            from runs_run run where run.id = review.run_id;
            """,
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name='review',
            name='evaluation',
            field=models.ForeignKey(help_text='What is reviewed.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.evaluation'),
        ),
        migrations.AlterField(
            model_name='review',
            name='phase_id',
            field=models.CharField(max_length=120),
        ),
        migrations.AlterField(
            model_name='review',
            name='process',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='processes.process'),
        ),
        migrations.AlterField(
            model_name='review',
            name='rank_at',
            field=models.DateTimeField(),
        ),
        migrations.AlterField(
            model_name='review',
            name='state',
            field=models.CharField(choices=[('pending', 'Pending'), ('held', 'Held back'), ('decided', 'Decided'), ('expired', 'Expired'), ('withdrawn', 'Withdrawn')], default='pending', max_length=10),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['project', 'rank_at', 'id'], name='review_queue'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['project', 'fingerprint'], name='review_alike'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('state__in', ['pending', 'held'])), fields=['expires_at'], name='review_expiry'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('state', 'decided'), ('told_at__isnull', True)), fields=['takes_effect_at'], name='review_untold'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(fields=['process', 'created_at'], name='review_opened'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(fields=['project', 'state', '-created_at', '-id'], name='review_by_state'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('state', 'decided')), fields=['project', '-decided_at'], name='review_decided'),
        ),
        migrations.DeleteModel(
            name='Decision',
        ),
        migrations.DeleteModel(
            name='FindingLabel',
        ),
    ]
