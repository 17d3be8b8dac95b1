"""`/api/v1/reports/morning`: the report for programs, or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema

from loomverify.api import access_of, errors
from verification.actions.report.choosing import night_asked
from verification.actions.report.gathering import report
from verification.actions.report.markdown import Address, markdown, summary
from verification.actions.report.places import address_of
from verification.actions.report.preferences import hours_of
from verification.actions.report.values import Link, Report, RunLine, Tally
from verification.runs.api import refuse_unknown_parameters

router = Router(tags=["Reports"])

NAMES = ("since", "until")


class Format(StrEnum):
    JSON = "json"
    MARKDOWN = "markdown"


class MorningQuery(Schema):
    """Times are RFC 3339, dates, or spans before now: `24h`, `7d`."""

    since: str = Field("", description="The last night that is over, where both are left out.")
    until: str = ""
    format: Format = Format.JSON


class TallyOut(Schema):
    name: str
    count: int
    url: str


class ProcessLineOut(Schema):
    process: str
    runs: int
    cost_usd: str
    endings: list[TallyOut]
    url: str


class StretchOut(Schema):
    """An hour of the project's clocks; a day of a span of more than two."""

    since: datetime
    until: datetime
    runs: int
    endings: list[TallyOut]
    url: str


class RunLineOut(Schema):
    title: str
    process: str
    phase: str
    at: datetime
    why: str
    url: str


class ChangesOut(Schema):
    """`reasons` add up to `count`; `runs` names the newest, and `url` leads to all of them."""

    standing: str
    count: int
    reasons: dict[str, int]
    runs: list[RunLineOut]
    url: str | None = Field(description="Null: nothing was done that could be listed.")


class NeedOut(Schema):
    need: str
    reason: str
    words: str
    count: int
    oldest: datetime
    url: str | None


class BudgetOut(Schema):
    """`process` null: the whole project."""

    process: str | None
    day: str
    spent_usd: str
    limit_usd: str
    share: float
    warns: bool


class RegressionOut(Schema):
    at: datetime
    regressed: int
    total: int
    cases: list[str]
    url: str


class AgreedOut(Schema):
    """Rates are null where too few are known."""

    of: str
    reviews: int
    share: float | None
    kappa: float | None
    url: str


class NextStepOut(Schema):
    words: str
    url: str | None


class MorningOut(Schema):
    """Endings and hours add up to `runs`, standings to `changes`, needs to `needs_person`."""

    since: datetime
    until: datetime
    time_zone: str
    summary: str
    runs: int
    cost_usd: str
    endings: list[TallyOut]
    reasons: list[TallyOut]
    processes: list[ProcessLineOut]
    by_time: list[StretchOut]
    changes: int
    standings: list[ChangesOut]
    earlier: dict[str, int] = Field(description="Done with changes from before, by kind.")
    needs_person: int
    needs: list[NeedOut]
    waiting: list[RunLineOut]
    budgets: list[BudgetOut]
    regressions: list[RegressionOut]
    agreement: list[AgreedOut]
    steps: list[NextStepOut]


@router.get(
    "/reports/morning",
    response={200: MorningOut} | errors(400, 422),
    openapi_extra={
        "responses": {200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}}
    },
    summary="What a night brought, and what waits for a person",
)
def morning(request: HttpRequest, query: Query[MorningQuery]) -> MorningOut | HttpResponse:
    """A run counts in the night it was submitted in; everything stands as it does now."""
    refuse_unknown_parameters(request, MorningQuery)
    project = access_of(request).project
    asked = {"since": query.since, "until": query.until}
    found = report(project, night_asked(project, hours_of(project), asked, NAMES))
    address = partial(address_of, slug=found.slug)
    if query.format is Format.MARKDOWN:
        text = markdown(found, address)
        return HttpResponse(text, content_type="text/markdown; charset=utf-8")
    return _rendered(found, address)


def _rendered(found: Report, address: Address) -> MorningOut:
    return MorningOut(
        since=found.night.start,
        until=found.night.end,
        time_zone=found.zone,
        summary=summary(found),
        runs=found.runs,
        cost_usd=f"{found.cost_usd:.6f}",
        endings=_tallies(found.endings, address),
        reasons=_tallies(found.reasons, address),
        processes=[
            ProcessLineOut(
                process=one.slug,
                runs=one.runs,
                cost_usd=f"{one.cost_usd:.6f}",
                endings=_tallies(one.endings, address),
                url=address(one.link),
            )
            for one in found.processes
        ],
        by_time=[
            StretchOut(
                since=one.night.start,
                until=one.night.end,
                runs=one.runs,
                endings=_tallies(one.endings, address),
                url=address(one.link),
            )
            for one in found.stretches
        ],
        changes=found.changes,
        standings=[
            ChangesOut(
                standing=one.standing.value,
                count=one.count,
                reasons=dict(one.reasons),
                runs=_lines(one.lines, address),
                url=address(one.link) if one.link else None,
            )
            for one in found.standings
        ],
        earlier=dict(found.earlier),
        needs_person=found.needs_count,
        waiting=_lines(found.waiting, address),
        **_beside(found, address),
    )


def _beside(found: Report, address: Address) -> dict[str, Any]:
    return {
        "needs": [
            NeedOut(
                need=one.need.value,
                reason=one.reason,
                words=one.words,
                count=one.count,
                oldest=one.oldest,
                url=_maybe(one.link, address),
            )
            for one in found.needs
        ],
        "budgets": [
            BudgetOut(
                process=one.scope or None,
                day=one.day.isoformat(),
                spent_usd=f"{one.spent_usd:.6f}",
                limit_usd=f"{one.limit_usd:.6f}",
                share=float(round(one.share, 4)),
                warns=one.warns,
            )
            for one in found.budgets
        ],
        "regressions": [
            RegressionOut(
                at=one.at,
                regressed=one.regressed,
                total=one.total,
                cases=list(one.cases),
                url=address(one.link),
            )
            for one in found.regressions
        ],
        "agreement": [
            AgreedOut(
                of=one.words, reviews=one.n, share=one.share, kappa=one.kappa, url=address(one.link)
            )
            for one in found.agreed
        ],
        "steps": [
            NextStepOut(words=one.words, url=_maybe(one.link, address)) for one in found.steps
        ],
    }


def _maybe(link: Link | None, address: Address) -> str | None:
    return address(link) if link else None


def _tallies(tallies: Sequence[Tally], address: Address) -> list[TallyOut]:
    return [TallyOut(name=one.name, count=one.count, url=address(one.link)) for one in tallies]


def _lines(lines: Sequence[RunLine], address: Address) -> list[RunLineOut]:
    return [
        RunLineOut(
            title=one.title,
            process=one.process,
            phase=one.phase,
            at=one.at,
            why=one.why,
            url=address(one.link),
        )
        for one in lines
    ]
