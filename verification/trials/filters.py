"""Which comparisons of a trial are asked for, as it stands in an address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Self

from django.db.models import Q

from loomverify.filters import check_choice
from verification.engine.outcome import Verdict
from verification.engine.shadow import DiffClass, SideOutcome
from verification.trials.figures import AGAINST_NEW, COUNTED, flipped
from verification.trials.models import Judged, Origin

RUNS = "runs"
"""As an origin: live and past ones."""
MAX_CHARS = 200
YES, NO = "yes", "no"
MOVES: Mapping[str, DiffClass] = {
    "laxer": DiffClass.OLD_FAIL_NEW_PASS,
    "stricter": DiffClass.OLD_PASS_NEW_FAIL,
}


@dataclass(frozen=True, slots=True)
class ComparisonFilters:
    """Filters as they stand in a URL; '' leaves one open.

    `move`: laxer, stricter, both, or passes: whatever the new side alone accepts. `aa`: yes for
    pairs that were asked twice, old or new for those of which that side decided otherwise the
    second time. `origin`: one of `Origin`, or runs. `judged`: yes, no, what people said, or
    false_fails: a side's reject that they would not have given. `acknowledged`, `failed`: yes or no. `look`: yes for what differs, is not
    judged, and is not acknowledged. `finer` and `rule`: one on which the sides differ.
    """

    diff_class: str = ""
    old: str = ""
    new: str = ""
    move: str = ""
    origin: str = ""
    process: str = ""
    phase: str = ""
    rule: str = ""
    finer: str = ""
    kind: str = ""
    judged: str = ""
    acknowledged: str = ""
    failed: str = ""
    aa: str = ""
    look: str = ""
    replay: str = ""
    q: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """What of a query string is known."""
        given = {one.name: query.get(one.name, "") or "" for one in fields(cls)}
        kept = {name: str(value).replace("\0", "").strip() for name, value in given.items()}
        return cls(**{name: value[:MAX_CHARS] for name, value in kept.items()})

    def checked(self) -> Self:
        """Raises InputError: `filter.invalid`."""
        for name, allowed in CLOSED.items():
            check_choice(name, getattr(self, name), allowed)
        return self

    def given(self) -> dict[str, str]:
        """The filters that are set, by name."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value}


def narrowings(filters: ComparisonFilters) -> Iterable[Q]:
    """One condition for each filter that is given, on rows that know `is_acknowledged`."""
    for name, value in filters.given().items():
        if name in EXACT:
            yield Q(**{name: value})
        elif name in CHOSEN:
            yield CHOSEN[name].get(value, NOTHING)
    if filters.rule:
        yield Q(rules__contains=[filters.rule])
    if filters.finer:
        yield Q(finer__contains=[filters.finer])
    if filters.q:
        yield Q(title__icontains=filters.q)
    if filters.replay:
        yield Q(replay__uuid=filters.replay) if UUID_TEXT.fullmatch(filters.replay) else NOTHING


NOTHING = Q(pk__in=())
UUID_TEXT = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.ASCII)
EXACT = ("diff_class", "old", "new", "process", "phase", "kind")
FAIL, UNDECIDED = SideOutcome.FAIL.value, SideOutcome.UNDECIDED.value
ACCEPTED = [one.value for one in SideOutcome if one.verdict is Verdict.ACCEPT]
PASSES = Q(old__in=[FAIL, UNDECIDED], new__in=ACCEPTED)
FALSE_FAILS = (
    Q(old=FAIL, new__in=ACCEPTED, judged=Judged.NEW)
    | Q(old=FAIL, new=FAIL, judged=Judged.NEITHER)
    | Q(old__in=ACCEPTED, new=FAIL, judged__in=AGAINST_NEW)
)
"""As the figures count them: what the new side has put right, kept and added."""
DISCORDANT = Q(diff_class__in=[one.value for one in MOVES.values()])
DIFFERS = ~Q(diff_class__in=["", DiffClass.NO_DIFF])
CHOSEN: Mapping[str, Mapping[str, Q]] = {
    "move": {
        **{move: Q(diff_class=found) for move, found in MOVES.items()},
        "both": DISCORDANT,
        "passes": PASSES,
    },
    "aa": {YES: Q(is_aa=True), "old": flipped("old"), "new": flipped("new")},
    "origin": {
        RUNS: Q(origin__in=COUNTED),
        **{origin.value: Q(origin=origin) for origin in Origin},
    },
    "judged": {
        YES: ~Q(judged=""),
        NO: Q(judged=""),
        **{one.value: Q(judged=one) for one in Judged},
        "false_fails": FALSE_FAILS,
    },
    "acknowledged": {YES: Q(is_acknowledged=True), NO: Q(is_acknowledged=False)},
    "failed": {YES: Q(has_failed=True) | ~Q(error_text=""), NO: Q(has_failed=False, error_text="")},
    "look": {YES: DIFFERS & Q(judged="", is_acknowledged=False), NO: Q()},
}
CLOSED: Mapping[str, Iterable[str]] = {
    "diff_class": tuple(DiffClass),
    "old": tuple(SideOutcome),
    "new": tuple(SideOutcome),
    **CHOSEN,
}
"""The filters that take one of a closed set."""
