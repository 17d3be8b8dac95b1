"""Both sides of comparisons, read back and compared: what their columns hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verification.engine.shadow import DiffClass, Full, SideOutcome, compare
from verification.runs.beside.counting import InFull, in_full
from verification.runs.beside.looking import Key
from verification.runs.events import Entry
from verification.trials.models import Trial
from verification.trials.sides import full_of
from verification.trials.working.claiming import Claimed
from verification.trials.working.pairing import Pair

RUN_GONE = "The run was deleted before it was compared."
LOST = "The verifier was lost on this run."
MAX_TEXT = 500
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """A pair whose evaluations are there. `errors`: what broke, by evaluation.

    `retry_after` (seconds) is what a judge asked for. `doubt` is why a judge is not asked again
    that could be, '' where none is.
    """

    pair: Pair
    made: Mapping[Key, int]
    errors: Mapping[Key, str] = field(default_factory=dict)
    retry_after: float = 0.0
    doubt: str = ""


def rows_of(done: Sequence[Done]) -> list[Columns]:
    """What the comparisons of these pairs hold; four queries at most, however many they are."""
    taken = [(one, *one.pair.ids(one.made)) for one in done]
    sides = [pk for _, old, new, _ in taken for pk in (old, new)]
    full = full_of([*sides, *(pk for *_, again in taken for pk in again)])
    asked = any(one.pair.looked.tier_requested > 1 or one.pair.may_ask for one in done)
    costs = in_full(sides, with_calls=asked)
    rows = []
    for one, old, new, again in taken:
        row = {**_named(one.pair.claimed), "old_evaluation_id": old, "new_evaluation_id": new}
        row |= _differences(full[old], full[new])
        row |= _side("old", full[old], costs[old]) | _side("new", full[new], costs[new])
        row |= {
            name: _outcome(full[pk])
            for name, pk in zip(("old_again", "new_again"), again, strict=False)
        }
        is_broken = full[old].is_lost or full[new].is_lost
        why = _why(one) if is_broken else one.doubt
        rows.append(row | {"has_failed": is_broken or bool(why), "error_text": why})
    return rows


def uncompared(claimed: Claimed, why: str, *, has_failed: bool = False) -> Columns:
    return {**_named(claimed), "error_text": why[:MAX_TEXT], "has_failed": has_failed}


def event_of(trial: Trial, row: Columns) -> Entry | None:
    """What is told of a run whose sides differ."""
    if row["diff_class"] == DiffClass.NO_DIFF:
        return None
    told = {
        "trial": str(trial.uuid),
        "class": row["diff_class"],
        "old": row["old"],
        "new": row["new"],
    }
    return "verification_shadow_diff", told


def _named(claimed: Claimed) -> Columns:
    return {"id": claimed.pk, "claims": claimed.claims}


def _differences(old: Full, new: Full) -> Columns:
    compared = compare(old, new)
    return {
        "diff_class": compared.diff_class,
        "finer": list(compared.finer),
        "rules": list(compared.rules),
        "summary": compared.summary,
        "kind": compared.kind,
    }


def _side(name: str, full: Full, costs: InFull) -> Columns:
    return {
        name: _outcome(full),
        f"{name}_reason": full.reason_code,
        f"{name}_cost_usd": str(costs.cost_usd),
        f"{name}_ms": costs.duration_ms,
    }


def _outcome(full: Full) -> SideOutcome:
    return SideOutcome.of(full.outcome, full.verdict)


def _why(one: Done) -> str:
    return "; ".join(dict.fromkeys(one.errors.values()))[:MAX_TEXT]
