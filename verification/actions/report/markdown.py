"""The report as Markdown: of the same report, always the same text. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from zoneinfo import ZoneInfo

from verification.actions.report import saying
from verification.actions.report.values import (
    Changes,
    Link,
    Report,
    RunLine,
    Standing,
    Tally,
)

SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$@:=^\"']|(?i:(?<=www)\.))")
"""What Markdown, its tables, or a host of it may act on."""
NO_NIGHT = "Nothing ran in this night, and nothing was done."

Address = Callable[[Link], str]


def escaped(text: str) -> str:
    r"""Submitted text of one line that stays what it is.

    >>> escaped("[x](y) *z* | <b>")
    '\\[x\\]\\(y\\) \\*z\\* \\| \\<b\\>'
    """
    return SPECIAL.sub(r"\\\1", text)


def markdown(report: Report, address: Address) -> str:
    """The whole report; `address` tells where a link leads."""
    parts = [
        _head(report, address),
        _steps(report, address),
        _ran(report, address),
        _changes(report, address),
        _needs(report, address),
        _cost(report, address),
        _golden(report, address),
        _agreed(report, address),
    ]
    return "\n\n".join("\n".join(part) for part in (list(lines) for lines in parts) if part) + "\n"


def summary(report: Report) -> str:
    """The night in one or two sentences."""
    if report.is_empty:
        ran = NO_NIGHT
    else:
        runs = saying.counted(report.runs, "run")
        of = saying.counted(len(report.processes), "process", "processes")
        ran = f"{runs} of {of} for {saying.usd(report.cost_usd)}{_done(report)}."
    if not report.needs_count:
        return f"{ran} Nothing waits for a person."
    waits = "waits" if report.needs_count == 1 else "wait"
    return f"{ran} {saying.counted(report.needs_count, 'thing')} {waits} for a person."


def _done(report: Report) -> str:
    told = (Standing.COMMITTED, Standing.HELD, Standing.REVERTED)
    if not report.changes:
        return ""
    parts = [f"{report.standing(one).count:,} {one.value}" for one in told]
    return f"; of {saying.counted(report.changes, 'change')}, {saying.listed(parts)}"


def _zone(report: Report) -> ZoneInfo:
    return ZoneInfo(report.zone)


def _to(words: str, link: Link | None, address: Address) -> str:
    return f"[{words}]({address(link)})" if link else words


def _head(report: Report, address: Address) -> Iterator[str]:
    yield f"# Morning report of {escaped(report.project)}"
    yield ""
    yield f"{saying.span(report.night, _zone(report))} ({report.zone})"
    yield ""
    yield f"**{summary(report)}**"


def _steps(report: Report, address: Address) -> Iterator[str]:
    yield "## What is next"
    yield ""
    if not report.steps:
        yield "Nothing is left to do."
    for step in report.steps:
        yield f"- {_to(escaped(step.words), step.link, address)}"


def _ran(report: Report, address: Address) -> Iterator[str]:
    if not report.runs:
        return
    yield "## What ran"
    yield ""
    yield "| process | runs | how they ended | cost |"
    yield "|---|---:|---|---:|"
    for one in report.processes:
        endings = _counts(one.endings, address)
        runs = _to(f"{one.runs:,}", one.link, address)
        yield f"| {escaped(one.slug)} | {runs} | {endings} | {saying.usd(one.cost_usd)} |"
    runs = _to(f"{report.runs:,}", report.runs_link, address)
    endings = _counts(report.endings, address)
    yield f"| all | {runs} | {endings} | {saying.usd(report.cost_usd)} |"
    if report.reasons:
        yield ""
        yield "Why:"
        yield ""
    for reason in report.reasons:
        yield f"- {_to(f'{reason.count:,}', reason.link, address)} {escaped(reason.words)}"


def _counts(tallies: Sequence[Tally], address: Address) -> str:
    return ", ".join(f"{_to(f'{one.count:,}', one.link, address)} {one.words}" for one in tallies)


def _changes(report: Report, address: Address) -> Iterator[str]:
    if report.changes or report.earlier:
        yield f"## {saying.counted(report.changes, 'change')}"
    for one in report.standings:
        if one.count:
            yield ""
            count = _to(f"{one.count:,}", one.link, address) if one.link else f"{one.count:,}"
            yield f"### {saying.STANDINGS[one.standing]}: {count}"
            yield ""
            yield from _of_one_standing(one, report, address)
    if report.earlier:
        done = [saying.counted(count, saying.KINDS[kind]) for kind, count in report.earlier]
        yield ""
        yield f"Done in this night with changes from before it: {saying.listed(done)}."


def _of_one_standing(changes: Changes, report: Report, address: Address) -> Iterator[str]:
    why = [f"{count:,} {escaped(reason)}" for reason, count in changes.reasons if reason]
    if len(why) > 1:
        yield f"{saying.listed(why)}."
        yield ""
    yield from _lines(changes.lines, changes.count, report, address)


def _lines(lines: Sequence[RunLine], count: int, report: Report, address: Address) -> Iterator[str]:
    for one in lines:
        title = _to(escaped(one.title), one.link, address)
        place = f"{escaped(one.process)} · {escaped(one.phase)}"
        at = saying.since(one.at, report.night, _zone(report))
        yield f"- {title}, {place}, {at}{': ' if one.why else ''}{escaped(one.why)}"
    if count > len(lines):
        yield f"- … and {count - len(lines):,} more"


def _needs(report: Report, address: Address) -> Iterator[str]:
    if not report.needs_count:
        return
    yield "## What needs a person"
    yield ""
    for one in report.needs:
        oldest = saying.since(one.oldest, report.night, _zone(report))
        count = _to(f"{one.count:,} {saying.NEEDS[one.need]}", one.link, address)
        yield f"- {count}: {escaped(one.words)}, the oldest since {oldest}"
    if report.waiting:
        yield ""
        yield "Of these, first:"
        yield ""
        yield from _lines(report.waiting, len(report.waiting), report, address)


def _cost(report: Report, address: Address) -> Iterator[str]:
    if not report.budgets:
        return
    yield "## Cost against budget"
    yield ""
    yield "| budget | day (UTC) | spent | of | share |"
    yield "|---|---|---:|---:|---:|"
    for one in report.budgets:
        warning = " ⚠ used up" if one.is_used_up else " ⚠" if one.warns else ""
        spent = _to(saying.usd(one.spent_usd), one.link, address)
        yield (
            f"| {escaped(one.scope) or 'the whole project'} | {one.day:%Y-%m-%d} | {spent} "
            f"| {saying.usd(one.limit_usd)} | {saying.percent(one.share)}{warning} |"
        )


def _golden(report: Report, address: Address) -> Iterator[str]:
    if not report.regressions:
        return
    yield "## Golden corpus"
    yield ""
    for one in report.regressions:
        at = saying.since(one.at, report.night, _zone(report))
        what = _to(f"{one.regressed:,} of {one.total:,} cases regressed", one.link, address)
        names = ", ".join(escaped(name) for name in one.cases)
        more = f" and {one.regressed - len(one.cases):,} more" * (one.regressed > len(one.cases))
        yield f"- {what} at {at}: {names}{more}"


def _agreed(report: Report, address: Address) -> Iterator[str]:
    if not any(one.n for one in report.agreed):
        return
    yield "## Agreement with people"
    yield ""
    for one in report.agreed:
        reviews = _to(saying.counted(one.n, "review"), one.link, address)
        if one.share is None:
            yield f"- {reviews} {one.words}: too few to say"
            continue
        kappa = "" if one.kappa is None else f", kappa {one.kappa:.2f}"
        yield f"- {reviews} {one.words}: {saying.percent(one.share)} the same{kappa}"
