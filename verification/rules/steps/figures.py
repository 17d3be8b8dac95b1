"""What is known of a rule before it counts for more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from processes import publications
from processes.definition.model import Enforcement, Rule
from processes.models import Process
from verification.engine.statistics.intervals import Interval, wilson
from verification.rules.figures.reading import Step, Use
from verification.rules.models import Backtest
from verification.rules.pages.contents import Content, alike
from verification.runs.spans import Span

LADDER = (Enforcement.OBSERVE, Enforcement.ADVISORY, Enforcement.HARD)
VERBS = {
    Enforcement.OBSERVE: "observed",
    Enforcement.ADVISORY: "advisory",
    Enforcement.HARD: "hard",
}
MAX_DAYS = 90
MIN_RUNS = 50
MIN_LABELS = 10


@dataclass(frozen=True, slots=True)
class Standing:
    """A rule on its step: since when, what it did there, and which steps are next to it.

    `wrong` is the share of what it found that people called wrong, with its interval.
    """

    at: Enforcement
    since: datetime | None
    use: Use
    wrong: tuple[float, Interval] | None
    backtest: Backtest | None
    thin: Sequence[str]
    up: Enforcement | None
    down: Enforcement | None
    days: int = MAX_DAYS
    ladder: tuple[Enforcement, ...] = LADDER

    @property
    def verb(self) -> str:
        return VERBS[self.at]


def span_of_steps() -> Span:
    now = timezone.now()
    return Span.by_days(now - timedelta(days=MAX_DAYS), now)


def standing(
    process: Process, rule: Rule, said: Iterable[Content], steps: Sequence[Step]
) -> Standing:
    """`steps`: what the rule did in the last `MAX_DAYS`, of any content."""
    same = alike(rule, list(said))
    shas = {one.sha256 for one in same} | {rule.content_sha256}
    use = sum((step.use for step in steps if step.content_sha256 in shas), Use())
    at = LADDER.index(rule.usual_enforcement)
    backtest = Backtest.objects.filter(
        process=process, rule=rule.name, looks_for_sha256=rule.looks_for_sha256
    ).first()
    return Standing(
        at=rule.usual_enforcement,
        since=_since(process, {one.number for one in same}),
        use=use,
        wrong=share_of(use.found_wrong, use.labelled),
        backtest=backtest,
        thin=_thin(use),
        up=rule.next_enforcement,
        down=LADDER[at - 1] if at else None,
    )


def _since(process: Process, same: Collection[int]) -> datetime | None:
    """When the stretch began in which only versions of these numbers were published."""
    since = None
    for at, number in publications.numbers(process):
        if number not in same:
            break
        since = at
    return since


def share_of(count: int, n: int) -> tuple[float, Interval] | None:
    return (count / n, wilson(count, n)) if n else None


def _thin(use: Use) -> list[str]:
    """What there is too little of to rely on."""
    said = []
    if use.applied < MIN_RUNS:
        said.append(
            f"It was applied to {use.applied} run{'s' * (use.applied != 1)} on this step: "
            f"wait for {MIN_RUNS} before you rely on it."
        )
    if use.violated and use.labelled < min(MIN_LABELS, use.violated):
        said.append(
            f"People judged what it found in {use.labelled} of {use.violated} "
            f"run{'s' * (use.violated != 1)}: how often it is wrong is a guess."
        )
    return said
