from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT, newest_first
from verification.actions.landing import selectors, services
from verification.actions.models import Action, ActionKind, ActionState
from verification.runs.selectors import moment

router = Router(tags=["Repositories"])

Standing = Literal["reverted", "committed", "held", "proposed", "under_way"]
"""Of a change where nothing was done no action says so."""


class ActionOut(Schema):
    id: UUID
    kind: ActionKind
    turn: int = Field(description="Which time: work may be taken back and put back.")
    state: ActionState
    reason_code: str = Field(
        description="Why it is held, withdrawn, declined or braked; else empty."
    )
    detail: str
    run: UUID
    repository: str
    ref: str
    expected: str = Field(description="Where the ref was before; empty: it was not there.")
    commit: str
    evidence: dict[str, Any] = Field(description="The verdict that it rests on.")
    attempts: int
    decided_by: str
    decided_at: datetime | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, action: Action) -> ActionOut:
        change = action.change
        return cls(
            id=action.uuid,
            kind=ActionKind(action.kind),
            turn=action.turn,
            state=ActionState(action.state),
            reason_code=action.reason_code,
            detail=action.detail,
            run=change.run.uuid,
            repository=change.repository.name,
            ref=action.ref,
            expected=action.expected_sha,
            commit=action.new_sha,
            evidence=action.evidence,
            attempts=action.attempts,
            decided_by=action.decided_by,
            decided_at=action.decided_at,
            created_at=action.created_at,
            finished_at=action.finished_at,
        )


class ActionList(Schema):
    items: list[ActionOut]
    next: str | None


class Filters(Schema):
    state: ActionState | None = None
    kind: ActionKind | None = None
    repository: Annotated[str, Field(max_length=60, pattern=r"^[^\x00]*$")] = ""
    run: UUID | None = None
    standing: Standing | None = Field(
        None, description="Of each change that stands so, the one action that says it."
    )
    since: str = Field("", description="Of runs that were submitted from then on.")
    until: str = Field("", description="Of runs that were submitted before.")

    def told(self) -> dict[str, str]:
        """Raises InputError: `filter.invalid`."""
        told = {name: str(value) for name, value in self.dict().items() if value}
        spans = {name: told[name] for name in ("since", "until") if name in told}
        return told | {name: moment(name, text).isoformat() for name, text in spans.items()}


class DeclineIn(Schema):
    reason: str = Field("", max_length=services.MAX_REASON)


@router.get(
    "/actions",
    response={200: ActionList} | errors(400, 422),
    summary="What is done, proposed or held in repositories",
)
def list_actions(
    request: HttpRequest,
    filters: Query[Filters],
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
) -> ActionList:
    rows = selectors.actions_of(access_of(request).project, **filters.told())
    page, following = newest_first(rows, cursor=cursor, limit=limit)
    return ActionList(items=[ActionOut.of(action) for action in page], next=following)


@router.get(
    "/actions/{uuid:action_id}", response={200: ActionOut} | errors(404), summary="One action"
)
def get_action(request: HttpRequest, action_id: UUID) -> ActionOut:
    rows = selectors.actions_of(access_of(request).project)
    action = rows.filter(uuid=action_id).first()
    if action is None:
        raise NotFound("action.unknown", "This project has no such action.")
    return ActionOut.of(action)


@router.post(
    "/actions/{uuid:action_id}/approve",
    response={200: ActionOut} | errors(403, 404, 409),
    summary="Let a proposed action be done, or a held one be tried again",
)
def approve_action(request: HttpRequest, action_id: UUID) -> ActionOut:
    access = access_of(request)
    access.need(Role.REVIEWER)
    action = services.approve(project=access.project, actor=access.actor, action_id=action_id)
    return ActionOut.of(action)


@router.post(
    "/actions/{uuid:action_id}/decline",
    response={200: ActionOut} | errors(400, 403, 404, 409, 422),
    summary="Say that an action is not to be done",
)
def decline_action(request: HttpRequest, action_id: UUID, body: DeclineIn) -> ActionOut:
    access = access_of(request)
    access.need(Role.REVIEWER)
    action = services.decline(
        project=access.project, actor=access.actor, action_id=action_id, reason=body.reason
    )
    return ActionOut.of(action)
