"""What a morning report says, as frozen values. Their counts add up, or there is no report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from verification.actions.report.nights import Night
from verification.engine.outcome import Outcome, Verdict

WARNS_FROM = Decimal("0.8")
"""The share of a day's budget from which the report warns."""
LISTED = 20
"""So many runs of each kind are named; all of them are counted."""


class Ending(StrEnum):
    """How a run stands. Each run has exactly one."""

    PASS = "pass"  # noqa: S105 - an ending, not a password
    WARNINGS = "warnings"
    PARTIAL = "partial"
    FAIL = "fail"
    UNDECIDED = "undecided"
    QUEUED = "queued"
    RUNNING = "running"
    ERRORED = "errored"
    CANCELLED = "cancelled"


ACCEPTED = {
    Outcome.PASS: Ending.PASS,
    Outcome.PASS_WITH_WARNINGS: Ending.WARNINGS,
    Outcome.PARTIAL_VERIFIED: Ending.PARTIAL,
}
FILTERS: dict[Ending, dict[str, str]] = {
    **{
        ending: {"state": "finished", "outcome": outcome.value, "verdict": "accept"}
        for outcome, ending in ACCEPTED.items()
    },
    Ending.FAIL: {"state": "finished", "verdict": "reject"},
    Ending.UNDECIDED: {"state": "finished", "verdict": "undecided"},
    **{
        ending: {"state": ending.value}
        for ending in (Ending.QUEUED, Ending.RUNNING, Ending.ERRORED, Ending.CANCELLED)
    },
}
"""How the page of runs is asked for them."""


def ending_of(state: str, verdict: str, outcome: str | None) -> Ending:
    """Doubt comes first: what no verdict says is undecided, whatever its outcome."""
    if state != "finished":
        return Ending(state)
    if verdict == Verdict.REJECT:
        return Ending.FAIL
    if verdict == Verdict.ACCEPT and outcome in ACCEPTED:
        return ACCEPTED[Outcome(outcome)]
    return Ending.UNDECIDED


class Page(StrEnum):
    """What a link leads to. `Places` knows the addresses."""

    RUNS = "runs"
    RUN = "run"
    QUEUE = "queue"
    ACTIONS = "actions"
    REMEDIATIONS = "remediations"
    REPLAY = "replay"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True)
class Link:
    page: Page
    key: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """A number, what it counts, and where its rows are. `name` is ours, `words` are people's."""

    name: str
    words: str
    count: int
    link: Link


@dataclass(frozen=True, slots=True)
class ProcessLine:
    """What ran of one process. Its endings hold each of its runs once."""

    slug: str
    title: str
    runs: int
    endings: Sequence[Tally]
    cost_usd: Decimal
    link: Link


@dataclass(frozen=True, slots=True)
class Stretch:
    """An hour of a night, a day of a longer span. Its endings hold each of its runs once."""

    night: Night
    runs: int
    endings: Sequence[Tally]
    link: Link


class Standing(StrEnum):
    """What became of a change. Each has exactly one, the first of these that is true of it."""

    REVERTED = "reverted"
    COMMITTED = "committed"
    HELD = "held"
    PROPOSED = "proposed"
    UNDER_WAY = "under_way"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run by name. `title` is submitted text; `why` is ours."""

    title: str
    process: str
    phase: str
    at: datetime
    why: str
    link: Link


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of one standing: all of them counted, by reason too, and the newest named.

    `link` leads to all of them. None: nothing was done with them that could be listed.
    """

    standing: Standing
    count: int
    reasons: Sequence[tuple[str, int]]
    lines: Sequence[RunLine]
    link: Link | None = None

    def __post_init__(self) -> None:
        _adds_up(f"{self.standing} changes", self.count, [n for _, n in self.reasons])


class Need(StrEnum):
    """What a person has to look at."""

    REVIEW = "review"
    HELD = "held"
    PROPOSED = "proposed"
    REMEDIATION = "remediation"


@dataclass(frozen=True, slots=True)
class Needed:
    """So many of one kind and reason wait, the oldest of them since `oldest`."""

    need: Need
    reason: str
    words: str
    count: int
    oldest: datetime
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """The day of a budget on which most of it was spent. `scope` empty: all of the project."""

    scope: str
    day: date
    spent_usd: Decimal
    limit_usd: Decimal
    link: Link

    @property
    def share(self) -> Decimal:
        """1 is all of it. A budget of nothing is used up."""
        return self.spent_usd / self.limit_usd if self.limit_usd else Decimal(1)

    @property
    def warns(self) -> bool:
        return self.share >= WARNS_FROM

    @property
    def is_used_up(self) -> bool:
        return self.share >= 1


@dataclass(frozen=True, slots=True)
class Regression:
    """A replay of the golden corpus in which cases broke that had held."""

    at: datetime
    regressed: int
    total: int
    cases: Sequence[str]
    link: Link


@dataclass(frozen=True, slots=True)
class Agreed:
    """The verifier beside people: of `n` reviews they said the same `share` of the time."""

    words: str
    n: int
    share: float | None
    kappa: float | None
    link: Link


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done next. `tone` is that of a badge."""

    words: str
    link: Link | None = None
    tone: str = "open"


@dataclass(frozen=True, slots=True)
class Report:
    """One night of a project.

    A run counts in the night it was submitted in, and with it its change. `earlier` counts what
    was done in this night with changes from before it.
    """

    project: str
    slug: str
    zone: str
    night: Night
    runs: int
    runs_link: Link
    cost_usd: Decimal
    endings: Sequence[Tally]
    reasons: Sequence[Tally]
    processes: Sequence[ProcessLine]
    stretches: Sequence[Stretch]
    changes: int
    standings: Sequence[Changes]
    earlier: Sequence[tuple[str, int]]
    needs_count: int
    needs: Sequence[Needed]
    waiting: Sequence[RunLine]
    budgets: Sequence[BudgetLine]
    regressions: Sequence[Regression]
    agreed: Sequence[Agreed]
    steps: Sequence[Step] = field(default=())

    def __post_init__(self) -> None:
        _adds_up("endings", self.runs, [one.count for one in self.endings])
        _adds_up("processes", self.runs, [one.runs for one in self.processes])
        _adds_up("stretches", self.runs, [one.runs for one in self.stretches])
        for stretch in self.stretches:
            _adds_up("a stretch", stretch.runs, [one.count for one in stretch.endings])
        for process in self.processes:
            _adds_up(process.slug, process.runs, [one.count for one in process.endings])
        _adds_up("changes", self.changes, [one.count for one in self.standings])
        _adds_up("needs", self.needs_count, [one.count for one in self.needs])

    @property
    def is_empty(self) -> bool:
        """Nothing ran and nothing was done. Something older may wait all the same."""
        return not (self.runs or self.earlier or self.regressions)

    def standing(self, standing: Standing) -> Changes:
        return next(one for one in self.standings if one.standing is standing)

    def ending(self, ending: Ending) -> Tally | None:
        return next((one for one in self.endings if one.name == ending), None)


def _adds_up(what: str, whole: int, parts: Sequence[int]) -> None:
    if whole != sum(parts):
        raise ValueError(f"{what}: {whole} is not the sum of {list(parts)}")
