"""Gates that run: since when, beside which others, and what they write, piece by piece."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.db.models import QuerySet

from verification.engine.gates import named
from verification.engine.outcome import Status
from verification.runs import wording
from verification.runs.gating.axis import Axis, Bar
from verification.runs.gating.terminal import Line, lines_of
from verification.runs.models import Evaluation, GateProgress, Run, RunState
from verification.runs.wording import Badge

SEEN = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")
MAX_SEEN_CHARS = 8_000
MAX_PK = 2**63 - 1


@dataclass(frozen=True, slots=True)
class News:
    """What a gate wrote since somebody looked.

    `rest` is a line that has not ended: it may still be written over. `left_out` counts characters
    that came in between and are kept no longer. `seen` names how far this goes.
    """

    lines: Sequence[Line]
    rest: Sequence[Line]
    left_out: int
    seen: int


def news_of(row: GateProgress, seen: int = 0) -> News:
    new, left_out = since(row, seen)
    whole, end, rest = new.rpartition("\n")
    return News(lines_of(whole + end), lines_of(rest), left_out, row.written - len(rest))


def since(row: GateProgress, seen: int) -> tuple[str, int]:
    """What came since, and how much before it is kept no longer.

    `seen`: how much of it somebody has; what they have of another try is none of it.
    """
    first = row.written - len(row.tail)
    at = seen if seen <= row.written else 0
    return row.tail[max(0, at - first) :], max(0, first - at)


@dataclass
class GoingGate:
    """`axis` begins with the first gate, at `began`, and ends `now`. `seen`: see `since`."""

    row: GateProgress
    axis: Axis
    began: datetime
    now: datetime
    seen: int = 0

    @property
    def is_over(self) -> bool:
        return self.row.status != ""

    @property
    def is_going(self) -> bool:
        return not self.is_over

    @property
    def name(self) -> str:
        return named(self.row.gate, self.row.component)

    @property
    def badge(self) -> Badge:
        if self.row.status:
            return wording.STATUSES[Status(self.row.status)]
        return wording.STATES[RunState.RUNNING]

    @property
    def duration_ms(self) -> int:
        return _ms((self.row.ended_at or self.now) - self.row.started_at)

    @property
    def seconds(self) -> int:
        return self.duration_ms // 1000

    @property
    def bar(self) -> Bar:
        return self.axis.bar(_ms(self.row.started_at - self.began), self.duration_ms)

    @cached_property
    def news(self) -> News:
        return news_of(self.row, self.seen)


@dataclass
class Going:
    """The gates of an evaluation that is under way.

    `seen` tells of each gate's row how much of its output somebody has; those it does not name are
    new to them.
    """

    rows: Sequence[GateProgress]
    now: datetime
    seen: Mapping[int, int]

    @cached_property
    def began(self) -> datetime:
        """The first of them."""
        return min((one.started_at for one in self.rows), default=self.now)

    @cached_property
    def gates(self) -> list[GoingGate]:
        return [
            GoingGate(one, self.axis, self.began, self.now, self.seen.get(one.pk, 0))
            for one in self.rows
        ]

    @cached_property
    def axis(self) -> Axis:
        return Axis(_ms(self.now - self.began))

    @property
    def components(self) -> list[tuple[str, list[GoingGate]]]:
        names = dict.fromkeys(one.row.component for one in self.gates)
        return [(name, [one for one in self.gates if one.row.component == name]) for name in names]

    @property
    def running(self) -> list[GoingGate]:
        return [one for one in self.gates if not one.is_over]

    @property
    def told(self) -> list[GoingGate]:
        """Those whose output is shown: what runs; between two gates, what ran last."""
        return self.running or self.gates[-1:]

    @property
    def begun(self) -> list[GoingGate]:
        """Those whose output is shown for the first time."""
        return [one for one in self.told if one.row.pk not in self.seen]

    @property
    def followed(self) -> list[GoingGate]:
        return [one for one in self.told if one.row.pk in self.seen]

    @property
    def left(self) -> list[int]:
        """Those whose output is shown no longer."""
        told = {one.row.pk for one in self.told}
        return [one for one in self.seen if one not in told]

    @property
    def query(self) -> str:
        """What is asked next: all that came since."""
        return ",".join(f"{one.row.pk}:{one.news.seen}" for one in self.told)

    @property
    def sentence(self) -> str:
        """What runs at this moment, as one line: it is read out when it changes."""
        is_one = len(self.components) == 1
        names = [one.row.gate if is_one else one.name for one in self.running]
        if not names:
            return f"{len(self.gates)} over; the next one is being prepared."
        return f"{' and '.join(names)} {'runs' if len(names) == 1 else 'run'}."


def going_of(evaluation: Evaluation, now: datetime, seen: Mapping[int, int] | None = None) -> Going:
    """What was written is read of those alone whose output is shown."""
    going = Going(list(rows_of(evaluation)), now, seen or {})
    written = {one.row.pk: one.row for one in going.told}
    for pk, count, tail in evaluation.progress.filter(pk__in=written).values_list(
        "pk", "written", "tail"
    ):
        written[pk].written, written[pk].tail = count, tail
    return going


def rows_of(evaluation: Evaluation) -> QuerySet[GateProgress]:
    return evaluation.progress.defer("tail").order_by("started_at", "pk")


def gate_under_way(run: Run, pk: int) -> GateProgress | None:
    found = GateProgress.objects.filter(evaluation__run=run, pk=pk)
    return found.select_related("evaluation").first() if pk <= MAX_PK else None


def seen_of(text: str) -> dict[int, int]:
    """As it stands in an address; what is odd in it was not seen."""
    return {int(one[1]): int(one[2]) for one in SEEN.finditer(text[:MAX_SEEN_CHARS])}


def evaluation_under_way(run: Run, evaluations: Sequence[Evaluation]) -> Evaluation | None:
    going = [one for one in evaluations if one.finished_at is None and one.trial_id is None]
    return going[-1] if going and not run.is_over else None


def _ms(span: timedelta) -> int:
    return max(0, round(span.total_seconds() * 1000))
