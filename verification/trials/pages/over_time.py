"""A trial over time: pairs by class, and how the discordant ones add up. Drawn here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from verification.engine.shadow import DiffClass
from verification.engine.statistics.mcnemar import mcnemar
from verification.trials.figures import COUNTED
from verification.trials.models import Trial
from verification.trials.pages.wording import NONE

MAX_STEPS = 60
STEPS = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1), timedelta(days=7))
WIDTH, HEIGHT = 900, 220
LEFT, RIGHT, TOP, BELOW = 46, 14, 14, 26
LAXER, STRICTER = DiffClass.OLD_FAIL_NEW_PASS, DiffClass.OLD_PASS_NEW_FAIL
OTHERWISE = (DiffClass.BOTH_FAIL_REASON_DIFF, DiffClass.WARNINGS_DIFF)
DOUBT = (DiffClass.NEW_UNDECIDED, DiffClass.OLD_UNDECIDED)
BANDS: Sequence[tuple[str, str, Sequence[DiffClass]]] = (
    ("laxer", "fail", (LAXER,)),
    ("stricter", "warn", (STRICTER,)),
    ("otherwise", "part", OTHERWISE),
    ("undecided", "open", DOUBT),
    ("same", "same", (DiffClass.NO_DIFF,)),
)
"""From below: word, tone, classes."""
_COUNTED = """
    select to_timestamp(floor(extract(epoch from at) / %(step)s) * %(step)s), diff_class, count(*)
    from (
        select coalesce(run.finished_at, found.compared_at) as at, found.diff_class
        from trials_comparison found
        left join runs_run run on run.id = found.run_id
        where found.trial_id = %(trial)s and found.origin = any(%(origins)s)
          and found.diff_class <> ''
    ) as dated
    group by 1, 2 order by 1
"""
_SPAN = """
    select min(coalesce(run.finished_at, found.compared_at)),
           max(coalesce(run.finished_at, found.compared_at))
    from trials_comparison found
    left join runs_run run on run.id = found.run_id
    where found.trial_id = %(trial)s and found.origin = any(%(origins)s) and found.diff_class <> ''
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a column. `tone` says which class; the title and the table do so too."""

    tone: str
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of time. `laxer_sum`, `stricter_sum` and `p` are of all up to its end."""

    at: datetime
    counts: Mapping[str, int]
    laxer_sum: int
    stricter_sum: int
    p: float | None

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def cells(self) -> list[int]:
        return [self.counts[word] for word, *_ in BANDS]

    @property
    def p_words(self) -> str:
        if self.p is None:
            return NONE
        return "< 0.001" if self.p < 0.001 else f"{self.p:.3f}"


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    word: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`blocks` are of the columns; the paths those of the sums."""

    steps: Sequence[Step]
    blocks: Sequence[Block]
    upward: Sequence[Tick]
    across: Sequence[Tick]
    laxer_path: str
    stricter_path: str
    sums: Sequence[Tick]
    each: str
    bands: Sequence[tuple[str, str]] = tuple((word, tone) for word, tone, _ in BANDS)
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    below: int = HEIGHT - BELOW


def over_time(trial: Trial) -> Chart | None:
    """By when the runs were over, not by when they were compared. None: nothing to draw."""
    given: dict[str, Any] = {"trial": trial.pk, "origins": [origin.value for origin in COUNTED]}
    with connection.cursor() as cursor:
        cursor.execute(_SPAN, given)
        first, last = cursor.fetchone() or (None, None)
        if first is None:
            return None
        step = next((one for one in STEPS if (last - first) / one <= MAX_STEPS), STEPS[-1])
        cursor.execute(_COUNTED, {**given, "step": step.total_seconds()})
        rows = cursor.fetchall()
    steps = list(_steps(rows))[-MAX_STEPS:]
    most = max(one.total for one in steps)
    most_sum = max(1, steps[-1].laxer_sum, steps[-1].stricter_sum)
    return Chart(
        steps=steps,
        blocks=[block for place, one in enumerate(steps) for block in _blocks(place, one, len(steps), most)],
        upward=[Tick(_up(most * part / 4, most), f"{most * part / 4:,.0f}") for part in _quarters(most)],
        across=list(_days(steps)),
        laxer_path=_path([one.laxer_sum for one in steps], most_sum),
        stricter_path=_path([one.stricter_sum for one in steps], most_sum),
        sums=[Tick(_up(most_sum * part / 4, most_sum), f"{most_sum * part / 4:,.0f}") for part in _quarters(most_sum)],
        each=_words(step),
    )  # fmt: skip


def _steps(rows: Sequence[tuple[datetime, str, int]]) -> Iterator[Step]:
    by_time: dict[datetime, dict[str, int]] = {}
    for at, found, count in rows:
        by_time.setdefault(at, {})[found] = count
    laxer = stricter = 0
    for at, counts in by_time.items():
        laxer += counts.get(LAXER, 0)
        stricter += counts.get(STRICTER, 0)
        p = mcnemar(laxer, stricter) if laxer + stricter else None
        named = {word: sum(counts.get(one, 0) for one in classes) for word, _, classes in BANDS}
        yield Step(at, named, laxer, stricter, p)


def _blocks(place: int, step: Step, count: int, most: int) -> Iterator[Block]:
    width = min(26.0, (WIDTH - LEFT - RIGHT) / count * 0.74)
    below = 0
    for word, tone, _ in BANDS:
        n = step.counts[word]
        if not n:
            continue
        top, foot = _up(below + n, most), _up(below, most)
        below += n
        title = f"{step.at:%Y-%m-%d %H:%M} UTC, {word}: {n:,}"
        yield Block(tone, _across(place, count) - width / 2, top, width, foot - top, title)


def _path(sums: Sequence[int], most: int) -> str:
    points = (
        f"{_across(place, len(sums)):.1f} {_up(value, most):.1f}"
        for place, value in enumerate(sums)
    )
    return "M" + "L".join(points)


def _days(steps: Sequence[Step]) -> Iterator[Tick]:
    """A date under the first column of a day, as long as there is room."""
    last_day, last_x = "", -100.0
    for place, one in enumerate(steps):
        x, day = _across(place, len(steps)), f"{one.at:%b} {one.at.day}"
        if day != last_day and x - last_x >= 52:
            yield Tick(x, day)
            last_x = x
        last_day = day


def _quarters(most: int) -> Sequence[int]:
    """Where lines stand: none twice on the same whole number."""
    return range(5) if most >= 4 else (0, 4)


def _words(step: timedelta) -> str:
    return {STEPS[0]: "an hour", STEPS[1]: "six hours", STEPS[2]: "a day"}.get(step, "a week")


def _across(place: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * ((place + 0.5) / count)


def _up(value: float, most: int) -> float:
    return TOP + (1 - value / most) * (HEIGHT - TOP - BELOW)
