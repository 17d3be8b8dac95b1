"""Replays are started and cancelled here; workers do the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, FaultError, InputError, Issue
from processes.definition.load import load
from processes.models import Process, ProcessVersion
from verification.engine.golden.standing import Change
from verification.engine.verifier import Engine, VerifierSpec
from verification.golden.documents.schemas import TAG
from verification.golden.models import (
    OPEN_STATES,
    Replay,
    ReplayPurpose,
    ReplayResult,
    ReplayState,
)
from verification.golden.replays import selectors, waking, working
from verification.golden.replays.selectors import Pinned
from verification.runs.intake.reading import MAX_SHOWN_ISSUES
from verification.verifiers.models import VerifierVersion

MAX_OPEN = 10
"""Replays of one project that are not over yet."""
MAX_TAGS = 20
INSERTS_AT_ONCE = 2_000
NOTHING = "No case fits what was asked for: nothing was replayed."


@dataclass(frozen=True, slots=True)
class Wish:
    """What a replay is asked to run over, with what, by whom and why."""

    project: Project
    actor: Actor
    purpose: str
    verifier: VerifierVersion
    process: Process | None = None
    process_version: ProcessVersion | None = None
    candidate_text: str = ""
    tags: Sequence[str] = field(default=())
    is_live: bool = False
    with_canary: bool = False

    @property
    def is_live_line(self) -> bool:
        """Judges that are asked anew answer as they like: that is no past to be held against."""
        is_published = self.process_version is None or (
            self.process is not None and self.process.published_id == self.process_version.pk
        )
        is_judging = self.verifier.is_active and is_published
        return is_judging and not self.candidate_text and not self.is_live


def start(
    *,
    project: Project,
    actor: Actor,
    purpose: str = ReplayPurpose.MANUAL,
    verifier: VerifierVersion | None = None,
    process: Process | None = None,
    process_version: ProcessVersion | None = None,
    candidate_text: str = "",
    tags: Sequence[str] = (),
    is_live: bool = False,
    with_canary: bool = False,
    is_over_all: bool = False,
) -> Replay:
    """Start a replay; workers are woken when it is stored. `verifier` None: the active one.

    `candidate_text` and `process_version` stand in for the published version of their process.
    They leave the other processes' cases out, but for `is_over_all`, which takes these as published.
    With nothing to replay it is over at once, and says so.

    Raises:
        InputError: every error of the text with its line; `replay.no_judge`;
            `replay.other_process`; `replay.tags`.
        Conflict: `replay.too_many` of this project are not over yet.
    """
    wish = Wish(
        project,
        actor,
        purpose,
        verifier or _active(project),
        process or _process_of(process_version, is_over_all=is_over_all),
        process_version,
        candidate_text,
        tuple(dict.fromkeys(tags)),
        is_live,
        with_canary or purpose == ReplayPurpose.CUTOVER,
    )
    return _started(_checked(wish))


def _process_of(version: ProcessVersion | None, *, is_over_all: bool) -> Process | None:
    return version.process if version and not is_over_all else None


def _started(wish: Wish) -> Replay:
    with transaction.atomic():
        _refuse_too_many(wish.project)
        cases = selectors.asked_for(
            wish.project, process=wish.process, tags=wish.tags, with_canary=wish.with_canary
        )
        replay = _store(wish, cases)
        record(wish.actor, "replay.started", replay, project=wish.project)
        if not replay.is_over:
            transaction.on_commit(waking.waker(replay.pk, replay.total))
    return replay


def cancel(*, access: Access, replay: UUID) -> bool:
    """Cancel a replay; its workers stop at their next batch. False: it was over already."""
    access.need(Role.EDITOR)
    found = selectors.replay_of(access.project, replay)
    with transaction.atomic():
        open_ones = Replay.objects.filter(pk=found.pk, state__in=OPEN_STATES)
        won = open_ones.update(
            state=ReplayState.CANCELLED, finished_at=timezone.now(), next_at=None
        )
        if won:
            record(access.actor, "replay.cancelled", found, project=access.project)
            waking.tell(found.uuid)
    return bool(won)


def run_now(replay: Replay) -> None:
    """Work it off in this process, to its end."""
    working.work_on(replay.pk, seconds=math.inf)
    replay.refresh_from_db()


def check_tags(tags: Sequence[str]) -> None:
    """Raises `InputError`: `replay.tags`."""
    if len(tags) > MAX_TAGS or any(not TAG.fullmatch(tag) for tag in tags):
        raise InputError(
            "replay.tags",
            f"Up to {MAX_TAGS} tags, of small letters, digits and hyphens.",
            loc=("body", "tags"),
        )


def _active(project: Project) -> VerifierVersion:
    found = VerifierVersion.objects.filter(project=project, is_active=True).first()
    if found is None:
        raise FaultError(f"project {project.pk} has no active verifier version")
    return found


def _checked(wish: Wish) -> Wish:
    check_tags(wish.tags)
    if wish.is_live and not VerifierSpec.from_json(wish.verifier.spec).models.is_configured:
        raise InputError(
            "replay.no_judge",
            f"Verifier version {wish.verifier.number} names no judge that could be asked.",
            loc=("body", "live"),
        )
    version = wish.process_version
    if version and wish.process and version.process_id != wish.process.pk:
        raise InputError(
            "replay.other_process",
            f"This is no version of {wish.process}.",
            loc=("body", "process_version"),
        )
    return _with_candidate(wish) if wish.candidate_text else wish


def _with_candidate(wish: Wish) -> Wish:
    """Raises `InputError` unless the text is a process of this project that loads."""
    loaded = load(wish.candidate_text)
    if loaded.definition is None:
        issues = [
            Issue(one.code, f"Line {one.line}: {one.message}", ("body", "candidate_text", one.line))
            for one in loaded.errors[:MAX_SHOWN_ISSUES]
        ]
        raise InputError.of(issues)
    process = wish.process or wish.project.processes.filter(slug=loaded.definition.name).first()
    if process is None or process.slug != loaded.definition.name:
        raise InputError(
            "replay.other_process",
            f"The text is a process named {loaded.definition.name}.",
            loc=("body", "candidate_text"),
        )
    return replace(wish, process=process, process_version=None)


def _refuse_too_many(project: Project) -> None:
    """Of two that start at once, the second sees the first."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('replays'), %s)", [project.pk])
    if Replay.objects.filter(project=project, state__in=OPEN_STATES).count() >= MAX_OPEN:
        raise Conflict(
            "replay.too_many",
            f"{MAX_OPEN} replays of this project are not over yet: wait, or cancel one.",
        )


