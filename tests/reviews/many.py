"""Very many reviews, written by the database itself."""

from __future__ import annotations

from django.db import connection

from loomverify.accounts.models import Project
from tests.builders import generate_runs

EVALUATIONS = """
    insert into runs_evaluation (uuid, run_id, purpose, seq, process_version_id,
        verifier_version_id, engine_build, outcome, verdict, reason_code, severity_class,
        confidence_level, action, retry_strategy, tier_achieved, rule_trace, feedback, claims,
        claim_list, cost_usd, duration_ms, started_at)
    select gen_random_uuid(), id, 'live', 1, process_version_id, verifier_version_id, '1', outcome,
        verdict, reason_code, '', '', '', '', tier_achieved, '[]', '{}', '{}', '[]', 0, 48,
        created_at
    from runs_run where project_id = %(project)s and live_evaluation_id is null
"""
REVIEWS = """
    insert into runs_review (uuid, project_id, run_id, process_id, phase_id, evaluation_id, reasons,
        rule, fingerprint, urgency, rank_at, is_flagged, is_blind, reviewers, round,
        is_adjudication, state, outcome, created_at, told)
    select gen_random_uuid(), run.project_id, run.id, run.process_id, run.phase_id, evaluation.id,
        array['vote_divergence'], 'no-placeholders', 'f' || run.id %% 400, run.id %% 60,
        run.created_at - run.id %% 60 * interval '1 hour', true, false, 1, 1, false, 'pending',
        '', run.created_at, '{}'
    from runs_run run join runs_evaluation evaluation on evaluation.run_id = run.id
    where run.project_id = %(project)s
"""


def generate_reviews(project: Project, count: int) -> None:
    """Reviews that wait, each of a run of its own; their findings are not stored."""
    generate_runs(project, count)
    with connection.cursor() as cursor:
        for statement in (EVALUATIONS, REVIEWS):
            cursor.execute(statement, {"project": project.pk})
        cursor.execute(
            """
            update runs_run set live_evaluation_id = evaluation.id, review_state = 'pending'
            from runs_evaluation evaluation
            where evaluation.run_id = runs_run.id and runs_run.project_id = %s
            """,
            [project.pk],
        )
        cursor.execute("analyze runs_review; analyze runs_run; analyze runs_evaluation")
