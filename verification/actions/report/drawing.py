"""The report as its page shows it: words, addresses and sizes; templates decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from verification.actions.report import saying
from verification.actions.report.bars import Bar, bars_of, chart_of
from verification.actions.report.markdown import summary
from verification.actions.report.places import path_of
from verification.actions.report.values import Changes, Link, Report, RunLine, Standing
from verification.runs.columns import Columns


@dataclass(frozen=True, slots=True)
class Tile:
    words: str
    count: int
    told: str
    url: str


@dataclass(frozen=True, slots=True)
class ProcessShown:
    title: str
    slug: str
    runs: int
    cost: str
    url: str
    bars: Sequence[Bar]
    told: str


@dataclass(frozen=True, slots=True)
class LineShown:
    title: str
    place: str
    at: str
    moment: datetime
    why: str
    url: str


@dataclass(frozen=True, slots=True)
class ChangesShown:
    words: str
    name: str
    count: int
    reasons: str
    lines: Sequence[LineShown]
    more: int
    url: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line with few words: `number` is linked where there is a `url`."""

    number: str
    words: str
    told: str = ""
    url: str = ""
    tone: str = ""
    percent: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    report: Report

    def _url(self, link: Link | None) -> str:
        return path_of(link, self.report.slug) if link else ""

    def _at(self, at: datetime) -> str:
        return saying.since(at, self.report.night, ZoneInfo(self.report.zone))

    @property
    def span(self) -> str:
        return saying.span(self.report.night, ZoneInfo(self.report.zone))

    @property
    def summary(self) -> str:
        return summary(self.report)

    @property
    def local(self) -> tuple[str, str]:
        """Both ends as a field for local times takes them."""
        zone, night = ZoneInfo(self.report.zone), self.report.night
        start, end = night.start.astimezone(zone), night.end.astimezone(zone)
        return f"{start:%Y-%m-%dT%H:%M}", f"{end:%Y-%m-%dT%H:%M}"

    @property
    def tiles(self) -> list[Tile]:
        report = self.report
        cost = f"for {saying.usd(report.cost_usd)}"
        tiles = [Tile("Runs", report.runs, cost, self._url(report.runs_link))]
        of = f"of {saying.counted(report.changes, 'change')}" if report.changes else "no changes"
        for standing in (Standing.COMMITTED, Standing.HELD, Standing.REVERTED):
            count = report.standing(standing).count
            place = f"#{standing.value}" if count else "#changes"
            tiles.append(Tile(saying.STANDINGS[standing], count, of, place))
        oldest = min((one.oldest for one in report.needs), default=None)
        since = f"oldest since {self._at(oldest)}" if oldest else "nothing waits"
        tiles.append(Tile("Needs a person", report.needs_count, since, "#needs"))
        return tiles

    @property
    def steps(self) -> list[Row]:
        return [
            Row("", step.words, url=self._url(step.link), tone=step.tone)
            for step in self.report.steps
        ]

    @property
    def chart(self) -> Columns:
        return chart_of(self.report)

    @property
    def chart_title(self) -> str:
        return "By the day" if self.report.night.is_by_day else "By the hour"

    @property
    def endings(self) -> list[Bar]:
        return bars_of(self.report.endings, self.report.runs, self.report.slug)

    @property
    def reasons(self) -> list[Bar]:
        return bars_of(self.report.reasons, self.report.runs, self.report.slug)

    @property
    def processes(self) -> list[ProcessShown]:
        return [
            ProcessShown(
                title=one.title,
                slug=one.slug,
                runs=one.runs,
                cost=saying.usd(one.cost_usd),
                url=self._url(one.link),
                bars=bars_of(one.endings, one.runs, self.report.slug),
                told=", ".join(f"{tally.count:,} {tally.words}" for tally in one.endings),
            )
            for one in self.report.processes
        ]

    @property
    def changes(self) -> list[ChangesShown]:
        return [self._changes(one) for one in self.report.standings if one.count]

    @property
    def earlier(self) -> str:
        done = [saying.counted(count, saying.KINDS[kind]) for kind, count in self.report.earlier]
        return saying.listed(done) if done else ""

    @property
    def needs(self) -> list[Row]:
        return [
            Row(
                f"{one.count:,} {saying.NEEDS[one.need]}",
                one.words,
                f"oldest since {self._at(one.oldest)}",
                self._url(one.link),
            )
            for one in self.report.needs
        ]

    @property
    def waiting(self) -> list[LineShown]:
        return [self._line(one) for one in self.report.waiting]

    @property
    def budgets(self) -> list[Row]:
        return [
            Row(
                f"{saying.usd(one.spent_usd)} of {saying.usd(one.limit_usd)}",
                one.scope or "The whole project",
                f"{one.day:%-d %b} (UTC), {saying.percent(one.share)}"
                + (", used up" if one.is_used_up else ""),
                self._url(one.link),
                "fail" if one.is_used_up else "warn" if one.warns else "",
                min(100, int(one.share * 100)),
            )
            for one in self.report.budgets
        ]

    @property
    def regressions(self) -> list[Row]:
        return [
            Row(
                f"{one.regressed:,} of {one.total:,} cases",
                ", ".join(one.cases),
                self._at(one.at),
                self._url(one.link),
            )
            for one in self.report.regressions
        ]

    @property
    def agreed(self) -> list[Row]:
        return [
            Row(
                saying.counted(one.n, "review"),
                one.words,
                "too few to say"
                if one.share is None
                else f"{saying.percent(one.share)} the same"
                + ("" if one.kappa is None else f", kappa {one.kappa:.2f}"),
                self._url(one.link),
            )
            for one in self.report.agreed
        ]

    def _changes(self, one: Changes) -> ChangesShown:
        told = [(reason, count) for reason, count in one.reasons if reason]
        # Of one reason alone its lines say it.
        reasons = [f"{count:,} {reason}" for reason, count in told] if len(told) > 1 else []
        return ChangesShown(
            words=saying.STANDINGS[one.standing],
            name=one.standing.value,
            count=one.count,
            reasons=saying.listed(reasons) if reasons else "",
            lines=[self._line(line) for line in one.lines],
            more=one.count - len(one.lines),
            url=self._url(one.link),
        )

    def _line(self, one: RunLine) -> LineShown:
        return LineShown(
            title=one.title,
            place=f"{one.process} · {one.phase}",
            at=self._at(one.at),
            moment=one.at,
            why=one.why,
            url=self._url(one.link),
        )
