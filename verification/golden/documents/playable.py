"""What a document can say and no replay could play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loomverify.errors import InputError, Issue, Loc
from verification.engine.judges.asking import Ask
from verification.engine.reasons import REASONS
from verification.golden.documents.schemas import CaseIn


def refuse_unplayable(case: CaseIn, loc: Loc) -> None:
    """Two replies to one question, and reasons that do not exist.

    Raises:
        InputError: `reply.twice`, `reason.unknown`, each with its place.
    """
    issues = [*_replies(case, loc), *_reasons(case, loc)]
    if issues:
        raise InputError.of(issues)


def _replies(case: CaseIn, loc: Loc) -> Iterator[Issue]:
    """Of two only one would ever be played."""
    seen: Counter[tuple[int, Ask]] = Counter()
    taken: set[tuple[int, Ask, int]] = set()
    for index, one in enumerate(case.replies):
        kind = (one.tier, one.ask)
        seen[kind] += 1
        key = (*kind, one.number or seen[kind])
        if key in taken:
            said = f"Another reply answers question {key[2]} ({one.ask}) of tier {one.tier}."
            yield Issue("reply.twice", said, (*loc, "replies", index))
        taken.add(key)


def _reasons(case: CaseIn, loc: Loc) -> Iterator[Issue]:
    told = [
        *((one.lost, (*loc, "replies", n, "lost")) for n, one in enumerate(case.replies)),
        (case.history.exhausted_reason, (*loc, "history", "exhausted_reason")),
    ]
    for code, place in told:
        if code and code not in REASONS:
            yield Issue("reason.unknown", f"There is no reason {code!r}.", place)
