"""Taking runs in, and cancelling them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.postgres.search import SearchVector
from django.db import IntegrityError, transaction
from django.db.models import Value
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.errors import Conflict, InputError, NotFound
from processes.definition.model import Definition, Phase
from processes.models import Process, ProcessVersion
from processes.selectors import definition_of
from verification.engine.attempts import budget
from verification.engine.floors import tier_of
from verification.engine.submission_hash import submission_sha256
from verification.runs import events, flags
from verification.runs.evidence_store import Digest, name_blobs
from verification.runs.intake.schemas import RunIn
from verification.runs.models import (
    OPEN_STATES,
    BaseFile,
    Run,
    RunFile,
    RunState,
    Submission,
    Task,
)
from verification.runs.submission import named_paths, submission_of
from verification.runs.wake import waker
from verification.verifiers.models import VerifierVersion

MAX_SEARCH_CHARACTERS = 50_000
MAX_IDEMPOTENCY_KEY = 200
MAX_MODEL = 120


@dataclass(frozen=True, slots=True)
class Submitted:
    run: Run
    is_new: bool


@dataclass(frozen=True, slots=True)
class Target:
    """What a submission is to be verified against."""

    process: Process
    version: ProcessVersion
    definition: Definition
    phase: Phase


@dataclass(frozen=True, slots=True)
class Intake:
    """A checked submission, ready to be stored.

    `kept` is the body as it may be stored, without files and after redaction; `files`, and `base`
    as they were before the work, are `{path: (sha256, size)}` of contents that are in the evidence
    store already.
    """

    body: RunIn
    kept: dict[str, Any]
    target: Target
    files: Mapping[str, Digest]
    base: Mapping[str, Digest]
    body_sha256: str
    idempotency_key: str | None
    keep_change: Callable[[Run], None] | None = None


def body_sha256(body: Mapping[str, Any], archive_sha256: str = "") -> str:
    """What makes two requests the same: the JSON's meaning and the archive's bytes."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{text}\n{archive_sha256}".encode()).hexdigest()


def known_run(*, access: Access, idempotency_key: str | None, body_sha256: str) -> Run | None:
    """The run this idempotency key made before.

    Raises:
        Conflict: the key came with another body.
    """
    if idempotency_key is None:
        return None
    run = Run.objects.filter(project=access.project, idempotency_key=idempotency_key).first()
    if run is not None and run.body_sha256 != body_sha256:
        raise Conflict(
            "idempotency.body_differs",
            "This Idempotency-Key came with another body before.",
            loc=("header", "Idempotency-Key"),
        )
    return run


def find_target(*, access: Access, body: RunIn) -> Target:
    """Find the process version and the phase that a submission names.

    Raises:
        NotFound: no such process or version here.
        InputError: `phase.unknown`, `phase.required`, `process.unpublished`.
    """
    process, version = _process_version(access, body)
    definition = definition_of(version.pk)
    return Target(process, version, definition, _phase(definition, body.phase))


def submit_run(*, access: Access, intake: Intake) -> Submitted:
    """Store a run and send a wake-up for it.

    Raises:
        Conflict: the task is exhausted, or the idempotency key came with another body.
    """
    try:
        with transaction.atomic():
            run = _store(access, intake)
    except IntegrityError:
        known = known_run(
            access=access,
            idempotency_key=intake.idempotency_key,
            body_sha256=intake.body_sha256,
        )
        if known is None:
            raise
        return Submitted(known, is_new=False)
    return Submitted(run, is_new=True)


def cancel_run(*, run: Run, actor: Actor) -> bool:
    """Cancel a run that is not over. False: it was over already."""
    now = timezone.now()
    with transaction.atomic():
        flags.lock(run.pk)
        won = (
            Run.objects.filter(pk=run.pk, state__in=OPEN_STATES).update(
                state=RunState.CANCELLED, next_at=None, lease_until=None, finished_at=now
            )
            == 1
        )
        if won:
            flags.withdraw(run.pk)
            events.append(run.pk, [("run_cancelled", {"by": actor.name})], at=now)
            record(actor, "run.cancelled", run, project=run.project)
    return won


