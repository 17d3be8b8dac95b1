from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from verification.verifiers import connections, trying
from verification.verifiers.judge_list import ListedJudge, Seat, judges_of, listed, plain
from verification.verifiers.version_api import router as versions

router = Router(tags=["Judges"])
router.add_router("", versions)


class JudgeTest(Schema):
    """A worker's last question to the connection. Its text is for admins, on the settings page."""

    state: trying.State = Field(
        description="waiting: a worker is to ask; late: none did; lost: `detail` says why."
    )
    at: datetime | None
    detail: str
    recovery: str | None = Field(description="By which recovery stage the reply was read.")
    latency_ms: int | None
    cost_usd: str | None = Field(description="Null where no price is known.")


class JudgeOut(Schema):
    name: str
    model: str = Field(description="In litellm's words: provider/model.")
    seats: list[Seat] = Field(description="What it does in the live verifier version.")
    environment: bool = Field(description="Named by the operator's environment.")
    input_usd_per_million: str | None = Field(description="Null: unknown, its calls count as free.")
    output_usd_per_million: str | None
    structured_output: bool = Field(description="Whether a schema goes along with a question.")
    test: JudgeTest

    @classmethod
    def of(cls, judge: ListedJudge) -> JudgeOut:
        return cls(
            name=judge.row.name,
            model=judge.row.model,
            seats=list(judge.seats),
            environment=judge.row.is_environment,
            input_usd_per_million=plain(judge.price.asked) or None,
            output_usd_per_million=plain(judge.price.said) or None,
            structured_output=judge.has_schema,
            test=_test(judge.test),
        )


def _test(last: trying.LastTry) -> JudgeTest:
    was_made = last.state in ("answered", "unreadable")
    return JudgeTest(
        state=last.state,
        at=last.at,
        detail=last.detail,
        recovery=last.stage or None,
        latency_ms=last.latency_ms if was_made else None,
        cost_usd=plain(last.cost_usd) if was_made and last.is_priced else None,
    )


class JudgeList(Schema):
    items: list[JudgeOut]


@router.get("/judges", response={200: JudgeList} | errors(), summary="Judges")
def list_judges(request: HttpRequest) -> JudgeList:
    """The connections in use, without addresses and keys."""
    found = judges_of(access_of(request).project, now=timezone.now())
    return JudgeList(items=[JudgeOut.of(judge) for judge in found])


@router.post(
    "/judges/{path:name}/test",
    response={202: JudgeOut} | errors(403, 404, 409),
    summary="Have a worker ask a judge a small question",
)
def test_judge(request: HttpRequest, name: str) -> Status[JudgeOut]:
    """`GET /judges` tells what came of it, within a minute or two."""
    access = access_of(request)
    access.need(Role.ADMIN)
    row = trying.ask_for_try(project=access.project, actor=access.actor, name=name)
    models = connections.live_models(access.project)
    return Status(202, JudgeOut.of(listed(row, models, now=timezone.now())))
