"""What a trial's comparisons come to, from what PostgreSQL has counted as they changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Q, Sum

from verification.engine.cutover import Flips, Pairs, People
from verification.engine.outcome import Verdict
from verification.engine.shadow import DiffClass, SideOutcome
from verification.trials.models import Judged, Origin, Tally, Trial

COUNTED = (Origin.LIVE, Origin.PAST)
"""Whose comparisons a cutover rests on: the golden corpus is a criterion of its own."""
FREE = Decimal(0)
NO_FLIPS = Flips()
AGAINST_NEW = (Judged.OLD, Judged.NEITHER, Judged.DISPUTED)
"""What speaks against the new side's move; a dispute does so until it is settled."""


@dataclass(frozen=True, slots=True)
class Group:
    """Comparisons that came out the same and were judged the same; `judged` '' is not yet."""

    old: SideOutcome
    new: SideOutcome
    diff_class: DiffClass
    judged: str
    origin: Origin
    count: int
    old_cost: Decimal = FREE
    new_cost: Decimal = FREE
    old_flips: Flips = NO_FLIPS
    new_flips: Flips = NO_FLIPS

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        return self.old.verdict, self.new.verdict


@dataclass(frozen=True, slots=True)
class Figures:
    """All counts of a trial over some origins.

    The 95th percentiles are in milliseconds, and those of live and past runs whatever `of` takes.
    """

    groups: Sequence[Group] = field(default=())
    old_p95_ms: float = 0.0
    new_p95_ms: float = 0.0

    def of(self, origins: Iterable[Origin]) -> Figures:
        """Those of these origins alone."""
        wanted = set(origins)
        return replace(self, groups=[one for one in self.groups if one.origin in wanted])

    @property
    def count(self) -> int:
        return sum(one.count for one in self.groups)

    @property
    def judged(self) -> int:
        return sum(one.count for one in self.groups if one.judged)

    @property
    def matrix(self) -> dict[SideOutcome, dict[SideOutcome, int]]:
        """How many of each old and new outcome; what did not occur is absent."""
        return _matrix(self.groups)

    @property
    def judged_matrix(self) -> dict[SideOutcome, dict[SideOutcome, int]]:
        """As `matrix`, of those that people judged."""
        return _matrix(one for one in self.groups if one.judged)

    @property
    def classes(self) -> dict[DiffClass, int]:
        """How many of every class, 0 too."""
        counted: Counter[DiffClass] = Counter()
        for one in self.groups:
            counted[one.diff_class] += one.count
        return {found: counted[found] for found in DiffClass}

    @property
    def words(self) -> dict[str, int]:
        """How many people judged each way; those not judged yet are left out."""
        counted: Counter[str] = Counter()
        for one in self.groups:
            counted[one.judged] += one.count
        return {judged.value: counted[judged.value] for judged in Judged}

    @property
    def pairs(self) -> Pairs:
        accept, reject, doubt = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED
        return Pairs(
            both_accept=self._with(accept, accept),
            both_reject=self._with(reject, reject),
            laxer=self._with(reject, accept),
            stricter=self._with(accept, reject),
            old_undecided=self._with(doubt, accept) + self._with(doubt, reject),
            new_undecided=self._with(accept, doubt) + self._with(reject, doubt),
            both_undecided=self._with(doubt, doubt),
            doubt_accepted=self._with(doubt, accept),
        )

    @property
    def people(self) -> People:
        """What people said counts for: docs/shadow.md, "What judgements count for"."""
        accept, reject, doubt = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED
        said = tuple(Judged)
        wrong = self._with(accept, reject, AGAINST_NEW)
        return People(
            laxer_judged=self._with(reject, accept, said),
            laxer_unsafe=self._with(reject, accept, AGAINST_NEW),
            stricter_judged=self._with(accept, reject, said),
            stricter_wrong=wrong,
            stricter_right=self._with(accept, reject, (Judged.NEW,)),
            false_fails_fixed=self._with(reject, accept, (Judged.NEW,)),
            false_fails_kept=self._with(reject, reject, (Judged.NEITHER,)),
            false_fails_added=wrong,
            both_reject_judged=self._with(reject, reject, said),
            doubt_judged=self._with(doubt, accept, said),
            doubt_unsafe=self._with(doubt, accept, AGAINST_NEW),
        )

    @property
    def old_flips(self) -> Flips:
        return _added(one.old_flips for one in self.groups)

    @property
    def new_flips(self) -> Flips:
        return _added(one.new_flips for one in self.groups)

    @property
    def old_cost(self) -> Decimal:
        return sum((one.old_cost for one in self.groups), FREE)

    @property
    def new_cost(self) -> Decimal:
        return sum((one.new_cost for one in self.groups), FREE)

    def _with(self, old: Verdict, new: Verdict, judged: Iterable[str] | None = None) -> int:
        found = (one for one in self.groups if one.verdicts == (old, new))
        return sum(one.count for one in found if judged is None or one.judged in judged)


