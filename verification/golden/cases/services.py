"""Cases are made, changed, accepted and retired: the only writers, one transaction each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from verification.engine.golden.standing import Standing
from verification.golden.cases.accepting import accepted
from verification.golden.cases.redacting import redacted
from verification.golden.cases.selectors import case_of, document_of
from verification.golden.cases.shipping import ensure_shipped as ensure_shipped
from verification.golden.cases.versions import Content, add, store_files, told
from verification.golden.documents.reading import read_case
from verification.golden.models import GoldenCase, GoldenCaseVersion, ReplayResult
from verification.runs.models import Run

MAX_REASON_CHARS = 1000
CHANGED, ACCEPTED = "golden_case.changed", "golden_case.accepted"


def create_case(
    *, access: Access, document: Mapping[str, Any], run: Run | None = None, reason: str = ""
) -> GoldenCase:
    """Make a case of a document. `run` is the one it was made from.

    Raises:
        Forbidden: below editor.
        InputError: 422, all that is wrong with the document, with its places.
        Conflict: `golden.name_taken`, also by a case that was retired.
    """
    access.need(Role.EDITOR)
    content = Content.of(read_case(redacted(access.project, document)))
    store_files(access.project, content)
    name = content.read.document.id
    try:
        with transaction.atomic():
            case = GoldenCase.objects.create(
                project=access.project,
                name=name,
                run=run,
                created_by=access.actor.name[:200],
                **told(content),
            )
            add(case, content, actor=access.actor, reason=_kept(reason))
            record(access.actor, "golden_case.made", case, project=access.project, reason=reason)
    except IntegrityError as error:
        raise _name_taken(name) from error
    return case


def change_case(
    *,
    access: Access,
    case: UUID,
    document: Mapping[str, Any],
    reason: str,
    instead_of: int | None = None,
) -> GoldenCaseVersion:
    """Add a version; the same document again is the version that is there.

    `instead_of` is the number of the version that was edited.

    Raises:
        Forbidden: below editor.
        NotFound: `golden_case.unknown`.
        InputError: what is wrong with the document; `reason.missing`; `golden.renamed`.
        Conflict: `golden.changed`, somebody else was faster; `golden.retired`.
    """
    access.need(Role.EDITOR)
    row = case_of(access.project, case)
    return _replace(_Change(access, row, document, reason, instead_of, CHANGED))


def accept(*, access: Access, result: int | ReplayResult, reason: str) -> GoldenCaseVersion:
    """Expect from now on what a replay observed where it differed: a version without a past.

    Raises:
        Forbidden: below editor.
        NotFound: `replay_result.unknown`.
        InputError: `reason.missing`.
        Conflict: `golden.not_judged`, `golden.nothing_to_accept`; `golden.changed`: the case is
            not the one any more that was replayed; `golden.retired`.
    """
    access.need(Role.EDITOR)
    row = _result(access, result)
    if row.standing != Standing.FAILING:
        code = "not_judged" if row.standing != Standing.HELD else "nothing_to_accept"
        raise Conflict(f"golden.{code}", _NOT_TO_ACCEPT[code])
    document = document_of(row.case_version)
    document["expected"] = accepted(document["expected"], row.observed, row.differences)
    number = row.case_version.number
    return _replace(_Change(access, row.case, document, reason, number, ACCEPTED))


def retire(*, access: Access, case: UUID, reason: str = "") -> bool:
    """Keep a case, and replay it no more. False: it was retired already.

    Raises:
        Forbidden: below editor.
        NotFound: `golden_case.unknown`.
    """
    return _set_retired(access, case, is_retired=True, reason=reason)


def restore(*, access: Access, case: UUID) -> bool:
    """Replay a retired case again. False: it is not retired.

    Raises:
        Forbidden: below editor.
        NotFound: `golden_case.unknown`.
    """
    return _set_retired(access, case, is_retired=False, reason="")


_NOT_TO_ACCEPT = {
    "not_judged": "This case could not be judged: there is nothing that could be expected of it.",
    "nothing_to_accept": "This case came out as it is expected to.",
}


@dataclass(frozen=True, slots=True)
class _Change:
    access: Access
    case: GoldenCase
    document: Mapping[str, Any]
    reason: str
    instead_of: int | None
    verb: str


def _replace(change: _Change) -> GoldenCaseVersion:
    access = change.access
    if not change.reason.strip():
        raise InputError("reason.missing", "Say why, in a sentence.", loc=("body", "reason"))
    content = Content.of(read_case(redacted(access.project, change.document)))
    if content.read.document.id != change.case.name:
        raise InputError("golden.renamed", "A case keeps its name.", loc=("body", "id"))
    store_files(access.project, content)
    with transaction.atomic():
        # Its version is read after the lock: a join would show what was there before we waited.
        case = GoldenCase.objects.select_for_update(no_key=True).get(pk=change.case.pk)
        before = case.current
        if case.retired_at is not None:
            raise Conflict("golden.retired", "This case is retired; restore it first.")
        if before and change.instead_of not in (None, before.number):
            raise Conflict(
                "golden.changed",
                f"Somebody has changed this case: it is at version {before.number} by now.",
            )
        if before and before.spec_sha256 == content.spec_sha256:
            return before
        version = add(case, content, actor=access.actor, reason=_kept(change.reason))
        diff = {"version": [before.number if before else None, version.number]}
        record(
            access.actor, change.verb, case,
            project=access.project, diff=diff, reason=change.reason,
        )  # fmt: skip
    return version


def _result(access: Access, result: int | ReplayResult) -> ReplayResult:
    pk = result.pk if isinstance(result, ReplayResult) else result
    rows = ReplayResult.objects.select_related("case__project", "case_version__case__project")
    found = rows.filter(replay__project=access.project, pk=pk).first()
    if found is None:
        raise NotFound("replay_result.unknown", "This project has no such result.")
    return found


def _set_retired(access: Access, case: UUID, *, is_retired: bool, reason: str) -> bool:
    access.need(Role.EDITOR)
    row = case_of(access.project, case)
    with transaction.atomic():
        rows = GoldenCase.objects.filter(pk=row.pk, retired_at__isnull=is_retired)
        won = rows.update(retired_at=timezone.now() if is_retired else None) == 1
        if won:
            verb = "golden_case.retired" if is_retired else "golden_case.restored"
            record(access.actor, verb, row, project=access.project, reason=reason)
    return won


def _kept(reason: str) -> str:
    return reason.strip().replace("\0", "\ufffd")[:MAX_REASON_CHARS]


def _name_taken(name: str) -> Conflict:
    return Conflict(
        "golden.name_taken",
        f"A case called {name!r} is in this corpus, or was: retired cases keep their names.",
        loc=("body", "id"),
    )
