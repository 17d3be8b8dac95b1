"""Rows for tests, as the services would have written them."""

from __future__ import annotations

import hashlib
import itertools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.search import SearchVector
from django.db import connection
from django.db.models import TextField, Value
from django.test import Client
from django.utils import timezone

from loomverify.accounts.models import Member, Project, Role, User
from processes.models import Process, ProcessVersion
from verification.engine.outcome import Outcome, Verdict
from verification.engine.verifier import VerifierSpec
from verification.runs import evidence_store
from verification.runs.figures import mark_dirty
from verification.runs.models import (
    DirtyHour,
    Evaluation,
    Event,
    Finding,
    Run,
    RunFile,
    RunState,
    Submission,
    Task,
    TierResult,
)
from verification.runs.submission import named_paths
from verification.verifiers.models import VerifierVersion

_numbers = itertools.count(1)

SOURCE_TEXT = """\
# How small pieces of work are checked.
name: small-work
version: "1.0"
description: Small pieces of work
phases:
  - id: build   # the work itself
    description: Build what was asked for
    acceptance_criteria: The parser reads all three files
    deliverables:
      - "report.json — the figures"
  - id: write
    description: Write it down
    depends_on: [build]
    verification_tier: 2
verification:
  rules:
    - name: no-placeholders
      check: "TODO|TBD"
      type: regex
      applies_to_phases: ["*"]
    - name: figures-have-sources
      check: Every figure names its source
      severity: error
      applies_to_phases: [write]
"""


def make_project(slug: str = "", *, source_text: str = SOURCE_TEXT) -> Project:
    """A project with an active verifier and one published process, `small-work`."""
    slug = slug or f"project-{next(_numbers)}"
    project = Project.objects.create(slug=slug, name=slug.replace("-", " ").capitalize())
    spec = VerifierSpec()
    VerifierVersion.objects.create(
        project=project,
        number=1,
        engine=spec.engine.value,
        spec=spec.to_json(),
        spec_sha256=spec.sha256,
        engine_build=spec.engine_build,
        is_active=True,
    )
    make_process(project, source_text=source_text)
    return project


def make_process(
    project: Project, *, slug: str = "small-work", source_text: str = SOURCE_TEXT
) -> Process:
    process = Process.objects.create(project=project, slug=slug, title=slug.capitalize())
    add_version(process, source_text)
    return process


def add_version(process: Process, source_text: str) -> ProcessVersion:
    """The process's next version, published."""
    version = ProcessVersion.objects.create(
        process=process,
        number=process.versions.count() + 1,
        source_text=source_text,
        sha256=hashlib.sha256(source_text.encode()).hexdigest(),
        published_at=timezone.now(),
    )
    process.published = version
    process.save(update_fields=["published"])
    return version


def make_user(project: Project | None = None, role: Role = Role.VIEWER, name: str = "") -> User:
    """A person without a password: tests sign them in by force."""
    user = User.objects.create_user(name or f"user-{next(_numbers)}")
    if project:
        Member.objects.create(project=project, user=user, role=role)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="loomverify.accounts.backends.NameOrEmailBackend")
    return client


def make_task(process: Process, external_id: str = "") -> Task:
    return Task.objects.create(
        project=process.project,
        process=process,
        external_id=external_id or f"task-{next(_numbers)}",
        max_attempts=3,
    )


