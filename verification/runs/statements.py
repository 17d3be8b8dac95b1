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
    where id = %(run)s and (
        (state = 'queued' and (lease_until is null or lease_until <= %(now)s))
        or (state = 'running' and next_at <= %(now)s)
    )
    returning fence, claims
"""
"""A queued run with a lease waits for its next verification: no message takes it before."""

BEGIN_EVALUATION = """
    with begun as (
        insert into runs_evaluation (
            uuid, run_id, purpose, seq, process_version_id, verifier_version_id, engine_build,
            started_at, outcome, verdict, reason_code, severity_class, confidence_level, action,
            retry_strategy, tier_achieved, rule_trace, feedback, claims, claim_list, cost_usd,
            duration_ms
        )
        select gen_random_uuid(), run.id, 'live', 1, run.process_version_id,
               run.verifier_version_id, %(engine_build)s,
               %(now)s, '', '', '', '', '', '', '', 0, '[]', '{}', '{}', '[]', 0, 0
        from runs_run run where run.id = %(run)s
        returning id, uuid, purpose, process_version_id, verifier_version_id
    ), told as (
        insert into runs_event (run_id, seq, kind, at, data)
        select %(run)s, coalesce(max(seq), 0) + 1, 'evaluation_started', %(now)s,
               '{"purpose": "live"}'
        from runs_event where run_id = %(run)s
    )
    select * from begun
"""

_CARRIED = """
    insert into runs_tierresult (
        evaluation_id, tier, status, model, calls, cached, recovery, prompt_tokens,
        completion_tokens, cost_usd, duration_ms, detail, result
    )
    select begun.id, done.tier, done.status, done.model, 0, 0, done.recovery, 0, 0, 0,
           done.duration_ms, done.detail, done.result || '{
               "calls": 0, "cached": 0, "prompt_tokens": 0, "completion_tokens": 0,
               "cost_usd": "0"
           }'
    from runs_tierresult done, begun, last
    where done.evaluation_id = last.id and done.tier < all (
        select tier from runs_tierresult
        where evaluation_id = last.id and status not in ('passed', 'failed')
    )
"""
"""What was achieved before, by the evaluation `last`, is carried over, and was paid for there."""

BEGIN_REVERIFICATION = f"""
    with last as (
        select * from runs_evaluation
        where run_id = %(run)s and purpose in ('live', 'reverify') and finished_at is not null
        order by id desc limit 1
    ), counted as (
        update runs_run set reverifications = reverifications + 1
        from last where runs_run.id = %(run)s
    ), begun as (
        insert into runs_evaluation (
            uuid, run_id, purpose, seq, process_version_id, verifier_version_id, engine_build,
            started_at, outcome, verdict, reason_code, severity_class, confidence_level, action,
            retry_strategy, tier_achieved, rule_trace, feedback, claims, claim_list, cost_usd,
            duration_ms
        )
        select gen_random_uuid(), last.run_id, 'reverify',
               1 + (
                   select coalesce(max(seq), 0) from runs_evaluation
                   where run_id = %(run)s and purpose = 'reverify'
               ),
               last.process_version_id, last.verifier_version_id, %(engine_build)s,
               %(now)s, '', '', '', '', '', '', '', 0, '[]', '{{}}', '{{}}', '[]', 0, 0
        from last
        returning id, uuid, purpose, process_version_id, verifier_version_id
    ), carried as ({_CARRIED}), told as (
        insert into runs_event (run_id, seq, kind, at, data)
        select last.run_id, 1 + (select max(seq) from runs_event where run_id = %(run)s),
               'evaluation_started', %(now)s, '{{"purpose": "reverify"}}'
        from last
    )
    select * from begun
"""  # noqa: S608 - constants of this module

CARRY_BESIDE = f"""
    with begun as (select %(evaluation)s::bigint as id), last as (select %(after)s::bigint as id)
    {_CARRIED} on conflict do nothing
"""

_WORK = """
    run.id, run.uuid, run.project_id, project.uuid, process.slug, run.task_id,
    run.process_id, run.phase_id, run.tier_requested, run.candidate_sha256, run.attempt,
    task.attempts_used, run.undecided_since, run.reverifications, run.created_at,
    submission.body::json,
    (
        select json_object_agg(file.path, json_build_array(blob.sha256, file.size))
        from runs_basefile file join runs_blob blob on blob.id = file.blob_id
        where file.run_id = run.id
    ),
    (
        select json_object_agg(file.path, json_build_array(blob.sha256, file.size))
        from runs_runfile file join runs_blob blob on blob.id = file.blob_id
        where file.run_id = run.id
    )
