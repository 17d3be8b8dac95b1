"""The runs of a report by how they ended, or why: as parts of a bar, and as columns over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from verification.actions.report import saying
from verification.actions.report.places import path_of
from verification.actions.report.values import Ending, Report, Stretch, Tally
from verification.runs.columns import Columns, Step, columns_of

BAR_WIDTH = 1000
TONES = {
    Ending.PASS: "pass",
    Ending.WARNINGS: "warn",
    Ending.PARTIAL: "part",
    Ending.FAIL: "fail",
    Ending.UNDECIDED: "open",
    Ending.QUEUED: "idle",
    Ending.RUNNING: "going",
    Ending.ERRORED: "broke",
    Ending.CANCELLED: "off",
}
"""Each has a colour of its own. What blames nobody is grey: darker, lighter, or bluer."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a bar, or a line of a list: `share` is 0 to 1."""

    words: str
    code: str
    count: int
    share: float
    url: str
    tone: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class EndingPart:
    """So many runs of a stretch that ended alike."""

    word: str
    tone: str
    count: int
    query: str


def bars_of(tallies: Sequence[Tally], whole: int, slug: str) -> list[Bar]:
    """Side by side, as shares of the whole; `slug` is the project's."""
    found, before = [], 0
    for one in tallies:
        found.append(
            Bar(
                words=one.words,
                code=one.name,
                count=one.count,
                share=one.count / whole,
                url=path_of(one.link, slug),
                tone=TONES[Ending(one.name)] if one.name in list(Ending) else "",
                x=f"{before / whole * BAR_WIDTH:.2f}",
                width=f"{one.count / whole * BAR_WIDTH:.2f}",
            )
        )
        before += one.count
    return found


def chart_of(report: Report) -> Columns:
    """Stacked by ending, in hours of the zone or in days."""
    kinds, zone = [Ending(one.name) for one in report.endings], ZoneInfo(report.zone)
    return columns_of(
        [
            Step(
                saying.step(one.night, zone, is_day=report.night.is_by_day),
                [_part(one, kind) for kind in kinds],
                one.link.query,
            )
            for one in report.stretches
        ]
    )


def _part(stretch: Stretch, kind: Ending) -> EndingPart:
    tally = next((one for one in stretch.endings if one.name == kind), None)
    count, query = (tally.count, tally.link.query) if tally else (0, "")
    return EndingPart(saying.ENDINGS[kind], TONES[kind], count, query)
