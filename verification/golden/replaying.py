"""One case, judged: replayed by a verifier and by the old engine, held against what is expected.

Nothing is stored here, and no database is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from processes.definition.model import Definition
from verification.engine.golden.comparing import Difference, differences
from verification.engine.golden.given import Given
from verification.engine.golden.observing import bounded
from verification.engine.golden.replay import Replayed, World, replay
from verification.engine.golden.standing import Standing, standing_of
from verification.engine.outcome import Outcome, Verdict
from verification.engine.shadow import diff_class
from verification.engine.verifier import LEGACY_FLAGS, VerifierSpec


@dataclass(frozen=True, slots=True)
class Judged:
    """`observed` has the class of the two engines' difference beside it, as `shadow`.

    `legacy` is None where the old engine was not asked, or asked for what was not recorded.
    """

    standing: Standing
    observed: Mapping[str, Any]
    differences: Sequence[Difference]
    replayed: Replayed
    legacy: Replayed | None = None


def judge_case(
    given: Given,
    expected: Mapping[str, Any],
    definition: Definition,
    verifier: VerifierSpec,
    world: World,
    *,
    legacy: VerifierSpec | None = None,
    legacy_world: World | None = None,
) -> Judged:
    """Replay a case and hold what came of it against what is expected.

    `legacy_world` None: the old engine reaches for the same.

    Raises:
        CannotReplay: the process has no such phase, or the history no such end.
    """
    replayed = replay(given, definition, verifier, world)
    old = replay(given, definition, legacy, legacy_world or world) if legacy else None
    observed = {**replayed.observed, "shadow": _shadow(old, replayed)}
    found = differences(expected, observed)
    missing = replayed.missing
    if "shadow" in expected:
        missing += old.missing if old else 1
    return Judged(standing_of(found, missing=missing), bounded(observed), found, replayed, old)


def _shadow(old: Replayed | None, new: Replayed) -> str | None:
    if old is None or old.missing or new.missing:
        return None
    return diff_class(_Side.of(old), _Side.of(new)).value


@dataclass(frozen=True, slots=True)
class _Side:
    outcome: Outcome
    verdict: Verdict
    reason_code: str

    @classmethod
    def of(cls, replayed: Replayed) -> _Side:
        told = replayed.observed
        return cls(Outcome(told["outcome"]), Verdict(told["verdict"]), told["reason_code"])


LEGACY = VerifierSpec(LEGACY_FLAGS)