"""
_WORK_FROM = """
    runs_run run
    join runs_submission submission on submission.run_id = run.id
    join accounts_project project on project.id = run.project_id
    join processes_process process on process.id = run.process_id
    join runs_task task on task.id = run.task_id
"""

LOAD = f"select {_WORK} from {_WORK_FROM} where run.id = %(run)s"  # noqa: S608 - constants

LOAD_BESIDE = f"""
    select {_WORK}, task.max_attempts, live.uuid, live.reason_code,
           before.attempts, before.submissions, before.was_counted
    from {_WORK_FROM} left join runs_evaluation live on live.id = run.live_evaluation_id
    cross join lateral (
        select count(earlier.attempt) as attempts,
               count(*) filter (where earlier.verdict in ('accept', 'reject')) as submissions,
               coalesce(bool_or(
                   earlier.attempt is not null and earlier.candidate_sha256 = run.candidate_sha256
               ), false) as was_counted
        from runs_run earlier
        where earlier.task_id = run.task_id and earlier.finished_at < run.finished_at
    ) before
    where run.id = any(%(runs)s)
"""  # noqa: S608 - constants of this module
"""With what is needed to tell how the run was seen when it was live."""

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

_CONCLUDED = """
        update runs_evaluation
        set engine_build = %(engine_build)s, outcome = %(outcome)s, verdict = %(verdict)s,
            reason_code = %(reason_code)s, severity_class = %(severity_class)s,
            confidence = %(confidence)s, vote_share = %(vote_share)s,
            confidence_level = %(confidence_level)s,
            action = %(action)s, retry_strategy = %(retry_strategy)s,
            tier_achieved = %(tier_achieved)s, rule_trace = %(rule_trace)s, feedback = %(feedback)s, claims = %(claims)s,
            claim_list = %(claim_list)s, score = %(score)s, loop = %(loop)s,
            duration_ms = %(duration_ms)s, finished_at = %(now)s
        from held where runs_evaluation.id = %(evaluation)s
"""
_TOLD = """
        insert into runs_event (run_id, seq, kind, at, data)
        select held.id, last.seq + new.number, new.entry ->> 0, %(now)s, new.entry -> 1
        from held,
            (select coalesce(max(seq), 0) as seq from runs_event where run_id = %(run)s) last,
            jsonb_array_elements(%(events)s) with ordinality as new (entry, number)
"""

STORE_ENDING = f"""
    with held as (
        update runs_run
        set state = 'finished', next_at = null, lease_until = null, finished_at = %(now)s,
            live_evaluation_id = %(evaluation)s, verifier_version_id = %(verifier_version)s,
            outcome = %(outcome)s, verdict = %(verdict)s,
            final_outcome = case review_state
                when 'decided' then final_outcome else %(outcome)s end,
            reason_code = %(reason_code)s, severity_class = %(severity_class)s,
            confidence = %(confidence)s, vote_share = %(vote_share)s,
            confidence_level = %(confidence_level)s,
            action = %(action)s, retry_strategy = %(retry_strategy)s,
            rerun_execution = %(rerun_execution)s, tier_achieved = %(tier_achieved)s,
            attempt = case review_state when 'decided' then attempt else %(attempt)s end,
            hard_count = %(hard_count)s,
            advisory_count = %(advisory_count)s,
            review_state = case review_state
                when 'decided' then review_state else %(review_state)s end,
            result = %(result)s, asked_again = asked_again + %(asked_again)s
        where id = %(run)s and fence = %(fence)s and state = 'running'
        returning id, project_id
    ), concluded as ({_CONCLUDED}), accounted as (
        update runs_task
        set attempts_used = %(attempts_used)s, submissions = %(submissions)s,
            repeats = %(repeats)s, last_candidate_sha256 = %(last_candidate_sha256)s,
            last_outcome = %(last_outcome)s, exhausted = %(exhausted)s,
            exhausted_reason = %(exhausted_reason)s, updated_at = %(now)s
        from held where runs_task.id = %(task)s
    ), announced as (
        insert into runs_outboxevent (uuid, project_id, run_id, topic, payload, created_at)
        select gen_random_uuid(), project_id, id, %(topic)s, %(payload)s, %(now)s from held
    ), told as ({_TOLD})
    select count(*) from held
