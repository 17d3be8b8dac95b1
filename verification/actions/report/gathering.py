"""A night's report, from the database: as many queries for a hundred thousand runs as for one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from django.db.models import Window
from django.db.models.functions import RowNumber

from loomverify.accounts.models import Project
from verification.actions.landing.wording import in_short
from verification.actions.report import counting, money, saying
from verification.actions.report.counting import Ended, Named, Stood
from verification.actions.report.nights import Night, steps_of
from verification.actions.report.steps import steps
from verification.actions.report.values import (
    FILTERS,
    LISTED,
    Agreed,
    Changes,
    Ending,
    Link,
    Need,
    Needed,
    Page,
    ProcessLine,
    Regression,
    Report,
    RunLine,
    Standing,
    Stretch,
    Tally,
    ending_of,
)
from verification.engine.golden.standing import Change as GoldenChange
from verification.engine.statistics.estimates import Estimate, Figure
from verification.golden.models import Replay, ReplayResult, ReplayState
from verification.reviews.agreement.counts import cells
from verification.reviews.agreement.filters import AgreementFilters
from verification.reviews.agreement.selectors import with_people
from verification.reviews.notices.text import one_line
from verification.reviews.notices.times import zone_named
from verification.reviews.reasons import reason_words
from verification.runs import wording
from verification.runs.spans import iso

WEEK = timedelta(days=7)
CASES_NAMED = 10
REPLAYS_NAMED = 10
REPLAY_LASTS = timedelta(days=2)


def report(project: Project, night: Night) -> Report:
    """What a night was, as it stands now."""
    zone = zone_named(project.time_zone)
    steps_there = steps_of(night, zone)
    rows = counting.ended(project, night, steps_there)
    span = {"since": iso(night.start), "until": iso(night.end)}
    stood, named = counting.standings(project, night)
    needs = _needs(project, night.end)
    found = Report(
        project=one_line(project.name, 120),
        slug=project.slug,
        zone=zone.key,
        night=night,
        runs=sum(row.count for row in rows),
        runs_link=_runs(span),
        cost_usd=sum((row.cost_usd for row in rows), Decimal(0)),
        endings=_endings(rows, span),
        reasons=_reasons(rows, span),
        processes=_processes(rows, span),
        stretches=_stretches(rows, steps_there),
        changes=sum(one.count for one in stood),
        standings=_standings(stood, named, span),
        earlier=counting.done_earlier(project, night),
        needs_count=sum(one.count for one in needs),
        needs=needs,
        waiting=_waiting(project, night.end),
        budgets=money.budgets(project, night),
        regressions=_regressions(project, night),
        agreed=_agreed(project, night),
    )
    return replace(found, steps=steps(found, wording.REMEDIES))


def _runs(query: Mapping[str, str]) -> Link:
    return Link(Page.RUNS, query=urlencode(query))


def _endings(rows: Iterable[Ended], span: Mapping[str, str]) -> list[Tally]:
    counts: Counter[Ending] = Counter()
    for row in rows:
        counts[ending_of(row.state, row.verdict, row.outcome)] += row.count
    return [
        Tally(
            ending.value, saying.ENDINGS[ending], counts[ending], _runs({**FILTERS[ending], **span})
        )
        for ending in Ending
        if counts[ending]
    ]


def _reasons(rows: Iterable[Ended], span: Mapping[str, str]) -> list[Tally]:
    """Of finished runs, most frequent first."""
    counts: Counter[str] = Counter()
    for row in rows:
        if row.reason_code and row.state == "finished":
            counts[row.reason_code] += row.count
    return [
        Tally(
            code,
            wording.reason(code),
            count,
            _runs({"state": "finished", "reason_code": code, **span}),
        )
        for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _processes(rows: Iterable[Ended], span: Mapping[str, str]) -> list[ProcessLine]:
    """Most runs first."""
    by_slug: dict[str, list[Ended]] = defaultdict(list)
    for row in rows:
        by_slug[row.slug].append(row)
    lines = [_process(found, {"process": slug, **span}) for slug, found in by_slug.items()]
    return sorted(lines, key=lambda line: (-line.runs, line.slug))


def _stretches(rows: Iterable[Ended], steps: Sequence[Night]) -> list[Stretch]:
    """Each step of the night, also where nothing ran in it."""
    by_step: dict[int, list[Ended]] = defaultdict(list)
    for row in rows:
        by_step[row.step].append(row)
    return [_stretch(night, by_step[number]) for number, night in enumerate(steps, 1)]


def _stretch(night: Night, rows: Sequence[Ended]) -> Stretch:
    span = {"since": iso(night.start), "until": iso(night.end)}
    return Stretch(night, sum(row.count for row in rows), _endings(rows, span), _runs(span))


def _process(rows: Sequence[Ended], span: Mapping[str, str]) -> ProcessLine:
    return ProcessLine(
        slug=rows[0].slug,
        title=one_line(rows[0].title) or rows[0].slug,
        runs=sum(row.count for row in rows),
        endings=_endings(rows, span),
        cost_usd=sum((row.cost_usd for row in rows), Decimal(0)),
        link=_runs(span),
    )


def _standings(
    stood: Sequence[Stood], named: Mapping[str, Sequence[Named]], span: Mapping[str, str]
) -> list[Changes]:
    found = []
    for standing in saying.STANDINGS:
        rows = [one for one in stood if one.standing == standing]
        reasons: Counter[str] = Counter()
        for one in rows:
            reasons[_became(standing, one.kind, one.reason)] += one.count
        found.append(
            Changes(
                standing=standing,
                count=sum(one.count for one in rows),
                reasons=sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])),
                lines=[_changed(standing, one) for one in named.get(standing, ())],
                link=_standing(standing, span),
            )
        )
    return found


def _standing(standing: Standing, span: Mapping[str, str]) -> Link | None:
    """The actions that say of its changes how they stand, one of each."""
    if standing is Standing.NOTHING:
        return None
    return Link(Page.ACTIONS, query=urlencode({"standing": standing.value, **span}))


def _became(standing: Standing, kind: str, reason: str) -> str:
    """Why a change stands so; nothing where its standing says it."""
    if standing is Standing.HELD:
        return in_short(reason) if reason else "waits on its review branch"
    if standing in (Standing.PROPOSED, Standing.UNDER_WAY):
        return saying.KINDS[kind]
    return ""


def _changed(standing: Standing, one: Named) -> RunLine:
    where = one_line(f"{one.repository} {one.ref.removeprefix('refs/heads/')}".strip(), 120)
    sha = f"as {one.sha[:12]}" if one.sha and standing in DONE else ""
    why = "; ".join(
        part for part in (_became(standing, one.kind, one.reason), f"{where} {sha}".strip()) if part
    )
    return _line(one, why)


DONE = (Standing.COMMITTED, Standing.REVERTED)


def _line(one: Named, why: str) -> RunLine:
    return RunLine(
        title=one_line(one.title) or "A run without a title",
        process=one_line(one.process),
        phase=one_line(one.phase),
        at=one.at,
        why=why,
        link=Link(Page.RUN, str(one.run)),
    )


def _needs(project: Project, until: datetime) -> list[Needed]:
    """What waited when the night ended, and waits still. Oldest kinds of need first."""
    found = [
        Needed(Need.REVIEW, one.reason, _review_words(one.reason), one.count, one.oldest, QUEUE)
        for one in counting.reviews(project, until)
    ]
    for state, one in counting.actions(project, until):
        words = saying.KINDS[one.kind]
        words = f"{words}: {in_short(one.reason)}" if one.reason else words
        reason = f"{one.kind}.{one.reason}".removesuffix(".")
        link = Link(Page.ACTIONS, query=urlencode({"state": state, "kind": one.kind}))
        found.append(Needed(Need(state), reason, words, one.count, one.oldest, link))
    for one in counting.remediations(project, until):
        words = wording.REMEDIATION_MODES.get(one.reason, one.reason.replace("_", " ")).lower()
        found.append(Needed(Need.REMEDIATION, one.reason, words, one.count, one.oldest, QUEUED))
    order = list(Need)
    return sorted(found, key=lambda one: (order.index(one.need), -one.count, one.reason))


QUEUE = Link(Page.QUEUE)
QUEUED = Link(Page.REMEDIATIONS, query=urlencode({"state": "queued"}))


def _review_words(code: str) -> str:
    return "decided blind" if code == counting.BLIND else reason_words(code) or "asked for"


def _waiting(project: Project, until: datetime) -> list[RunLine]:
    """The most urgent reviews and the oldest actions, by name."""
    reviews = [
        _line(one, _review_words(one.reason)) for one in counting.first_reviews(project, until)
    ]
    actions = [
        _line(
            one,
            f"{saying.KINDS[one.kind]}: {in_short(one.reason)}"
            if one.reason
            else f"{saying.KINDS[one.kind]}, proposed",
        )
        for one in counting.first_actions(project, until)
    ]
    half = LISTED // 2
    return reviews[: max(half, LISTED - len(actions))] + actions[: max(half, LISTED - len(reviews))]


def _regressions(project: Project, night: Night) -> list[Regression]:
    rows = Replay.objects.filter(
        project=project,
        created_at__gte=night.start - REPLAY_LASTS,
        finished_at__gte=night.start,
        finished_at__lt=night.end,
        state=ReplayState.FINISHED,
        counts__regressed__gt=0,
    ).order_by("-finished_at", "-pk")
    replays = list(rows[:REPLAYS_NAMED])
    names = _cases(replays)
    return [
        Regression(
            at=one.finished_at or night.end,
            regressed=one.counts["regressed"],
            total=one.total,
            cases=names[one.pk],
            link=Link(Page.REPLAY, str(one.uuid)),
        )
        for one in replays
    ]


def _cases(replays: Sequence[Replay]) -> Mapping[int, list[str]]:
    """The first of what regressed in each."""
    place = Window(RowNumber(), partition_by="replay_id", order_by="pk")
    rows = ReplayResult.objects.filter(replay__in=replays, change=GoldenChange.REGRESSED)
    first = rows.annotate(place=place).filter(place__lte=CASES_NAMED).order_by("pk")
    names: dict[int, list[str]] = defaultdict(list)
    for replay, name in first.values_list("replay_id", "case__name"):
        names[replay].append(one_line(name, 120))
    return names


def _agreed(project: Project, night: Night) -> list[Agreed]:
    return [
        _agreement(project, "asked in this night", night.start, night.end),
        _agreement(project, "asked in the week before its end", night.end - WEEK, night.end),
    ]


def _agreement(project: Project, words: str, start: datetime, end: datetime) -> Agreed:
    filters = AgreementFilters(since=iso(start), until=iso(end))
    found = with_people(cells(project, filters))
    return Agreed(
        words=words,
        n=found.n,
        share=_value(found.verdicts.percentage),
        kappa=_value(found.verdicts.kappa),
        link=Link(Page.AGREEMENT, query=urlencode(filters.given())),
    )


def _value(figure: Figure) -> float | None:
    return figure.value if isinstance(figure, Estimate) else None
