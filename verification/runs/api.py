"""`/api/v1/runs`: submit, wait, read, cancel, ask again."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from functools import partial
from typing import Annotated
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections
from django.http import FileResponse, HttpRequest, HttpResponse
from ninja import Path, Query, Router, Schema
from ninja.responses import Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import InputError, NotFound
from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT, newest_first
from verification.runs import exports, rendering, reverifying, schemas, services
from verification.runs.evidence_store import read_blob
from verification.runs.intake.description import REQUEST_BODY
from verification.runs.intake.request import read_request
from verification.runs.models import OPEN_STATES, Run, RunFile
from verification.runs.selectors import RunFilters, filter_runs
from verification.runs.waiting import look_until, waiters

router = Router(tags=["Runs"])

MAX_WAIT_SECONDS = 60
Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for the end.")
]


class Until(StrEnum):
    """What is waited for. `decided`: the end, and people's decision where one is pending."""

    OVER = "over"
    DECIDED = "decided"


@router.post(
    "/runs",
    response={200: schemas.RunOut, 202: schemas.RunOut}
    | errors(400, 403, 404, 409, 413, 415, 422, 503),
    summary="Submit a run",
    openapi_extra={
        "parameters": [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "maxLength": services.MAX_IDEMPOTENCY_KEY},
            }
        ],
        "requestBody": REQUEST_BODY,
    },
)
async def submit_run(request: HttpRequest, wait: Wait = 0) -> Status[schemas.RunOut]:
    """Answer 202 at once, or wait for the end and answer 200.

    The same `Idempotency-Key` with the same body answers 200 with the first run.
    """
    access = access_of(request)
    submitted = await sync_to_async(_submit)(access, request)
    if wait == 0 and submitted.is_new:
        return Status(202, rendering.full(submitted.run))
    run, over = await _wait_for(access, submitted.run.uuid, wait)
    return Status(202 if submitted.is_new and not over else 200, run)


