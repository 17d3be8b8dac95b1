"""Which evaluations a comparison takes: the one that counts, wherever it is a side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from verification.engine.outcome import Purpose
from verification.runs.beside import looking
from verification.runs.beside.looking import BegunBefore, Key, Looked, Wanted
from verification.trials.models import Trial
from verification.trials.working.claiming import Claimed

OLD, NEW = 1, 2
SIDES = 2
"""The number of a side goes up by so much each time that it is asked again."""
Taken: TypeAlias = int | Wanted
"""An evaluation that is there, or one that is to be made."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A run and both its sides; `again` are the second answers of an A/A pair, old first."""

    claimed: Claimed
    looked: Looked
    old: Taken
    new: Taken
    again: tuple[Wanted, ...] = ()

    @property
    def wanted(self) -> Iterator[Wanted]:
        for one in (self.old, self.new, *self.again):
            if isinstance(one, Wanted):
                yield one

    def tier(self, wanted: Wanted) -> int:
        return self.looked.tier(wanted.process_version_id)

    @property
    def may_ask(self) -> bool:
        """Whether a side that is to be made may ask a judge."""
        return any(
            self.tier(one) > 1 and looking.has_judges(one.verifier_version_id)
            for one in self.wanted
        )

    def is_light(self, before: Mapping[Key, BegunBefore]) -> bool:
        """Nothing is paid for it, and no worker was lost half-way: it can be made in one go."""
        is_begun = (one.key in before and not before[one.key].is_finished for one in self.wanted)
        return not self.may_ask and not any(is_begun)

    def ids(self, made: Mapping[Key, int]) -> tuple[int, int, tuple[int, ...]]:
        """Its evaluations, once all are made."""

        def pk(one: Taken) -> int:
            return made[one.key] if isinstance(one, Wanted) else one

        return pk(self.old), pk(self.new), tuple(pk(one) for one in self.again)


def pair_of(
    trial: Trial,
    claimed: Claimed,
    looked: Looked,
    before: Mapping[Key, BegunBefore],
    doubtful: Collection[int],
) -> Pair:
    """`before`: what was begun for it. `doubtful`: evaluations whose judge is asked again."""
    verifiers = {OLD: trial.baseline_verifier_id, NEW: trial.candidate_verifier_id}
    processes = {OLD: trial.baseline_process_version_id, NEW: trial.candidate_process_version_id}

    def turn(side: int, purpose: Purpose) -> tuple[int, int | None]:
        """The number of the last one, or of the next where that was in doubt."""
        newest = side + SIDES * claimed.asked_again
        for seq in range(newest, side, -SIDES):
            if (looked.run_id, purpose, seq) in before:
                return seq, None
            last = before.get((looked.run_id, purpose, seq - SIDES))
            if last and last.evaluation_id in doubtful:
                return newest, last.evaluation_id
        return side, None

    def wanted(side: int, purpose: Purpose) -> Wanted:
        process = processes[side] or looked.process_version_id
        seq, after = turn(side, purpose)
        return Wanted(looked.run_id, trial.pk, purpose, seq, verifiers[side], process, after)

    def side(which: int) -> Taken:
        found = wanted(which, Purpose.SHADOW)
        live = (looked.live_verifier_id, looked.live_process_version_id)
        is_live = (found.verifier_version_id, found.process_version_id) == live
        return looked.live_id if is_live else found

    again = (wanted(OLD, Purpose.AA), wanted(NEW, Purpose.AA)) if claimed.is_aa else ()
    return Pair(claimed, looked, side(OLD), side(NEW), again)
