"""Cases of runs: what was submitted and answered then, and what must come of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, NotFound
from processes.selectors import definition_of
from verification.engine.fakes import MemoryWorkspace
from verification.engine.golden.recordings import Played
from verification.engine.golden.replay import CannotReplay, World, replay
from verification.engine.protocol.prompt import token_of_fence
from verification.engine.verifier import VerifierSpec
from verification.golden.cases.expectation import expected_of, is_decided
from verification.golden.cases.past import history_of
from verification.golden.cases.recording import never_asked, renumbered, replies_of, seats_of
from verification.golden.cases.services import create_case
from verification.golden.documents.reading import NOT_IN_RUN, read_case
from verification.golden.documents.writing import with_files
from verification.golden.models import GoldenCase
from verification.reviews.disclosure import is_over
from verification.reviews.models import CaseDraft
from verification.runs.evidence_store import read_blob
from verification.runs.models import Evaluation, Finding, GateResult, Review, Run, RunState
from verification.runs.submission import fence_of
from verification.runs.worker import probe

MAX_TRIES = 4
MAX_DETAIL = 500
FAILURE = ("name", "status", "message", "path", "line")
PROBLEM = ("message", "path", "line", "column", "rule", "severity", "waived")
NEVER_ASKED = ("verifier_unavailable", "budget_exhausted")
"""For these, nothing was sent to a judge at all."""


def document_of_run(
    run: Run, *, name: str = "", expected_outcome: str | None = None
) -> dict[str, Any]:
    """The case that a run is: the same submission, answers, history and marks.

    What people decided is expected, else what came of it. `expected_outcome` is somebody's word
    beyond that.

    Raises:
        Conflict: `golden.run_open`, it has not ended; `golden.review_open`, it is being reviewed
            blind.
        EvidenceLost: a file or an answer is not in our store any more.
    """
    evaluation = _evaluation_of(run)
    files = {one.path: one.blob for one in run.files.select_related("blob__project")}
    digests = {path: (blob.sha256, blob.size) for path, blob in files.items()}
    spec = {
        "id": name or name_of(run),
        "guards": _guarded(run),
        "process": run.process.slug,
        "phase": run.phase_id,
        "tier": run.submission.body.get("tier"),
        "provenance": _provenance(run, evaluation),
        **_recorded(run, evaluation, fence_of(run.project.uuid, run.submission.body, digests)),
        "expected": expected_of(run, evaluation, expected_outcome),
    }
    kept = {field: value for field, value in spec.items() if value not in (None, [], {})}
    contents = {path: read_blob(blob) for path, blob in files.items()}
    return _heard(with_files(kept, contents), evaluation)


def _recorded(run: Run, evaluation: Evaluation, fence: str) -> dict[str, Any]:
    """What the engine was given, but for the files."""
    body = run.submission.body
    return {
        "run": {field: value for field, value in body.items() if field not in NOT_IN_RUN},
        "judges": seats_of(evaluation),
        "replies": replies_of(evaluation, token=token_of_fence(fence)),
        "gates": _gates(evaluation),
        "history": history_of(run, evaluation),
        "fence": fence,
    }


def case_of_run(
    *,
    access: Access,
    run: Run,
    tags: Sequence[str] = (),
    expected_outcome: str | None = None,
) -> GoldenCase:
    """Make a case of a run, once: the case that is there already is returned as it is.

    Raises:
        Forbidden: below editor.
        Conflict: as `document_of_run`; `golden.name_taken`, its case was retired.
        InputError: it cannot be a case as it is.
    """
    access.need(Role.EDITOR)
    before = made_of(run)
    if before:
        return before
    document = document_of_run(run, expected_outcome=expected_outcome)
    try:
        return store_case_of(access=access, run=run, document=document, tags=tags)
    except Conflict:
        made = made_of(run)  # by somebody who was faster
        if made is None:
            raise
        return made


def store_case_of(
    *, access: Access, run: Run, document: Mapping[str, Any], tags: Sequence[str] = ()
) -> GoldenCase:
    """Make a case of what `document_of_run` gave, which may have been changed since."""
    told: dict[str, Any] = {"owner": access.actor.name[:200]}
    if tags:
        told["tags"] = list(dict.fromkeys(tags))
    return create_case(
        access=access, document={**document, **told}, run=run, reason="Made from a run."
    )


def case_of_draft(*, access: Access, draft: UUID) -> GoldenCase:
    """Make a case of a run that a reviewer wants to be one; the draft is gone then.

    Raises:
        Forbidden: below editor.
        NotFound: `case_draft.unknown`.
        Conflict, InputError: as `case_of_run`.
    """
    access.need(Role.EDITOR)
    rows = CaseDraft.objects.select_related("run__project", "run__process", "run__task")
    found = rows.filter(project=access.project, uuid=draft).first()
    if found is None:
        raise NotFound("case_draft.unknown", "This project has no such draft.")
    case = case_of_run(access=access, run=found.run, expected_outcome=found.outcome or None)
    with transaction.atomic():
        removed, _ = CaseDraft.objects.filter(pk=found.pk).delete()
        if removed:
            record(access.actor, "case_draft.taken", found, project=access.project)
    return case


def name_of(run: Run) -> str:
    """Of its title and its id: `summary-of-the-third-quarter-1a2b3c4d`."""
    words = re.sub(r"[^a-z0-9]+", "-", (run.title or run.task.external_id).lower()).strip("-")
    return f"{words[:80].rstrip('-') or 'run'}-{run.uuid.hex[:8]}"


def made_of(run: Run) -> GoldenCase | None:
    """The case that was made of a run before, unless it is retired or has another name."""
    rows = GoldenCase.objects.select_related("current", "project")
    return rows.filter(
        project=run.project_id, run=run, name=name_of(run), retired_at__isnull=True
    ).first()


def _evaluation_of(run: Run) -> Evaluation:
    evaluation = run.live_evaluation
    if run.state != RunState.FINISHED or evaluation is None:
        raise Conflict("golden.run_open", "Only a run that has finished can be a case.")
    review = Review.objects.filter(run=run, is_blind=True).first()
    if review and not is_over(review):
        raise Conflict(
            "golden.review_open", "This run is being reviewed blind: its verdict is still open."
        )
    return evaluation


def _guarded(run: Run) -> str:
    decided = "as people decided" if is_decided(run) else "as it was judged"
    return f"“{(run.title or run.task.external_id)[:200]}” comes out {decided}."


def _provenance(run: Run, evaluation: Evaluation) -> dict[str, str]:
    told = {
        "run": str(run.uuid),
        "evaluation": str(evaluation.uuid),
        "process_version": str(evaluation.process_version.number),
        "verifier_version": str(evaluation.verifier_version.number),
    }
    review = Review.objects.filter(run=run).only("uuid").first()
    return told | ({"review": str(review.uuid)} if review else {})


def _gates(evaluation: Evaluation) -> list[dict[str, Any]]:
    rows = GateResult.objects.filter(evaluation=evaluation).order_by("position")
    return [_gate(row) for row in rows]


def _gate(row: GateResult) -> dict[str, Any]:
    told = row.report
    return {
        "gate": row.gate,
        "status": row.status,
        "component": row.component,
        "exit_code": row.exit_code,
        "tests": row.tests,
        "detail": row.detail[:MAX_DETAIL],
        "contradiction": told.get("contradiction", "")[:MAX_DETAIL],
        "is_guess": told.get("is_guess", False),
        "is_word": told.get("is_word", False),
        "is_lost": told.get("is_lost", False),
        "failures": _picked(told.get("failures", []), FAILURE),
        "problems": _picked(told.get("problems", []), PROBLEM),
        "old_failures": told.get("old_failures", 0),
        "old_problems": told.get("old_problems", 0),
        "is_old": told.get("is_old", False),
    }


def _picked(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in names if name in row} for row in rows]


def _heard(document: dict[str, Any], evaluation: Evaluation) -> dict[str, Any]:
    """Try it: each answer finds its question, and what could not be asked is known as lost."""
    if evaluation.tier_achieved < 2 and not evaluation.tiers.filter(tier__gte=2).exists():
        return document
    reasons = dict(
        Finding.objects.filter(evaluation=evaluation, reason_code__in=NEVER_ASKED).values_list(
            "tier", "reason_code"
        )
    )
    for _ in range(MAX_TRIES):
        played = _played(document, evaluation)
        replies = renumbered(document.get("replies", []), played)
        lost = never_asked(played, reasons)
        if replies == document.get("replies", []) and not lost:
            break
        document = {**document, "replies": [*replies, *lost]}
    return document


def _played(document: dict[str, Any], evaluation: Evaluation) -> Sequence[Played]:
    case = read_case(document)
    definition = definition_of(evaluation.process_version_id)
    verifier = VerifierSpec.from_json(evaluation.verifier_version.spec)
    world = World(MemoryWorkspace(case.files), probe())
    try:
        return replay(case.given, definition, verifier, world).played
    except CannotReplay:
        return ()
