"""`/api/v1/golden/replays`: start, wait, read, cancel, export."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Query, Router
from ninja.responses import Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project, Role
from loomverify.api import access_of, errors
from loomverify.errors import InputError, NotFound
from loomverify.paging import newest_first
from processes.models import Process, ProcessVersion
from processes.selectors import process_by_slug, version_by_number
from verification.golden.models import OPEN_STATES, Replay
from verification.golden.replays import exports, rendering, schemas, selectors, services
from verification.runs.api import MAX_WAIT_SECONDS, refuse_unknown_parameters
from verification.runs.waiting import look_until, waiters
from verification.verifiers.models import VerifierVersion

router = Router(tags=["Golden corpus"])
ALL = "/golden/replays"
ONE = f"{ALL}/{{uuid:replay_id}}"
Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for the end.")
]


@router.post(
    ALL,
    response={202: schemas.ReplayOut} | errors(400, 403, 404, 409, 422),
    summary="Replay the golden corpus",
)
def start_replay(request: HttpRequest, body: schemas.ReplayWish) -> Status[dict[str, Any]]:
    """Answers at once; with nothing to replay it is over already. At most ten are open."""
    access = access_of(request)
    access.need(Role.EDITOR)
    process = process_by_slug(access.project, body.process) if body.process else None
    replay = services.start(
        project=access.project,
        actor=access.actor,
        purpose=body.purpose,
        verifier=_verifier(access.project, body.verifier) if body.verifier else None,
        process=process,
        process_version=_version(process, body.process_version),
        tags=body.tags,
        is_live=body.live,
        with_canary=body.canary,
    )
    return Status(202, _whole(access, replay.uuid))


@router.get(
    ALL, response={200: schemas.ReplayPage} | errors(400, 422), summary="Replays of the corpus"
)
def list_replays(request: HttpRequest, query: Query[schemas.ReplayQuery]) -> dict[str, Any]:
    """Newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.ReplayQuery)
    wanted = query.dict(include={"state", "purpose"}, exclude_none=True)
    rows = selectors.replays(access_of(request).project).filter(**wanted)
    page, following = newest_first(rows, cursor=query.cursor, limit=query.limit)
    return {"items": [rendering.summary(row) for row in page], "next": following}


@router.get(ONE, response={200: schemas.ReplayOut} | errors(404, 422), summary="One replay")
async def get_replay(request: HttpRequest, replay_id: UUID, wait: Wait = 0) -> dict[str, Any]:
    """With `wait`, answers when the replay is over, or when the time is."""
    access, waiting = access_of(request), waiters()
    if wait > 0 and not waiting.is_full:
        deadline = asyncio.get_running_loop().time() + wait
        with waiting.waiting_for(replay_id) as news:
            await waiting.listen()
            await look_until(partial(_is_over, access.project, replay_id), news, deadline)
    return await sync_to_async(_whole)(access, replay_id)


@router.get(
    f"{ONE}/results",
    response={200: schemas.ReplayResultPage} | errors(400, 404, 422),
    summary="The cases of a replay",
)
def list_results(
    request: HttpRequest, replay_id: UUID, query: Query[schemas.ReplayResultQuery]
) -> dict[str, Any]:
    """The most urgent change first, then by name. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.ReplayResultQuery)
    replay = selectors.replay_of(access_of(request).project, replay_id)
    filters = selectors.ResultFilters(change=query.change or "", process=query.process, q=query.q)
    page, following = selectors.results_page(
        replay, filters, cursor=query.cursor, limit=query.limit
    )
    return {"items": [rendering.result(row) for row in page], "next": following}


@router.post(
    f"{ONE}/cancel",
    response={200: schemas.ReplayCancelled} | errors(403, 404),
    summary="Cancel a replay that is not over",
)
def cancel_replay(request: HttpRequest, replay_id: UUID) -> dict[str, Any]:
    access = access_of(request)
    cancelled = services.cancel(access=access, replay=replay_id)
    replay = selectors.replay_of(access.project, replay_id)
    return {"id": replay.uuid, "state": replay.state, "cancelled": cancelled}


def _file(kind: str, description: str) -> dict[str, Any]:
    schema = {"type": "object" if kind.endswith("json") else "string"}
    content = {kind: {"schema": schema}}
    return {"responses": {200: {"description": description, "content": content}}}


@router.get(
    f"{ONE}/junit.xml",
    response=errors(404, 409),
    openapi_extra=_file("application/xml", "JUnit XML"),
    summary="A replay as tests, for CI servers",
)
def export_replay_junit(request: HttpRequest, replay_id: UUID) -> HttpResponse:
    """A case that does not hold is a failure, one that could not be judged an error."""
    replay = selectors.replay_of(access_of(request).project, replay_id)
    return _attached(HttpResponse(exports.junit(replay), content_type="application/xml"), replay)


@router.get(
    f"{ONE}/report.json",
    response=errors(404, 409),
    openapi_extra=_file("application/json", "The replay with every case"),
    summary="A whole replay",
)
def export_replay_report(request: HttpRequest, replay_id: UUID) -> HttpResponse:
    replay = selectors.replay_of(access_of(request).project, replay_id)
    return _attached(JsonResponse(exports.report(replay)), replay)


def _attached(answer: HttpResponse, replay: Replay) -> HttpResponse:
    suffix = "xml" if answer["Content-Type"].endswith("xml") else "json"
    name = f"replay-{replay.uuid.hex[:8]}.{suffix}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "no-store"
    return answer


def _whole(access: Access, replay_id: UUID) -> dict[str, Any]:
    return rendering.whole(selectors.replay_of(access.project, replay_id))


def _is_over(project: Project, replay_id: UUID) -> bool:
    """Leaves no connection with who goes on to wait; a lost database is no news either way."""
    rows = Replay.objects.filter(project=project, uuid=replay_id)
    try:
        state = rows.values_list("state", flat=True).first()
    except (OperationalError, InterfaceError):
        return False
    finally:
        close_old_connections()
    if state is None:
        raise NotFound("replay.unknown", "This project has no such replay.")
    return state not in OPEN_STATES


def _verifier(project: Project, number: int) -> VerifierVersion:
    found = VerifierVersion.objects.filter(project=project, number=number).first()
    if found is None:
        raise NotFound("verifier.unknown", f"There is no verifier version {number}.")
    return found


def _version(process: Process | None, number: int | None) -> ProcessVersion | None:
    if number is None:
        return None
    if process is None:
        raise InputError("replay.no_process", "Say of which process.", loc=("body", "process"))
    return version_by_number(process, number)