def make_run(
    project: Project,
    *,
    process: Process | None = None,
    task: Task | None = None,
    phase: str = "build",
    state: RunState = RunState.FINISHED,
    outcome: Outcome = Outcome.PASS,
    verdict: Verdict | None = None,
    reason_code: str = "",
    created_at: datetime | None = None,
    output: str = "",
    files: Mapping[str, bytes] | None = None,
    findings: Sequence[Mapping[str, Any]] = (),
    body: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
    title: str = "",
    **columns: Any,
) -> Run:
    """A run with its submission and, when finished, a live evaluation with its findings."""
    process = process or project.processes.get(slug="small-work")
    task = task or make_task(process)
    finished = state == RunState.FINISHED
    created_at = created_at or timezone.now()
    run = Run.objects.create(
        project=project,
        process=process,
        process_version=process.published or process.versions.get(),
        verifier_version=project.verifiers.get(number=1),
        task=task,
        phase_id=phase,
        title=title or f"Work on {task.external_id}",
        body_sha256=uuid.uuid4().hex * 2,
        candidate_sha256=uuid.uuid4().hex * 2,
        state=state,
        outcome=outcome if finished else None,
        verdict=(verdict or usual_verdict(outcome)) if finished else "",
        reason_code=reason_code if finished else "",
        tier_requested=columns.pop("tier_requested", 1),
        tier_achieved=columns.pop("tier_achieved", 1 if finished else 0),
        created_at=created_at,
        finished_at=created_at + timedelta(milliseconds=48) if finished else None,
        **columns,
    )
    task_body = {"id": task.external_id, "description": run.title}
    said = {
        "process": process.slug,
        "phase": phase,
        "output": output,
        **(body or {}),
        "task": {**task_body, **(body or {}).get("task", {})},
    }
    Submission.objects.create(run=run, body=said, named_paths=named_paths(said))
    add_files(run, files or {})
    Event.objects.create(run=run, seq=1, kind="run_submitted", at=created_at, data={})
    if finished:
        evaluate(run, findings=findings, **(evaluation or {}))
        mark_dirty(run)
    index_text([run])
    return run


def usual_verdict(outcome: Outcome) -> Verdict:
    return Verdict.REJECT if outcome is Outcome.FAIL else Verdict.ACCEPT


def add_files(run: Run, files: Mapping[str, bytes]) -> None:
    evidence_store.store_contents(run.project, files.values())
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    sizes = {digests[path]: len(content) for path, content in files.items()}
    blobs = evidence_store.name_blobs(run.project, sizes)
    RunFile.objects.bulk_create(
        RunFile(run=run, path=path, blob=blobs[digests[path]], size=len(content))
        for path, content in files.items()
    )


def evaluate(
    run: Run, *, purpose: str = "live", findings: Sequence[Mapping[str, Any]] = (), **columns: Any
) -> Evaluation:
    """Store an evaluation that ended as the run did; a live one becomes the one that counts."""
    evaluation = Evaluation.objects.create(
        run=run,
        purpose=purpose,
        seq=run.evaluations.filter(purpose=purpose).count() + 1,
        process_version=run.process_version,
        verifier_version=run.verifier_version,
        engine_build="1",
        started_at=run.created_at,
        finished_at=run.finished_at,
        **{
            "tier_achieved": run.tier_achieved,
            "outcome": run.outcome or "",
            "verdict": run.verdict,
            "reason_code": run.reason_code,
            "duration_ms": 48,
            **columns,
        },
    )
    TierResult.objects.create(
        evaluation=evaluation,
        tier=1,
        status="failed" if run.verdict == Verdict.REJECT else "passed",
        duration_ms=14,
    )
    Finding.objects.bulk_create(
        Finding(**_finding(run, evaluation, position, given))
        for position, given in enumerate(findings)
    )
    if purpose == "live":
        run.live_evaluation = evaluation
        run.save(update_fields=["live_evaluation"])
    return evaluation


def _finding(
    run: Run, evaluation: Evaluation, position: int, given: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "project": run.project,
        "evaluation": evaluation,
        "tier": 1,
        "position": position,
        "rule": "no-placeholders",
        "source": "deterministic",
        "enforcement": "hard",
        "target": "output",
        "severity": "error",
        "verdict": "violated",
        "reason_code": "rule_violated",
        "message": "A placeholder is left.",
        "fingerprint": uuid.uuid4().hex,
        **given,
    }


def index_text(runs: Iterable[Run]) -> None:
    """Make runs findable by title and task."""
    for run in runs:
        text = Value(f"{run.title} {run.task.external_id}", output_field=TextField())
        Run.objects.filter(pk=run.pk).update(search=SearchVector(text, config="simple"))


