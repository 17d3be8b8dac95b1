"""`/api/v1/shadow/trials/{id}`: what people say of its comparisons."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router
from ninja.responses import Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from verification.trials.differences import differences_by_kind, differences_by_rule
from verification.trials.judging import acknowledging, schemas, services
from verification.trials.models import Acknowledgement, Comparison, ComparisonNote, Trial
from verification.trials.selectors import comparison_of, trial_of

router = Router(tags=["Shadow"])
TRIAL = "/shadow/trials/{uuid:trial_id}"
ONE = f"{TRIAL}/comparisons/{{uuid:comparison_id}}"
KNOWN = f"{TRIAL}/acknowledgements"
MAX_LISTED = 200


@router.post(
    f"{ONE}/judge",
    response={200: schemas.ComparisonJudged} | errors(403, 404, 409, 422),
    summary="Say which side of a comparison is right",
)
def judge_comparison(
    request: HttpRequest, trial_id: UUID, comparison_id: UUID, body: schemas.JudgeOne
) -> schemas.ComparisonJudged:
    """For tools that show people both sides without their names, in an order drawn by lot.

    Whoever judges must not be able to tell the sides apart: a cutover rests on it. One key is
    one person; the same again changes nothing, something else is a 409.
    """
    access, row = _found(request, trial_id, comparison_id)
    services.judge(
        access=access,
        comparison=row,
        said=body.said,
        is_old_first=body.old_first,
        note=body.note,
    )
    return schemas.ComparisonJudged(**_judged(row))


@router.get(
    f"{ONE}/judge",
    response={200: schemas.ComparisonSaid} | errors(403, 404),
    summary="Who said what of a comparison",
)
def get_judgements(
    request: HttpRequest, trial_id: UUID, comparison_id: UUID
) -> schemas.ComparisonSaid:
    """Whoever is still to judge it should not read this first."""
    _, row = _found(request, trial_id, comparison_id)
    notes = row.notes.order_by("-created_at", "-id")[:MAX_LISTED]
    return schemas.ComparisonSaid(**_judged(row), notes=[_noted(one) for one in notes])


@router.delete(
    f"{ONE}/judge",
    response={200: schemas.JudgementWithdrawn} | errors(403, 404),
    summary="Take back what one said of a comparison",
)
def withdraw_judgement(
    request: HttpRequest, trial_id: UUID, comparison_id: UUID
) -> schemas.JudgementWithdrawn:
    """Within ten minutes, before judging another one, it can be judged again."""
    access, row = _found(request, trial_id, comparison_id)
    again = services.withdraw(access=access, comparison=row)
    return schemas.JudgementWithdrawn(
        **_judged(row), withdrawn=again is not None, again=again is not False
    )


@router.post(
    f"{ONE}/notes",
    response={201: schemas.NoteOut} | errors(403, 404, 422),
    summary="Note something on a comparison",
)
def add_comparison_note(
    request: HttpRequest, trial_id: UUID, comparison_id: UUID, body: schemas.NoteWish
) -> Status[schemas.NoteOut]:
    access, row = _found(request, trial_id, comparison_id)
    made = services.add_note(access=access, comparison=row, text=body.text)
    return Status(201, _noted(made))


@router.get(
    f"{TRIAL}/differences",
    response={200: schemas.Differences} | errors(404),
    summary="On what the sides of a trial differ",
)
def list_differences(request: HttpRequest, trial_id: UUID) -> schemas.Differences:
    """Over live and past runs, what occurs most often first."""
    trial = trial_of(access_of(request).project, trial_id)
    return schemas.Differences(
        rules=[schemas.RuleDiffers(**asdict(one)) for one in differences_by_rule(trial)],
        kinds=[
            schemas.KindDiffers(**{**asdict(one), "acknowledged_until": one.until})
            for one in differences_by_kind(trial)
        ],
    )


@router.get(
    KNOWN,
    response={200: schemas.AcknowledgementList} | errors(404),
    summary="Known differences of a trial",
)
def list_acknowledgements(request: HttpRequest, trial_id: UUID) -> schemas.AcknowledgementList:
    """Those that were not withdrawn, the newest first; some may have run out."""
    trial = trial_of(access_of(request).project, trial_id)
    rows = acknowledging.standing(trial).order_by("-created_at", "-id")[:MAX_LISTED]
    return schemas.AcknowledgementList(items=[_known(row) for row in rows])


@router.post(
    KNOWN,
    response={201: schemas.AcknowledgementOut} | errors(403, 404, 409, 422),
    summary="Name a difference as known for some time",
)
def acknowledge_difference(
    request: HttpRequest, trial_id: UUID, body: schemas.AcknowledgementWish
) -> Status[schemas.AcknowledgementOut]:
    """It need not be looked at again until then, and counts for the cutover all the same."""
    access, trial = _trial(request, trial_id, Role.EDITOR)
    made = acknowledging.acknowledge(access=access, trial=trial, **body.dict())
    return Status(201, _known(made))


@router.delete(
    f"{KNOWN}/{{int:acknowledgement_id}}",
    response={204: None} | errors(403, 404),
    summary="Have a known difference looked at again",
)
def withdraw_acknowledgement(
    request: HttpRequest, trial_id: UUID, acknowledgement_id: int
) -> Status[None]:
    access, trial = _trial(request, trial_id, Role.EDITOR)
    acknowledging.withdraw(access=access, trial=trial, number=acknowledgement_id)
    return Status(204, None)


def _trial(request: HttpRequest, trial_id: UUID, needed: Role) -> tuple[Access, Trial]:
    access = access_of(request)
    access.need(needed)
    return access, trial_of(access.project, trial_id)


def _found(request: HttpRequest, trial_id: UUID, comparison_id: UUID) -> tuple[Access, Comparison]:
    access, trial = _trial(request, trial_id, Role.REVIEWER)
    return access, comparison_of(trial, comparison_id)


def _noted(note: ComparisonNote) -> schemas.NoteOut:
    return schemas.NoteOut(id=note.pk, text=note.text, by=note.created_by, at=note.created_at)


def _judged(row: Comparison) -> dict[str, Any]:
    row.refresh_from_db(fields=["judged", "judged_at"])
    said = services.standing(row).order_by("created_at", "id")
    return {
        "id": row.uuid,
        "judged": row.judged or None,
        "judged_at": row.judged_at,
        "judgements": [
            schemas.JudgementOut(
                by=one.reviewer, said=one.said, old_first=one.is_old_first, at=one.created_at
            )
            for one in said
        ],
    }


def _known(row: Acknowledgement) -> schemas.AcknowledgementOut:
    return schemas.AcknowledgementOut(
        id=row.pk,
        kind=row.kind,
        summary=row.summary,
        reason=row.reason,
        until=row.until,
        in_force=row.until > timezone.now(),
        by=row.created_by,
        at=row.created_at,
    )