"""  # noqa: S608 - constants of this module

STORE_UNDECIDED = f"""
    with held as (
        update runs_run
        set state = 'queued', next_at = %(next_at)s, lease_until = %(next_at)s, claims = 0,
            live_evaluation_id = %(evaluation)s, tier_achieved = %(tier_achieved)s,
            undecided_since = coalesce(undecided_since, %(now)s),
            asked_again = asked_again + %(asked_again)s
        where id = %(run)s and fence = %(fence)s and state = 'running'
        returning id
    ), concluded as ({_CONCLUDED}), told as ({_TOLD})
    select count(*) from held
"""  # noqa: S608 - constants of this module
"""The run goes on: its task, its caller and its reviewers hear of it when it ends."""


ADD_COST = """
    with run as (
        update runs_run set cost_usd = cost_usd + %(cost_usd)s where id = %(run)s
        returning fence = %(fence)s and state = 'running' as is_held
    ), evaluated as (
        update runs_evaluation set cost_usd = runs_evaluation.cost_usd + %(cost_usd)s
        from run where runs_evaluation.id = %(evaluation)s
    )
    select is_held from run
"""

_COUNTED_CALL = """
    model, created_at, (not cached)::int, cached::int, prompt_tokens, completion_tokens, cost_usd
"""

KEEP_CALL = f"""
    insert into runs_modelcall (
        evaluation_id, tier, seq, judge, model, ask, tried, lost, prompt_version, request_id,
        reply_id, cache_key, nonce, cached, prompt_tokens, completion_tokens, cost_usd, recovery,
        error, duration_ms, created_at
    )
    select %(evaluation)s, %(tier)s, coalesce(max(seq), 0) + 1, %(judge)s, %(model)s, %(ask)s,
           %(tried)s, %(lost)s, %(prompt_version)s, %(request)s, %(reply)s, %(cache_key)s,
           %(nonce)s, %(cached)s, %(prompt_tokens)s, %(completion_tokens)s, %(cost_usd)s, '',
           %(error)s, %(duration_ms)s, %(now)s
    from runs_modelcall where evaluation_id = %(evaluation)s and tier = %(tier)s
    returning id, {_COUNTED_CALL}
"""  # noqa: S608 - constants of this module

NOTE_CALL = f"""
    update runs_modelcall set recovery = %(recovery)s
    where id = %(call)s and evaluation_id = %(evaluation)s and recovery = '' and lost = ''
    returning {_COUNTED_CALL}
"""  # noqa: S608 - constants of this module

COUNT_CALL = """
    insert into runs_callhour as counted (
        project_id, process_id, hour, model, recovery, lost, calls, cached, prompt_tokens,
        completion_tokens, cost_usd
    )
    values (
        %(project)s, %(process)s, %(hour)s, %(model)s, %(recovery)s, %(lost)s, %(calls)s,
        %(cached)s, %(prompt_tokens)s, %(completion_tokens)s, %(cost_usd)s
    )
    on conflict (project_id, hour, process_id, model, recovery, lost) do update
    set calls = counted.calls + excluded.calls, cached = counted.cached + excluded.cached,
        prompt_tokens = counted.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = counted.completion_tokens + excluded.completion_tokens,
        cost_usd = counted.cost_usd + excluded.cost_usd
"""

UNCOUNT_CALL = """
    update runs_callhour
    set calls = calls - %(calls)s, cached = cached - %(cached)s,
        prompt_tokens = prompt_tokens - %(prompt_tokens)s,
        completion_tokens = completion_tokens - %(completion_tokens)s,
        cost_usd = cost_usd - %(cost_usd)s
    where project_id = %(project)s and process_id = %(process)s and hour = %(hour)s
      and model = %(model)s and recovery = '' and lost = ''
"""


def run(statement: str, **parameters: Any) -> None:
    """Execute a statement of this module that returns no row."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def rows(statement: str, **parameters: Any) -> list[Row]:
    """Execute a statement of this module; return all its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def one(statement: str, **parameters: Any) -> Row | None:
    """Execute a statement of this module; return its first row."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row: Row | None = cursor.fetchone()
        return row
