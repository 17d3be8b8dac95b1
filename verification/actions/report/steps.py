"""What is to be done next, told from the counts alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from verification.actions.report.saying import counted, percent, since
from verification.actions.report.values import Ending, Link, Need, Needed, Page, Report, Step

REMEDIES = 3
"""So many reasons of doubt come with what helps against them."""


def steps(report: Report, remedies: dict[str, str]) -> list[Step]:
    """Most urgent first. `remedies` say what helps against reasons that blame nobody."""
    return [
        *_regressed(report),
        *_budgets(report),
        *_needs(report),
        *_unfinished(report),
        *_doubts(report, remedies),
    ]


def _regressed(report: Report) -> Iterator[Step]:
    for one in report.regressions:
        cases = counted(one.regressed, "golden case")
        yield Step(f"{cases} of {one.total:,} regressed: see what changed.", one.link, "fail")


def _budgets(report: Report) -> Iterator[Step]:
    for one in report.budgets:
        if not one.warns:
            continue
        scope = one.scope or "the whole project"
        what = "is used up" if one.is_used_up else f"is at {percent(one.share)}"
        day = f"{one.day:%-d %b}"
        yield Step(f"The budget of {scope} {what} for {day} (UTC).", one.link, "warn")


WAITS = {
    Need.REVIEW: ("run waits for a person", "runs wait for a person"),
    Need.HELD: ("action is held", "actions are held"),
    Need.PROPOSED: ("action is proposed", "actions are proposed"),
    Need.REMEDIATION: ("remediation waits", "remediations wait"),
}


def _needs(report: Report) -> Iterator[Step]:
    zone = ZoneInfo(report.zone)
    for need, words in WAITS.items():
        found = [one for one in report.needs if one.need is need]
        if not found:
            continue
        count = counted(sum(one.count for one in found), *words)
        oldest = since(min(one.oldest for one in found), report.night, zone)
        yield Step(f"{count}; the oldest since {oldest}.", _link(need, found), "warn")


def _link(need: Need, found: list[Needed]) -> Link | None:
    """Where all of them are."""
    if need in (Need.HELD, Need.PROPOSED):
        return Link(Page.ACTIONS, query=f"state={need.value}")
    return found[0].link


def _unfinished(report: Report) -> Iterator[Step]:
    told = (
        (Ending.ERRORED, "broke on our side: verify again."),
        (Ending.QUEUED, "not begun: see that workers run."),
        (Ending.RUNNING, "under way still."),
    )
    for ending, words in told:
        if tally := report.ending(ending):
            yield Step(f"{counted(tally.count, 'run')} {words}", tally.link)


def _doubts(report: Report, remedies: dict[str, str]) -> Iterator[Step]:
    told = [one for one in report.reasons if one.name in remedies][:REMEDIES]
    for one in told:
        runs = counted(one.count, "run")
        yield Step(f"{runs}: {one.words}. {remedies[one.name]}", one.link)