@router.get("/runs", response={200: schemas.RunPage} | errors(400, 422), summary="List runs")
def list_runs(request: HttpRequest, query: Query[schemas.RunQuery]) -> schemas.RunPage:
    """Newest first; every filter narrows. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.RunQuery)
    filters = RunFilters(**query.dict(exclude={"cursor", "limit"}))
    project = access_of(request).project
    rows = filter_runs(Run.objects.filter(project=project), filters, project=project)
    runs, following = newest_first(
        rendering.summaries(rows), cursor=query.cursor, limit=query.limit
    )
    return schemas.RunPage(items=[rendering.summary(run) for run in runs], next=following)


@router.get(
    "/runs/{uuid:run_id}",
    response={200: schemas.RunOut} | errors(404, 422),
    summary="One run whole",
)
async def get_run(
    request: HttpRequest, run_id: UUID, wait: Wait = 0, until: Until = Until.OVER
) -> schemas.RunOut:
    """With `wait`, answers when the run is over, or when the time is.

    With `until=decided` it waits for a person too, where `review.state` is `pending`.
    """
    run, _ = await _wait_for(access_of(request), run_id, wait, until=until)
    return run


@router.post(
    "/runs/{uuid:run_id}/cancel",
    response={200: schemas.CancelOut} | errors(403, 404, 409),
    summary="Cancel a run that is not over",
)
def cancel_run(request: HttpRequest, run_id: UUID) -> schemas.CancelOut:
    access = access_of(request)
    access.need(Role.AGENT)
    run = run_of(access, run_id)
    cancelled = services.cancel_run(run=run, actor=access.actor)
    run.refresh_from_db(fields=["state"])
    return schemas.CancelOut(id=run.uuid, state=run.state, cancelled=cancelled)


@router.post(
    "/runs/{uuid:run_id}/reverify",
    response={202: schemas.RunOut} | errors(403, 404, 409),
    summary="Evaluate again, never redoing the work",
)
def reverify_run(request: HttpRequest, run_id: UUID) -> Status[schemas.RunOut]:
    access = access_of(request)
    access.need(Role.AGENT)
    reverifying.reverify_run(run=run_of(access, run_id), actor=access.actor)
    return Status(202, _full(access, run_id))


@router.get(
    "/runs/{uuid:run_id}/evaluations",
    response={200: schemas.EvaluationList} | errors(404, 422),
    summary="Every pass of the engine over a run",
)
def list_evaluations(request: HttpRequest, run_id: UUID) -> schemas.EvaluationList:
    run = run_of(access_of(request), run_id)
    rows = run.evaluations.select_related("process_version", "verifier_version").defer(
        "process_version__source_text"
    )
    return schemas.EvaluationList(
        items=[rendering.evaluation(row, run) for row in rows.order_by("-id")], next=None
    )


@router.get(
    "/runs/{uuid:run_id}/events",
    response={200: schemas.EventList} | errors(400, 404, 422),
    summary="What happened to a run, oldest first",
)
def list_events(
    request: HttpRequest,
    run_id: UUID,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
) -> schemas.EventList:
    """The trace of rules is unfolded behind the last event of each evaluation."""
    run = run_of(access_of(request), run_id)
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise InputError(
            "cursor.invalid", "This cursor was not made by us.", loc=("query", "cursor"), status=400
        )
    start = int(cursor or 0)
    unfolded = exports.unfolded_events(run)
    shown = unfolded[start : start + limit]
    following = str(start + limit) if len(unfolded) > start + limit else None
    return schemas.EventList(items=shown, next=following)


@router.get(
    "/runs/{uuid:run_id}/files/{path:path}",
    response=errors(404),
    openapi_extra={
        "responses": {
            200: {
                "description": "The file, byte for byte",
                "content": {"application/octet-stream": {}},
            }
        }
    },
    summary="A submitted file, always an attachment",
)
def download_file(
    request: HttpRequest, run_id: UUID, path: Annotated[str, Path()]
) -> HttpResponse | FileResponse:
    run = run_of(access_of(request), run_id)
    files = RunFile.objects.select_related("blob__project").filter(run=run, path=path)
    file = None if "\0" in path else files.first()
    if file is None:
        raise NotFound("file.unknown", "This run has no such file.")
    return exports.attachment(read_blob(file.blob), file.path)


def refuse_unknown_parameters(request: HttpRequest, known: type[Schema]) -> None:
    """A filter with a typing error would find everything."""
    for name in request.GET.keys() - known.model_fields.keys():
        known_names = ", ".join(known.model_fields)
        raise InputError(
            "parameter.unknown", f"The parameters are {known_names}.", loc=("query", name[:120])
        )


def _submit(access: Access, request: HttpRequest) -> services.Submitted:
    access.need(Role.AGENT)
    return read_request(access, request)


async def _wait_for(
    access: Access, run_id: UUID, seconds: float, *, until: Until = Until.OVER
) -> tuple[schemas.RunOut, bool]:
    """The run, and whether it is over; waits for `until` at most so long."""
    waiting = waiters()
    if seconds > 0 and not waiting.is_full:
        deadline = asyncio.get_running_loop().time() + seconds
        with waiting.waiting_for(run_id) as news:
            await waiting.listen()
            is_there = partial(_is_over, access, run_id, until)
            await look_until(is_there, news, deadline)
    run = await sync_to_async(_full)(access, run_id)
    return run, run.state not in OPEN_STATES


def _is_over(access: Access, run_id: UUID, until: Until = Until.OVER) -> bool:
    """Leaves no connection with who goes on to wait; a lost database is no news either way."""
    rows = Run.objects.filter(project=access.project, uuid=run_id)
    try:
        found = rows.values_list("state", "review_state").first()
    except (OperationalError, InterfaceError):
        return False
    finally:
        close_old_connections()
    if found is None:
        raise NotFound("run.unknown", "This project has no such run.")
    state, review_state = found
    return state not in OPEN_STATES and not (until is Until.DECIDED and review_state == "pending")


def _full(access: Access, run_id: UUID) -> schemas.RunOut:
    rows = Run.objects.filter(project=access.project, uuid=run_id)
    run = rendering.whole(rows).first()
    if run is None:
        raise NotFound("run.unknown", "This project has no such run.")
    return rendering.full(run)


def run_of(access: Access, run_id: UUID) -> Run:
    run = (
        Run.objects.select_related("project", "process", "live_evaluation")
        .defer("search")
        .filter(project=access.project, uuid=run_id)
        .first()
    )
    if run is None:
        raise NotFound("run.unknown", "This project has no such run.")
    return run
