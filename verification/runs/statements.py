"""The statements that every run costs, written out: the time of a short run is theirs.

Parameters are named; where a lease is needed, nothing is written once another worker holds it.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

Row = tuple[Any, ...]

# Django leaves jsonb as text for its own fields to read; json comes parsed.

CLAIM = """
    update runs_run
    set state = 'running', fence = fence + 1, claims = claims + 1, lease_until = %(until)s,
        next_at = %(until)s, started_at = coalesce(started_at, %(now)s)
    where id = %(run)s and (state = 'queued' or (state = 'running' and next_at <= %(now)s))
    returning fence, claims
"""

BEGIN_EVALUATION = """
    with begun as (
        insert into runs_evaluation (
            uuid, run_id, purpose, seq, process_version_id, verifier_version_id, engine_build,
            started_at, outcome, verdict, reason_code, severity_class, confidence_level, action,
            retry_strategy, tier_achieved, rule_trace, feedback, claims, claim_list, cost_usd,
            duration_ms
        )
        select gen_random_uuid(), run.id, 'live', 1, run.process_version_id,
               run.verifier_version_id, verifier.engine_build,
               %(now)s, '', '', '', '', '', '', '', 0, '[]', '{}', '{}', '[]', 0, 0
        from runs_run run
        join verifiers_verifierversion verifier on verifier.id = run.verifier_version_id
        where run.id = %(run)s
        returning id, purpose, process_version_id, verifier_version_id
    ), told as (
        insert into runs_event (run_id, seq, kind, at, data)
        select %(run)s, coalesce(max(seq), 0) + 1, 'evaluation_started', %(now)s,
               '{"purpose": "live"}'
        from runs_event where run_id = %(run)s
    )
    select * from begun
"""

LOAD = """
    select run.id, run.uuid, run.project_id, project.uuid, process.slug, run.task_id,
           run.phase_id, run.tier_requested, run.candidate_sha256, run.attempt, run.cost_usd,
           run.created_at, submission.body::json,
           (
               select json_object_agg(file.path, json_build_array(blob.sha256, file.size))
               from runs_runfile file join runs_blob blob on blob.id = file.blob_id
               where file.run_id = run.id
           )
    from runs_run run
    join runs_submission submission on submission.run_id = run.id
    join accounts_project project on project.id = run.project_id
    join processes_process process on process.id = run.process_id
    where run.id = %(run)s
"""

SAVE_TIER = """
    with held as (
        update runs_run set lease_until = %(until)s, next_at = %(until)s
        where id = %(run)s and fence = %(fence)s and state = 'running'
        returning id
    ), saved as (
        insert into runs_tierresult (
            evaluation_id, tier, status, model, calls, cached, recovery, prompt_tokens,
            completion_tokens, cost_usd, duration_ms, detail, result
        )
        select %(evaluation)s, %(tier)s, %(status)s, %(model)s, %(calls)s, %(cached)s,
               %(recovery)s, %(prompt_tokens)s, %(completion_tokens)s, %(cost_usd)s,
               %(duration_ms)s, %(detail)s, %(result)s
        from held
    ), told as (
        insert into runs_event (run_id, seq, kind, at, data)
        select held.id, coalesce(max(event.seq), 0) + 1, 'tier_finished', %(now)s, %(told)s
        from held left join runs_event event on event.run_id = held.id
        group by held.id
    )
    select count(*) from held
"""

LOCK_HISTORY = """
    select max_attempts, attempts_used, submissions, repeats, last_candidate_sha256,
           last_outcome, exhausted, exhausted_reason,
           set_config('synchronous_commit', 'on', true)
    from runs_task where id = %(task)s for update
"""
"""Workers commit lazily (settings): repeating a step is cheap, losing a verdict is not."""

STORE_ENDING = """
    with held as (
        update runs_run
        set state = 'finished', next_at = null, lease_until = null, finished_at = %(now)s,
            live_evaluation_id = %(evaluation)s, verifier_version_id = %(verifier_version)s,
            outcome = %(outcome)s, final_outcome = %(outcome)s, verdict = %(verdict)s,
            reason_code = %(reason_code)s, severity_class = %(severity_class)s,
            confidence = %(confidence)s, confidence_level = %(confidence_level)s,
            action = %(action)s, retry_strategy = %(retry_strategy)s,
            rerun_execution = %(rerun_execution)s, tier_achieved = %(tier_achieved)s,
            attempt = %(attempt)s, hard_count = %(hard_count)s,
            advisory_count = %(advisory_count)s, review_state = %(review_state)s,
            cost_usd = cost_usd + %(cost_usd)s
        where id = %(run)s and fence = %(fence)s and state = 'running'
        returning id, project_id
    ), concluded as (
        update runs_evaluation
        set outcome = %(outcome)s, verdict = %(verdict)s, reason_code = %(reason_code)s,
            severity_class = %(severity_class)s, confidence = %(confidence)s,
            confidence_level = %(confidence_level)s, action = %(action)s,
            retry_strategy = %(retry_strategy)s, tier_achieved = %(tier_achieved)s,
            rule_trace = %(rule_trace)s, feedback = %(feedback)s, claims = %(claims)s,
            cost_usd = %(cost_usd)s, duration_ms = %(duration_ms)s, finished_at = %(now)s
        from held where runs_evaluation.id = %(evaluation)s
    ), accounted as (
        update runs_task
        set attempts_used = %(attempts_used)s, submissions = %(submissions)s,
            repeats = %(repeats)s, last_candidate_sha256 = %(last_candidate_sha256)s,
            last_outcome = %(last_outcome)s, exhausted = %(exhausted)s,
            exhausted_reason = %(exhausted_reason)s, updated_at = %(now)s
        from held where runs_task.id = %(task)s
    ), announced as (
        insert into runs_outboxevent (uuid, project_id, run_id, topic, payload, created_at)
        select gen_random_uuid(), project_id, id, %(topic)s, %(payload)s, %(now)s from held
    ), told as (
        insert into runs_event (run_id, seq, kind, at, data)
        select held.id, last.seq + new.number, new.entry ->> 0, %(now)s, new.entry -> 1
        from held,
            (select coalesce(max(seq), 0) as seq from runs_event where run_id = %(run)s) last,
            jsonb_array_elements(%(events)s) with ordinality as new (entry, number)
    )
    select count(*) from held
"""


def one(statement: str, **parameters: Any) -> Row | None:
    """Execute a statement of this module; return its first row."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row: Row | None = cursor.fetchone()
        return row