def _process_version(access: Access, body: RunIn) -> tuple[Process, ProcessVersion]:
    process = (
        Process.objects.select_related("published")
        .defer("description", "published__source_text")
        .filter(project=access.project, slug=body.process)
        .first()
    )
    if process is None:
        raise NotFound("process.unknown", f"This project has no process {body.process!r}.")
    if body.process_version is None:
        if process.published is None:
            raise InputError(
                "process.unpublished",
                "No version of this process is published.",
                loc=("body", "process"),
            )
        return process, process.published
    versions = ProcessVersion.objects.filter(process=process).defer("source_text")
    version = versions.filter(number=body.process_version).first()
    if version is None:
        raise NotFound("process_version.unknown", f"There is no version {body.process_version}.")
    return process, version


def _phase(definition: Definition, phase_id: str | None) -> Phase:
    loc = ("body", "phase")
    known = ", ".join(phase.id for phase in definition.phases)
    if phase_id is None:
        if len(definition.phases) == 1:
            return definition.phases[0]
        raise InputError("phase.required", f"Name one of the phases {known}.", loc=loc)
    phase = definition.phase(phase_id)
    if phase is None:
        raise InputError("phase.unknown", f"The phases are {known}.", loc=loc)
    return phase


def _store(access: Access, intake: Intake) -> Run:
    now = timezone.now()
    target = intake.target
    body = intake.kept
    task = _task(access, intake)
    submission = submission_of(body, intake.files)
    title = (submission.task.description.strip().splitlines() or [""])[0][:200]
    run = Run.objects.create(
        project=access.project,
        process=target.process,
        process_version=target.version,
        verifier_version=_active_verifier(access),
        task=task,
        phase_id=target.phase.id,
        title=title,
        executor_model=submission.executor_model[:MAX_MODEL],  # redaction lengthens too
        idempotency_key=intake.idempotency_key,
        body_sha256=intake.body_sha256,
        candidate_sha256=submission_sha256(
            submission, {path: sha256 for path, (sha256, _size) in intake.base.items()}
        ),
        submitted_key=access.actor.api_key,
        submitted_user=access.actor.user,
        tier_requested=tier_of(target.phase, intake.body.tier),
        asks_gates=bool(target.phase.gates),
        next_at=now + timedelta(seconds=1),
        created_at=now,
        retain_until=now + timedelta(days=access.project.retention_days),
        search=SearchVector(Value(_searchable(submission.output, title, task)), config="simple"),
    )
    Submission.objects.create(run=run, body=body, named_paths=named_paths(body))
    _store_files(run, RunFile, intake.files)
    _store_files(run, BaseFile, intake.base)
    if intake.keep_change:
        intake.keep_change(run)
    events.append(run.pk, [("run_submitted", {"by": access.actor.name})], at=now)
    transaction.on_commit(waker(run.pk, asks_gates=run.asks_gates))
    return run


def _searchable(output: str, title: str, task: Task) -> str:
    return f"{task.external_id} {title} {output[:MAX_SEARCH_CHARACTERS]}"


def _active_verifier(access: Access) -> VerifierVersion:
    return VerifierVersion.objects.get(project=access.project, is_active=True)


def _task(access: Access, intake: Intake) -> Task:
    target, asked = intake.target, intake.body.task
    new = Task(
        project=access.project,
        process=target.process,
        external_id=asked.id,
        max_attempts=budget(asked.max_attempts, target.phase, target.definition.policy),
    )
    Task.objects.bulk_create([new], ignore_conflicts=True)
    task = Task.objects.get(process=target.process, external_id=asked.id)
    if task.exhausted:
        raise Conflict(
            task.exhausted_reason or "attempts_exhausted",
            f"Task {task.external_id!r} has used {task.attempts_used} of {task.max_attempts} "
            "attempts and takes no more submissions. Submit other work under another task id. "
            "Only a person can open this task again, by accepting one of its rejected runs.",
            loc=("body", "task", "id"),
        )
    return task


def _store_files(
    run: Run, rows: type[RunFile] | type[BaseFile], files: Mapping[str, Digest]
) -> None:
    if not files:
        return
    blobs = name_blobs(run.project, dict(files.values()))
    named = [
        rows(run=run, path=path, blob=blobs[sha256], size=size)
        for path, (sha256, size) in files.items()
    ]
    rows._default_manager.bulk_create(named)  # type: ignore[arg-type]
