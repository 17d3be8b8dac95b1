"""`/api/v1/processes/{slug}/rules/{name}/examples`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Path, Router, Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import InputError, NotFound
from processes.models import Process
from processes.selectors import process_by_slug
from verification.rules.examples import services
from verification.rules.examples.judged import heard_of
from verification.rules.examples.listing import Row, listing
from verification.rules.examples.schemas import ExampleIn, ExampleList, ExampleOut
from verification.rules.examples.selectors import rule_row, stand_of
from verification.rules.examples.sources import Source
from verification.rules.examples.trying import time_limit, try_pin
from verification.rules.models import Pin
from verification.runs.models import Run

router = Router(tags=["Rules"])
PLACE = "/processes/{slug}/rules/{path:name}/examples"
SHOWN_CHARS = 2_000


@router.get(
    PLACE,
    response={200: ExampleList} | errors(404),
    summary="What is pinned to a rule, newest first, and whether it holds",
)
def list_rule_examples(request: HttpRequest, slug: str, name: Path[str]) -> dict[str, Any]:
    """The rule is tried as it is published; what is not published yet, as in the newest version."""
    process = process_by_slug(access_of(request).project, slug)
    rule_row(process, name)
    stand = stand_of(process)
    rows = listing(process, name, stand.rule(name)).rows
    return {"tried_on": stand.words, "items": [_out(row) for row in rows]}


@router.post(
    PLACE,
    response={200: ExampleOut, 201: ExampleOut} | errors(400, 403, 404, 409, 422),
    summary="Pin a text that a rule must catch, or let pass",
)
def pin_rule_example(
    request: HttpRequest, slug: str, name: Path[str], body: ExampleIn
) -> Status[dict[str, Any]]:
    """200: just this is pinned already. The text is copied; the run may go."""
    access = access_of(request)
    process = process_by_slug(access.project, slug)
    access.need(Role.EDITOR)
    rule_row(process, name)
    made = services.pin(
        access=access,
        process=process,
        name=name,
        expected=body.expected,
        text=body.text,
        source=_source(access, process, body),
        note=body.note,
    )
    return Status(201 if made.is_new else 200, _out(_row(process, made.pin)))


@router.delete(
    f"{PLACE}/{{uuid:example_id}}",
    response={204: None} | errors(403, 404),
    summary="Take a pinned example away",
)
def remove_rule_example(
    request: HttpRequest, slug: str, name: Path[str], example_id: UUID
) -> Status[None]:
    """It can be taken back on the rule's page of examples. Once more changes nothing."""
    access = access_of(request)
    process = process_by_slug(access.project, slug)
    found = services.pin_named(access, example_id)
    if found.rule.process_id != process.pk or found.rule.name != name:
        raise NotFound("example.unknown", "This rule has no such example.")
    services.take_away(access=access, pin=example_id)
    return Status(204, None)


def _source(access: Access, process: Process, body: ExampleIn) -> Source | None:
    if body.run is None:
        if body.path or body.evidence:
            raise InputError("example.run", "Name the run it is of.", loc=("body", "run"))
        return None
    if body.text:
        message = "Give a text or a run, not both."
        raise InputError("example.source", message, loc=("body", "text"))
    run = Run.objects.filter(project=access.project, process=process, uuid=body.run).first()
    if run is None:
        message = "This process has no such run."
        raise InputError("run.unknown", message, loc=("body", "run"))
    return Source(run, body.path, body.evidence)


def _row(process: Process, pin: Pin) -> Row:
    rule = stand_of(process).rule(pin.rule.name)
    return Row(pin, try_pin(rule, pin, heard_of(process, [rule]), time_limit()))


def _out(row: Row) -> dict[str, Any]:
    pin = row.pin
    return {
        "id": pin.uuid,
        "expected": pin.expected,
        "text": pin.text[:SHOWN_CHARS],
        "chars": len(pin.text),
        "run": pin.run.uuid if pin.run else None,
        "path": pin.path,
        "evidence": pin.evidence,
        "note": pin.note,
        "created_by": pin.created_by,
        "created_at": pin.created_at,
        "holds": row.tried.holds,
        "why": row.tried.why,
    }
