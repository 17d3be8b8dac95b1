"""Scores as the page shows them: the verifier and the old engine side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from verification.engine.golden.scores import VERDICTS, Score, Scores, scores
from verification.engine.outcome import Verdict
from verification.engine.statistics.estimates import MIN_LABELS
from verification.golden.models import Replay
from verification.golden.scores.pairs import OLD, compared
from verification.reviews.agreement.shown import Shown, kappa_shown, share_shown
from verification.runs import wording
from verification.runs.wording import Badge

REJECT = Verdict.REJECT.value
HEADS: dict[str, Badge] = {
    Verdict.ACCEPT.value: Badge("accept", "pass", wording.PASS.sign),
    Verdict.REJECT.value: Badge("reject", "fail", wording.FAIL.sign),
    Verdict.UNDECIDED.value: wording.UNDECIDED,
}
NAMES = ("precision", "recall", "f1", "kappa", "undecided")
TITLES = {
    "precision": ("Precision", "of the rejections, those that were expected"),
    "recall": ("Recall", "of the expected rejections, those that came"),
    "f1": ("F1", "precision and recall in one figure"),
    "kappa": ("Kappa", "agreement beyond chance, over all three verdicts"),
    "undecided": ("Left undecided", "of the cases that are to be accepted"),
}


@dataclass(frozen=True, slots=True)
class Side:
    """A figure of one engine; `query` leads to the cases behind it."""

    shown: Shown
    query: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    title: str
    what: str
    new: Side
    old: Side


@dataclass(frozen=True, slots=True)
class Cell:
    """`tone` is same, lax where it accepts what is to be rejected, or strict."""

    n: int
    tone: str
    query: str


@dataclass(frozen=True, slots=True)
class TableRow:
    badge: Badge
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Part:
    """One process or one expected reason, with both engines' figures."""

    name: str
    words: str
    n: int
    query: str
    figures: Sequence[FigureRow]


@dataclass(frozen=True, slots=True)
class Parts:
    """`few` have not enough cases for any figure."""

    known: Sequence[Part]
    few: Sequence[Part]


@dataclass(frozen=True, slots=True)
class ScoresPage:
    """`left_out` counts the cases that say nothing of the verifier: no verdict is expected."""

    n: int
    old_n: int
    left_out: int
    not_judged: int
    figures: Sequence[FigureRow]
    tables: Sequence[tuple[str, Sequence[TableRow]]]
    processes: Parts
    reasons: Parts


def scores_page(replay: Replay) -> ScoresPage:
    found = list(compared(replay))
    new = scores(pair for one in found if (pair := one.pair(is_old=False)))
    old = scores(pair for one in found if (pair := one.pair(is_old=True)))
    return ScoresPage(
        n=new.whole.n,
        old_n=old.whole.n,
        left_out=replay.total - len(found),
        not_judged=sum(one.new is None for one in found),
        figures=_figures(new.whole, old.whole, {}),
        tables=[
            ("The verifier", _table(new.whole, {})),
            ("The old engine", _table(old.whole, {"by": OLD})),
        ],
        processes=_parts(new, old, "process"),
        reasons=_parts(new, old, "reason"),
    )


def _figures(new: Score, old: Score | None, where: dict[str, str]) -> list[FigureRow]:
    return [
        FigureRow(
            *TITLES[name],
            _side(new, name, where),
            _side(old or _nothing(), name, {**where, "by": OLD}),
        )
        for name in NAMES
    ]


def _side(score: Score, name: str, where: dict[str, str]) -> Side:
    words = kappa_shown if name == "kappa" else share_shown
    behind = {
        "precision": {"came": REJECT},
        "recall": {"expected": REJECT},
        "undecided": {"expected": Verdict.ACCEPT.value, "came": Verdict.UNDECIDED.value},
    }.get(name, {})
    return Side(words(getattr(score, name)), urlencode({**where, **behind}))


def _nothing() -> Score:
    return scores(()).whole


def _table(score: Score, where: dict[str, str]) -> list[TableRow]:
    return [
        TableRow(
            HEADS[expected.value],
            [
                Cell(
                    score.table[row][column],
                    _tone(expected, came),
                    urlencode({**where, "expected": expected.value, "came": came.value}),
                )
                for column, came in enumerate(VERDICTS)
            ],
        )
        for row, expected in enumerate(VERDICTS)
    ]


def _tone(expected: Verdict, came: Verdict) -> str:
    if expected is came:
        return "same"
    return "lax" if came is Verdict.ACCEPT else "strict"


def _parts(new: Scores, old: Scores, kind: str) -> Parts:
    mine = new.by_process if kind == "process" else new.by_reason
    others = old.by_process if kind == "process" else old.by_reason
    found = [
        Part(
            name,
            wording.reason(name) if kind == "reason" else name,
            score.n,
            urlencode({kind: name}),
            _figures(score, others.get(name), {kind: name}),
        )
        for name, score in sorted(mine.items(), key=lambda item: (-item[1].n, item[0]))
    ]
    return Parts(
        [one for one in found if one.n >= MIN_LABELS],
        [one for one in found if one.n < MIN_LABELS],
    )
