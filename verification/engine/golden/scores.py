"""A verifier against what is expected of it: how far its rejects can be relied on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verification.engine.outcome import Outcome, SeverityClass, Verdict
from verification.engine.reasons import REASONS, RESULTS
from verification.engine.statistics.agreement import agreement
from verification.engine.statistics.estimates import Figure, share

VERDICTS = (Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED)
Table = tuple[tuple[int, ...], ...]
_ACCEPTED = (Outcome.PASS, Outcome.PASS_WITH_WARNINGS)
_BLAMING = (SeverityClass.HARD_INVARIANT, SeverityClass.SEMANTIC)


@dataclass(frozen=True, slots=True)
class Pair:
    """One judged case: the verdict that was expected beside the one that was observed.

    `reason_code` is the expected one, '' where none is.
    """

    expected: Verdict
    observed: Verdict
    process: str = ""
    reason_code: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """How well verdicts fit. A reject is what is looked for.

    `table` counts cases: a row for each expected verdict, a column for each observed one, in the
    order of `VERDICTS`. `precision`: of the observed rejects, those that were expected; `recall`:
    of the expected rejects, those that were observed, an undecided is a miss. `undecided`: of the
    expected accepts, those left undecided. `kappa` and `agreement` are over all three verdicts.
    """

    n: int
    table: Table
    precision: Figure
    recall: Figure
    f1: Figure
    undecided: Figure
    agreement: Figure
    kappa: Figure


@dataclass(frozen=True, slots=True)
class Scores:
    """`by_reason` is by the expected reason code; cases that expect none are in `whole` alone."""

    whole: Score
    by_process: Mapping[str, Score] = field(hash=False)
    by_reason: Mapping[str, Score] = field(hash=False)


def scores(pairs: Iterable[Pair]) -> Scores:
    """Score all cases, each process and each expected reason. The order of pairs plays no part.

    Leave out what could not be judged: it says nothing of the verifier.

    Source: docs/golden.md, "Scores".
    """
    pairs = list(pairs)
    processes, reasons = _parted(pairs, "process"), _parted(pairs, "reason_code")
    return Scores(
        score(pairs),
        {name: score(those) for name, those in processes.items()},
        {code: score(those) for code, those in reasons.items()},
    )


def score(pairs: Sequence[Pair]) -> Score:
    """Fewer than 20 cases behind a figure are too few to give it."""
    from verification.engine.golden.f1 import f1

    table = _table(pairs)
    accept, reject, undecided = table
    hits, false_alarms = reject[1], accept[1] + undecided[1]
    misses = reject[0] + reject[2]
    agreed = agreement(table)
    return Score(
        n=len(pairs),
        table=table,
        precision=share(hits, hits + false_alarms),
        recall=share(hits, hits + misses),
        f1=f1(hits, false_alarms, misses),
        undecided=share(accept[2], sum(accept)),
        agreement=agreed.percentage,
        kappa=agreed.kappa,
    )


def expected_verdict(expected: Mapping[str, Any]) -> Verdict | None:
    """The verdict that an expectation means; None: it speaks of none, and is not scored.

    Where it does not name one, its outcome and reason imply it.
    """
    if expected.get("verdict"):
        return Verdict(expected["verdict"])
    outcome = Outcome(expected["outcome"]) if expected.get("outcome") else None
    if outcome in _ACCEPTED:
        return Verdict.ACCEPT
    why = REASONS.get(expected.get("reason_code") or "")
    implied = RESULTS.get(why.effect) if why else None
    if implied and outcome in (None, implied[0]):
        return implied[1]
    if outcome is Outcome.FAIL and expected.get("severity_class"):
        blames = expected["severity_class"] in _BLAMING
        return Verdict.REJECT if blames else Verdict.UNDECIDED
    return None


def _parted(pairs: Sequence[Pair], name: str) -> dict[str, list[Pair]]:
    found: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if key := getattr(pair, name):
            found[key].append(pair)
    return dict(sorted(found.items()))


def _table(pairs: Sequence[Pair]) -> Table:
    counts = Counter((pair.expected, pair.observed) for pair in pairs)
    return tuple(tuple(counts[row, column] for column in VERDICTS) for row in VERDICTS)
