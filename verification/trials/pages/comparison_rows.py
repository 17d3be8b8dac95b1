"""The comparisons of a trial, as its page lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from verification.engine.shadow import DiffClass
from verification.runs.wording import Badge
from verification.trials import selectors
from verification.trials.figures import Figures
from verification.trials.filters import RUNS, ComparisonFilters
from verification.trials.judging.asked import is_asked
from verification.trials.judging.wording import (
    CLASSES,
    class_badge,
    finer_words,
    judged_badge,
    side_badge,
)
from verification.trials.models import Comparison, Judged, Origin, Trial

PER_PAGE = 50
COUNT_CAP = 10_000
NEWER_CAP = 99
CHIPS = (
    DiffClass.OLD_FAIL_NEW_PASS,
    DiffClass.OLD_PASS_NEW_FAIL,
    DiffClass.BOTH_FAIL_REASON_DIFF,
    DiffClass.WARNINGS_DIFF,
    DiffClass.NEW_UNDECIDED,
    DiffClass.OLD_UNDECIDED,
    DiffClass.NO_DIFF,
)
WORDS = {
    "move": {
        "laxer": "laxer moves",
        "stricter": "stricter moves",
        "both": "discordant pairs",
        "passes": "passes of the new one alone",
    },
    "judged": {
        "yes": "judged",
        "no": "not judged",
        **{one.value: one.label.lower() for one in Judged},
        "false_fails": "false fails of a side",
    },
    "acknowledged": {"yes": "acknowledged", "no": "not acknowledged"},
    "failed": {"yes": "a side broke", "no": "no side broke"},
    "aa": {
        "yes": "asked twice",
        "old": "the old one decided otherwise when asked again",
        "new": "the new one decided otherwise when asked again",
    },
    "look": {"yes": "to look at"},
}


@dataclass(frozen=True, slots=True)
class Chip:
    """A class of difference with how many there are of it."""

    value: str
    badge: Badge
    n: int


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    row: Comparison
    old: Badge
    new: Badge
    move: Badge | None
    what: str
    judged: Badge | None
    is_asked: bool
    is_acknowledged: bool


@dataclass(frozen=True, slots=True)
class ComparisonList:
    """`newest`: the id of the newest of all that fit, 0 for none."""

    rows: Sequence[ComparisonRow]
    next: str | None
    count: int
    is_capped: bool
    newest: int


def shown_filters(filters: ComparisonFilters) -> ComparisonFilters:
    """Without an origin a page shows what a cutover rests on."""
    return filters if filters.origin else replace(filters, origin=RUNS)


def comparison_list(trial: Trial, filters: ComparisonFilters, cursor: str) -> ComparisonList:
    """Raises `InputError`: `cursor.invalid`."""
    wanted = shown_filters(filters)
    page, following = selectors.comparisons_page(trial, wanted, cursor=cursor, limit=PER_PAGE)
    if not cursor and following is None:
        count = len(page)
    else:
        count = selectors.comparisons(trial, wanted).order_by()[: COUNT_CAP + 1].count()
    return ComparisonList(
        rows=[_row(one) for one in page],
        next=following,
        count=min(count, COUNT_CAP),
        is_capped=count > COUNT_CAP,
        newest=page[0].pk if page and not cursor else 0,
    )


def newer_count(trial: Trial, filters: ComparisonFilters, after: int) -> int:
    """How many that fit were queued after this one, 99 at most."""
    rows = selectors.comparisons(trial, shown_filters(filters)).filter(pk__gt=after)
    return rows.order_by()[:NEWER_CAP].count()


def chips_of(figures: Figures) -> list[Chip]:
    counted = figures.classes
    return [Chip(one.value, CLASSES[one], counted[one]) for one in CHIPS if counted[one]]


def narrowed_words(filters: ComparisonFilters) -> list[str]:
    """What narrows the list beyond its chips and its form's first line."""
    told = {name: words.get(getattr(filters, name), "") for name, words in WORDS.items()}
    if filters.old:
        told["old"] = f"old: {_outcome(filters.old)}"
    if filters.new:
        told["new"] = f"new: {_outcome(filters.new)}"
    for name in ("process", "phase", "rule"):
        if value := getattr(filters, name):
            told[name] = f"{name} {value}"
    if filters.finer:
        told["finer"] = f"differs in {finer_words(filters.finer)}"
    if filters.kind:
        told["kind"] = "one kind of difference"
    if filters.replay:
        told["replay"] = "one replay"
    if filters.q:
        told["q"] = f"named like {filters.q}"
    if filters.origin in (Origin.LIVE, Origin.PAST):
        told["origin"] = Origin(filters.origin).label.lower()
    return [words for words in told.values() if words]


def _outcome(value: str) -> str:
    try:
        return side_badge(value).word
    except ValueError:
        return value.replace("_", " ")


def _row(row: Comparison) -> ComparisonRow:
    is_known: bool = row.is_acknowledged  # type: ignore[attr-defined]
    moved = row.diff_class in (DiffClass.OLD_FAIL_NEW_PASS, DiffClass.OLD_PASS_NEW_FAIL)
    return ComparisonRow(
        row=row,
        old=side_badge(row.old),
        new=side_badge(row.new),
        move=class_badge(row.diff_class) if moved else None,
        what=row.error_text or row.summary,
        judged=judged_badge(row.judged),
        is_asked=is_asked(row) and not row.judged,
        is_acknowledged=is_known,
    )
