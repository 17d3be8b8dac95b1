"""Through what waits to be judged: everybody in an order of their own, which tells nothing.

Moves come before what both sides reject, and laxer ones, which may be unsafe, mostly before
stricter ones. Mostly: sorted by class, the place in the walk alone would tell the sides apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Least

from verification.engine.shadow import DiffClass, SideOutcome
from verification.trials.filters import ComparisonFilters
from verification.trials.judging.asked import (
    ACCEPTING,
    CAN_BE_JUDGED,
    IS_MOVE,
    IS_REJECTED_TWICE,
    OPEN,
)
from verification.trials.judging.blinding import drawn
from verification.trials.models import Comparison, Judgement, Origin, Reveal, Trial

LOTS_OF_A_LAXER_MOVE = 3
"""The lowest of its lots is its place; everything else draws one."""
MOVES, REJECTS = "moves", "rejects"
PARTS: Mapping[str, Q] = {MOVES: IS_MOVE, REJECTS: IS_REJECTED_TWICE}
MOVING = (
    DiffClass.OLD_FAIL_NEW_PASS,
    DiffClass.OLD_PASS_NEW_FAIL,
    DiffClass.OLD_UNDECIDED,
    DiffClass.NEW_UNDECIDED,
)
KEPT = ("origin", "process", "phase", "rule", "kind", "replay")


@dataclass(frozen=True, slots=True)
class Wish:
    """What of a trial somebody wants to judge.

    A filter that would tell the sides apart is taken for both directions: who asks for laxer
    moves gets moves. `part`: one of `PARTS`; '': all.
    """

    part: str = ""
    filters: ComparisonFilters = field(default_factory=ComparisonFilters)

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        given = ComparisonFilters.of(query)
        kept = {name: getattr(given, name) for name in KEPT}
        if kept["origin"] not in (Origin.LIVE, Origin.PAST):
            kept["origin"] = ""
        asked = query.get("part", "")
        return cls(asked if asked in PARTS else _part(given), ComparisonFilters(**kept))

    @property
    def given(self) -> dict[str, str]:
        """What is asked for, by name, as it stands in an address."""
        return {**({"part": self.part} if self.part else {}), **self.filters.given()}

    @property
    def query(self) -> str:
        """With its question mark; '' where nothing is asked."""
        return f"?{urlencode(self.given)}" if self.given else ""

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.part,) if self.part else tuple(PARTS)


@dataclass(frozen=True, slots=True)
class Progress:
    judged: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.judged


@dataclass(frozen=True, slots=True)
class Compared:
    """`done` of `total` runs; while some wait, more may come to be judged."""

    done: int
    total: int

    @property
    def is_under_way(self) -> bool:
        return self.done < self.total


def next_of(
    trial: Trial,
    reviewer: str,
    wish: Wish,
    *,
    after: UUID | None = None,
    without: Iterable[UUID] = (),
) -> Comparison | None:
    """What this reviewer is to judge next: beyond `after`, and at the end from the beginning."""
    waiting = _with_lots(_waiting(trial, reviewer, wish), reviewer)
    waiting = waiting.exclude(uuid__in=[*without, *([after] if after else [])])
    for rows in _passes(waiting, wish, _place(trial, reviewer, after)):
        found = rows.order_by(F("lot"), "pk").first()
        if found is not None:
            return found
    return None


def progress_of(trial: Trial, wish: Wish, part: str) -> Progress:
    """Of a part of the walk, by all people; what several disagree on is judged no more."""
    rows = _walked(trial, wish).filter(PARTS[part])
    counted = rows.aggregate(total=Count("pk"), open=Count("pk", filter=Q(judged__in=OPEN)))
    return Progress(counted["total"] - counted["open"], counted["total"])


def compared_of(trial: Trial) -> Compared:
    """Of the runs that the trial has taken."""
    rows = Comparison.objects.filter(trial=trial).exclude(origin=Origin.CORPUS)
    counted = rows.aggregate(
        total=Count("pk"), done=Count("pk", filter=Q(compared_at__isnull=False))
    )
    return Compared(counted["done"], counted["total"])


def part_of(comparison: Comparison) -> str:
    return MOVES if comparison.old != comparison.new else REJECTS


def _part(given: ComparisonFilters) -> str:
    """The part that a filter by direction belongs to."""
    if given.move or given.diff_class in MOVING:
        return MOVES
    if given.diff_class == DiffClass.BOTH_FAIL_REASON_DIFF:
        return REJECTS
    if given.old and given.new:
        if given.old == given.new == SideOutcome.FAIL:
            return REJECTS
        if (given.old in ACCEPTING) is not (given.new in ACCEPTING):
            return MOVES
    return ""


def _walked(trial: Trial, wish: Wish) -> QuerySet[Comparison]:
    """All that is asked about, judged or not, and known differences too.

    The gate takes what is judged for a sample of all: whoever could take a kind out of the walk
    could have unsafe passes overlooked, or false fails that both sides have.
    """
    given = wish.filters.given()
    rule, replay = given.pop("rule", ""), given.pop("replay", "")
    rows = Comparison.objects.filter(CAN_BE_JUDGED, trial=trial, **given)
    if rule:
        rows = rows.filter(rules__contains=[rule])
    if replay:
        rows = rows.filter(replay__uuid=replay) if _is_uuid(replay) else rows.none()
    return rows


def _waiting(trial: Trial, reviewer: str, wish: Wish) -> QuerySet[Comparison]:
    """What nobody judged yet, or people disagree on; not what this reviewer judged or knows."""
    own = {"comparison": OuterRef("pk"), "reviewer": reviewer}
    return _walked(trial, wish).filter(
        ~Exists(Judgement.objects.filter(**own, withdrawn_at__isnull=True)),
        ~Exists(Reveal.objects.filter(**own)),
        judged__in=OPEN,
    )


def _with_lots(rows: QuerySet[Comparison], reviewer: str) -> QuerySet[Comparison]:
    lots = [_lot(drawn(f"lot {number}", reviewer)) for number in range(LOTS_OF_A_LAXER_MOVE)]
    is_laxer = When(new__in=ACCEPTING, then=Least(*lots))
    return rows.annotate(lot=Case(is_laxer, default=lots[0], output_field=BigIntegerField()))


def _lot(seed: int) -> Func:
    named = Cast(F("uuid"), TextField())
    return Func(
        named,
        Value(seed, output_field=BigIntegerField()),
        function="hashtextextended",
        output_field=BigIntegerField(),
    )


def _place(trial: Trial, reviewer: str, after: UUID | None) -> tuple[str, int, int] | None:
    """Part, lot and id of a comparison. None: from the beginning."""
    rows = (
        Comparison.objects.filter(trial=trial, uuid=after) if after else Comparison.objects.none()
    )
    row: Any = _with_lots(rows, reviewer).first()
    return (part_of(row), row.lot, row.pk) if row else None


def _passes(
    rows: QuerySet[Comparison], wish: Wish, place: tuple[str, int, int] | None
) -> Iterator[QuerySet[Comparison]]:
    """Where to look, one after the other."""
    if place is None or place[0] not in wish.parts:
        yield from (rows.filter(PARTS[part]) for part in wish.parts)
        return
    part, lot, pk = place
    here = rows.filter(PARTS[part])
    yield here.filter(Q(lot__gt=lot) | Q(lot=lot, pk__gt=pk))
    yield from (rows.filter(PARTS[other]) for other in wish.parts if other != part)
    yield here


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