def _store(wish: Wish, cases: Sequence[Pinned]) -> Replay:
    now, text = timezone.now(), wish.candidate_text
    replay = Replay.objects.create(
        project=wish.project,
        purpose=wish.purpose,
        verifier_version=wish.verifier,
        legacy_version=_legacy_of(wish.project),
        process=wish.process,
        process_version=wish.process_version,
        candidate_text=text,
        candidate_sha256=selectors.candidate_sha256(text),
        tags=list(wish.tags),
        is_live=wish.is_live,
        is_live_line=wish.is_live_line,
        corpus_sha256=selectors.sha256_of(cases),
        total=len(cases),
        created_by=wish.actor.name[:200],
        **(_waiting(now) if cases else _over(now)),
    )
    _add_results(replay, wish, cases)
    return replay


def _add_results(replay: Replay, wish: Wish, cases: Sequence[Pinned]) -> None:
    versions = _process_versions(wish)
    ReplayResult.objects.bulk_create(
        [
            ReplayResult(
                replay=replay,
                case_id=case.case,
                case_version_id=case.version,
                process_version_id=None if case.has_own_process else versions.get(case.process),
            )
            for case in cases
        ],
        batch_size=INSERTS_AT_ONCE,
    )


def _waiting(now: datetime) -> dict[str, Any]:
    return {"next_at": now + waking.AGAIN}


def _over(now: datetime) -> dict[str, Any]:
    return {
        "state": ReplayState.FINISHED,
        "counts": dict.fromkeys(Change, 0),
        "error_text": NOTHING,
        "started_at": now,
        "finished_at": now,
    }


def _legacy_of(project: Project) -> VerifierVersion | None:
    """The newest version that is the old engine as it was."""
    rows = VerifierVersion.objects.filter(project=project, engine=Engine.LEGACY)
    plain = (
        one for one in rows.order_by("-number") if VerifierSpec.from_json(one.spec).is_as_it_came
    )
    return next(plain, None)


def _process_versions(wish: Wish) -> dict[str, int]:
    """By which version of its process each case is taken; a candidate text is none."""
    if wish.candidate_text:
        return {}
    published = wish.project.processes.filter(published__isnull=False)
    versions = dict(published.values_list("slug", "published_id"))
    if wish.process_version:
        versions[wish.process_version.process.slug] = wish.process_version.pk
    return versions