MIX: tuple[tuple[str, str, str, str], ...] = (
    *(("pass", "accept", "", ""),) * 11,
    *(("pass_with_warnings", "accept", "rule_violated", ""),) * 4,
    ("partial_verified", "accept", "unconfirmed_above_threshold", "semantic"),
    ("fail", "reject", "tests_failed", "hard_invariant"),
    ("fail", "reject", "syntax_invalid", "hard_invariant"),
    ("fail", "reject", "rule_violated", "semantic"),
    ("fail", "undecided", "parse_inconclusive", "inconclusive"),
)
"""Outcome, verdict, reason code and severity class of twenty runs that look like real life."""


def title_of(number: int) -> str:
    return f"Piece of work {number} of {('parser', 'report', 'summary')[number % 3]}"


PATTERN_ROWS = 2000


def generate_runs(project: Project, count: int, *, days: int = 30) -> None:
    """Store many finished runs, spread over the last days, without evaluations.

    The first rows are made here; the database copies them until there are enough.
    """
    process = project.processes.get(slug="small-work")
    start, pattern, span = next(_numbers), min(count, PATTERN_ROWS), timedelta(days=days)
    tasks = Task.objects.bulk_create(
        Task(project=project, process=process, external_id=f"bulk-{start}-{n}", max_attempts=3)
        for n in range(max(1, pattern // 3))
    )
    version, verifier = process.published, project.verifiers.get(number=1)
    assert version is not None
    now = timezone.now()
    rows = Run.objects.bulk_create(
        Run(
            project=project,
            process=process,
            process_version=version,
            verifier_version=verifier,
            task=tasks[n % len(tasks)],
            phase_id="build" if n % 3 else "write",
            title=title_of(n),
            search=SearchVector(Value(title_of(n)), config="simple"),
            body_sha256=f"{n:064x}",
            candidate_sha256=f"{n:064x}",
            state=RunState.FINISHED,
            tier_requested=1 + n % 2,
            tier_achieved=1 + n % 2,
            cost_usd=Decimal("0.0012") * (n % 2),
            created_at=now - span * (n / pattern),
            finished_at=now - span * (n / pattern) + timedelta(milliseconds=50),
            **dict(zip(JUDGED, MIX[n * 7 % 20], strict=True)),
        )
        for n in range(pattern)
    )
    _copy_runs([row.pk for row in rows], count - pattern, span / pattern)
    _mark_hours(project)


JUDGED = ("outcome", "verdict", "reason_code", "severity_class")


def _copy_runs(ids: Sequence[int], count: int, step: timedelta) -> None:
    """Copy runs until `count` are added, each copy a little older than its pattern."""
    if not count:
        return
    copies = -(-count // len(ids))
    changed = {
        "uuid": "gen_random_uuid()",
        "created_at": "created_at - %(seconds)s * interval '1 second' * (copy::float / %(copies)s)",
        "finished_at": "finished_at - %(seconds)s * interval '1 second' * (copy::float / %(copies)s)",
    }
    names = [str(field.column) for field in Run._meta.concrete_fields if not field.primary_key]
    values = ", ".join(changed.get(name, f'"{name}"') for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            insert into runs_run ({columns}) select {values}
            from runs_run, generate_series(1, %(copies)s) as copy
            where id = any(%(ids)s) limit %(count)s
            """,  # noqa: S608 - names of our own columns
            {"seconds": step.total_seconds(), "copies": copies, "ids": list(ids), "count": count},
        )


def _mark_hours(project: Project) -> None:
    moments = Run.objects.filter(project=project).values_list("created_at", flat=True)
    hours = {at.replace(minute=0, second=0, microsecond=0) for at in moments}
    DirtyHour.objects.bulk_create(
        [DirtyHour(project=project, hour=hour) for hour in hours], ignore_conflicts=True
    )