def figures_of(trial: Trial, origins: Iterable[Origin] = COUNTED) -> Figures:
    return figures_of_all([trial], origins)[trial.pk]


def figures_of_all(
    trials: Iterable[Trial], origins: Iterable[Origin] = COUNTED
) -> dict[int, Figures]:
    """The figures of several trials by their ids, with two statements."""
    ids = [trial.pk for trial in trials]
    groups: dict[int, list[Group]] = {pk: [] for pk in ids}
    for row in _rows(ids, [str(origin) for origin in origins]):
        groups[row["trial_id"]].append(_group(row))
    times = _times(ids)
    return {pk: Figures(groups[pk], *times.get(pk, (0.0, 0.0))) for pk in ids}


def _rows(ids: Sequence[int], origins: Sequence[str]) -> Iterable[Mapping[str, Any]]:
    same = ("origin", "old", "new", "old_again", "new_again", "diff_class", "judged")
    rows = Tally.objects.filter(trial_id__in=ids, origin__in=origins).exclude(diff_class="")
    summed = rows.values("trial_id", *same).annotate(
        pairs=Sum("count"), old_cost=Sum("old_cost_usd"), new_cost=Sum("new_cost_usd")
    )
    found: Iterable[Mapping[str, Any]] = summed.filter(pairs__gt=0)
    return found


def flipped(side: str) -> Q:
    """Pairs of which this side decided twice, and not the same."""
    rejects, again = Q(**{side: "fail"}), Q(**{f"{side}_again": "fail"})
    return _decided_twice(side) & ((rejects & ~again) | (~rejects & again))


def _decided_twice(side: str) -> Q:
    undecided = SideOutcome.UNDECIDED.value
    return ~Q(**{side: undecided}) & ~Q(**{f"{side}_again__in": ["", undecided]})


def _group(row: Mapping[str, Any]) -> Group:
    return Group(
        old=SideOutcome(row["old"]),
        new=SideOutcome(row["new"]),
        diff_class=DiffClass(row["diff_class"]),
        judged=row["judged"],
        origin=Origin(row["origin"]),
        count=row["pairs"],
        old_cost=row["old_cost"],
        new_cost=row["new_cost"],
        old_flips=_flips(row["old"], row["old_again"], row["pairs"]),
        new_flips=_flips(row["new"], row["new_again"], row["pairs"]),
    )


def _flips(first: str, again: str, count: int) -> Flips:
    """As `flipped` finds them: doubt is apart."""
    undecided = SideOutcome.UNDECIDED
    if first == undecided or again in ("", undecided):
        return NO_FLIPS
    return Flips(count if (first == "fail") is not (again == "fail") else 0, count)


def _times(ids: Sequence[int]) -> dict[int, tuple[float, float]]:
    """The 95th percentiles of both sides over live and past runs, by trial.

    The slowest twentieth is read from an index, slowest first, up to the two places that the
    percentile lies between.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, [list(ids)])
        return {pk: (old, new) for pk, old, new in cursor.fetchall()}


_SLOW = """
    select min(ms) + (max(ms) - min(ms)) * (place - floor(place)) from (
        select {side}_ms as ms from trials_comparison
        where trial_id = counted.trial_id and origin in ('live', 'past') and not diff_class = ''
        order by {side}_ms desc
        offset pairs - 1 - ceil(place)::bigint limit (ceil(place) - floor(place))::bigint + 1
    ) slowest
"""
_TIMES = f"""
    select trial_id, ({_SLOW.format(side="old")}), ({_SLOW.format(side="new")})
    from (
        select trial_id, sum(count) as pairs, 0.95::float * (sum(count) - 1) as place
        from trials_tally
        where trial_id = any(%s) and origin in ('live', 'past') and diff_class <> ''
        group by trial_id having sum(count) > 0
    ) counted
"""  # noqa: S608 - constants of this module


def _matrix(groups: Iterable[Group]) -> dict[SideOutcome, dict[SideOutcome, int]]:
    found: dict[SideOutcome, dict[SideOutcome, int]] = {}
    for one in groups:
        row = found.setdefault(one.old, {})
        row[one.new] = row.get(one.new, 0) + one.count
    return found


def _added(flips: Iterable[Flips]) -> Flips:
    all_of_them = list(flips)
    return Flips(sum(one.flips for one in all_of_them), sum(one.n for one in all_of_them))
