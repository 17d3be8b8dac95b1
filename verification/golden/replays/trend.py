"""How many cases held, replay after replay: drawn here, a line for each verifier version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse

from loomverify.accounts.models import Project
from verification.engine.golden.standing import Change
from verification.golden.models import Replay, ReplayState
from verification.golden.replays.shown import share_held
from verification.runs.templatetags.loomverify import percent

MAX_POINTS = 60
WIDTH, HEIGHT = 900, 240
LEFT, RIGHT, TOP, BELOW = 46, 14, 24, 26
MARGIN = 0.02
TONES = 6
"""Lines are told apart by dashes and by a number at their end, not by their tone alone."""


@dataclass(frozen=True, slots=True)
class Point:
    """`regressed` is the number of cases that held before and did not here."""

    replay: Replay
    url: str
    x: float
    y: float
    share: float
    held: int
    regressed: int
    title: str

    @property
    def words(self) -> str:
        return percent(self.share)


@dataclass(frozen=True, slots=True)
class Line:
    """`number` is the verifier version's; `tone` tells neighbours apart."""

    number: int
    tone: int
    path: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    word: str


@dataclass(frozen=True, slots=True)
class Trend:
    lines: Sequence[Line]
    points: Sequence[Point]
    """All of them, newest first."""
    upward: Sequence[Tick]
    across: Sequence[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    below: int = HEIGHT - BELOW


def trend(project: Project, process: str = "") -> Trend:
    """Over whole processes as published alone: anything narrower has no share to compare.

    With a process, the replays of it alone stand there as well.
    """
    found = _replays(project, process)
    shares = [share_held(one) or 0.0 for one in found]
    low = max(0.0, min(shares, default=0.0) - MARGIN)
    points = [
        _point(project, one, _across(number, len(found)), _up(share, low), share)
        for number, (one, share) in enumerate(zip(found, shares, strict=True))
    ]
    steps = [low + (1 - low) * number / 4 for number in range(5)]
    digits = 0 if len({f"{step * 100:.0f}" for step in steps}) == len(steps) else 1
    return Trend(
        lines=list(_lines(points)),
        points=points[::-1],
        upward=[Tick(_up(step, low), f"{step * 100:.{digits}f} %") for step in steps],
        across=list(_days(points)),
    )


def _replays(project: Project, process: str) -> list[Replay]:
    rows = Replay.objects.filter(
        project=project,
        state=ReplayState.FINISHED,
        total__gt=0,
        process_version=None,
        candidate_sha256="",
        tags=[],
        is_live=False,
    )
    rows = rows.filter(Q(process__slug=process) if process else Q(process=None))
    related = rows.select_related("verifier_version", "process").defer(
        "candidate_text", "verifier_version__spec"
    )
    return list(related.order_by("-created_at", "-id")[:MAX_POINTS])[::-1]


def _point(project: Project, replay: Replay, x: float, y: float, share: float) -> Point:
    held = replay.counts.get(Change.HELD.value, 0) + replay.counts.get(Change.FIXED.value, 0)
    regressed = int(replay.counts.get(Change.REGRESSED.value, 0))
    when = f"{replay.created_at:%Y-%m-%d %H:%M} UTC"
    number = replay.verifier_version.number
    told = f", {regressed} regressed" if regressed else ""
    return Point(
        replay=replay,
        url=reverse("golden_replay", args=[project.slug, replay.uuid]),
        x=x,
        y=y,
        share=share,
        held=held,
        regressed=regressed,
        title=f"{when}, verifier v{number}: {held} of {replay.total} held{told}",
    )


def _lines(points: Sequence[Point]) -> Iterator[Line]:
    by_version: dict[int, list[Point]] = {}
    for one in points:
        by_version.setdefault(one.replay.verifier_version.number, []).append(one)
    for tone, (number, mine) in enumerate(sorted(by_version.items())):
        path = "M" + "L".join(f"{one.x:.1f} {one.y:.1f}" for one in mine)
        yield Line(number, tone % TONES, path, mine)


def _days(points: Sequence[Point]) -> Iterator[Tick]:
    """A date under the first replay of a day, as long as there is room."""
    last_day, last_x = "", -100.0
    for one in points:
        day = f"{one.replay.created_at:%b} {one.replay.created_at.day}"
        if day != last_day and one.x - last_x >= 52:
            yield Tick(one.x, day)
            last_x = one.x
        last_day = day


def _across(number: int, count: int) -> float:
    width = WIDTH - LEFT - RIGHT
    return round(LEFT + width * ((number + 0.5) / count), 1)


def _up(share: float, low: float) -> float:
    return round(TOP + (1 - (share - low) / (1 - low)) * (HEIGHT - TOP - BELOW), 1)
