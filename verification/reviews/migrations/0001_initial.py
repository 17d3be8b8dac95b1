import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('runs', '0005_reviews'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CaseDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('outcome', models.CharField(blank=True, choices=[('pass', 'pass'), ('pass_with_warnings', 'pass_with_warnings'), ('partial_verified', 'partial_verified'), ('fail', 'fail')], help_text='What the run should come to.', max_length=20)),
                ('made_by', models.CharField(help_text="The actor's name at that time.", max_length=200)),
                ('created_at', models.DateTimeField()),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='case_drafts', to='accounts.project')),
                ('review', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.review')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='case_draft', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('round', models.PositiveSmallIntegerField(default=1)),
                ('is_adjudication', models.BooleanField(default=False)),
                ('first_outcome', models.CharField(blank=True, choices=[('pass', 'pass'), ('pass_with_warnings', 'pass_with_warnings'), ('partial_verified', 'partial_verified'), ('fail', 'fail')], max_length=20)),
                ('outcome', models.CharField(blank=True, choices=[('pass', 'pass'), ('pass_with_warnings', 'pass_with_warnings'), ('partial_verified', 'partial_verified'), ('fail', 'fail')], max_length=20)),
                ('comment', models.TextField(blank=True)),
                ('seconds', models.PositiveIntegerField(blank=True, help_text='From the claim to the decision.', null=True)),
                ('created_at', models.DateTimeField()),
                ('settled_at', models.DateTimeField(blank=True, null=True)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('api_key', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.apikey')),
                ('evaluation', models.ForeignKey(help_text='What was decided about.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.evaluation')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='accounts.project')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='runs.review')),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='FindingLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_right', models.BooleanField()),
                ('decision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='reviews.decision')),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='runs.finding')),
            ],
        ),
        migrations.CreateModel(
            name='NoticePreference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('notice', models.CharField(choices=[('off', 'Never'), ('at_once', 'At once'), ('hourly', 'Every hour'), ('daily', 'Every morning')], default='off', max_length=8)),
                ('min_urgency', models.PositiveSmallIntegerField(default=0, help_text='0 to 100.')),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('member', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='notice_preference', to='accounts.member')),
            ],
        ),
        migrations.CreateModel(
            name='Skip',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('api_key', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apikey')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skips', to='runs.review')),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['reviewer', '-created_at', '-id'], name='decision_newest'),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['project', '-created_at', '-id'], name='decision_by_project'),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.CheckConstraint(condition=models.Q(('reviewer__isnull', True), ('api_key__isnull', True), _connector='XOR'), name='decision_has_one_reviewer'),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.UniqueConstraint(condition=models.Q(('reviewer__isnull', False), ('undone_at__isnull', True)), fields=('review', 'reviewer', 'round'), name='decision_unique_person'),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.UniqueConstraint(condition=models.Q(('api_key__isnull', False), ('undone_at__isnull', True)), fields=('review', 'api_key', 'round'), name='decision_unique_key'),
        ),
        migrations.AddConstraint(
            model_name='findinglabel',
            constraint=models.UniqueConstraint(fields=('decision', 'finding'), name='finding_label_unique'),
        ),
        migrations.AddConstraint(
            model_name='skip',
            constraint=models.UniqueConstraint(fields=('review', 'reviewer', 'api_key'), name='skip_unique', nulls_distinct=False),
        ),
    ]
