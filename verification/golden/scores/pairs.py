"""What each case of a replay expects, beside what the two engines came to: the scores' input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models.fields.json import KT, KeyTransform

from verification.engine.golden.scores import Pair, expected_verdict
from verification.engine.outcome import Verdict
from verification.golden.models import Replay, ReplayResult

OLD = "old"


@dataclass(frozen=True, slots=True)
class Compared:
    """Verdicts of one case. `new` and `old` are None where that engine could not be judged."""

    result: int
    process: str
    expected: Verdict
    reason: str
    new: Verdict | None
    old: Verdict | None

    def pair(self, *, is_old: bool) -> Pair | None:
        observed = self.old if is_old else self.new
        if observed is None:
            return None
        return Pair(self.expected, observed, self.process, self.reason)


@dataclass(frozen=True, slots=True)
class Behind:
    """Cases behind a figure; '' leaves a part open. `is_old`: `came` is the old engine's."""

    expected: str = ""
    came: str = ""
    reason: str = ""
    is_old: bool = False

    def holds(self, one: Compared) -> bool:
        came = one.old if self.is_old else one.new
        return (
            came is not None
            and self.expected in ("", one.expected)
            and self.came in ("", came)
            and self.reason in ("", one.reason)
        )


def compared(replay: Replay) -> Iterator[Compared]:
    """Cases that expect no verdict, and none that follows from the rest, are left out."""
    rows = ReplayResult.objects.filter(replay=replay).exclude(replayed_at=None)
    rows = rows.annotate(
        expected=KeyTransform("expected", "case_version__spec"),
        old_verdict=KT("legacy__verdict"),
        old_missing=KT("legacy__missing"),
    )
    names = ("pk", "case__process", "expected", "verdict", "missing", "old_verdict", "old_missing")
    for pk, process, expected, verdict, missing, old, old_missing in rows.values_list(*names):
        wanted = expected_verdict(expected or {})
        if wanted is None:
            continue
        yield Compared(
            result=pk,
            process=process,
            expected=wanted,
            reason=(expected or {}).get("reason_code") or "",
            new=_verdict(verdict, missing),
            old=_verdict(old, int(old_missing or 0)),
        )


def results_behind(replay: Replay, behind: Behind) -> list[int]:
    """The results that a figure counts, by their keys."""
    return [one.result for one in compared(replay) if behind.holds(one)]


def _verdict(text: str | None, missing: int) -> Verdict | None:
    return Verdict(text) if text and not missing else None
