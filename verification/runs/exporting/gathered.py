"""A run with all that is written about it elsewhere, read in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.db.models.functions import Left

from loomverify.errors import FaultError
from processes.definition.model import Enforcement, Rule
from processes.selectors import definition_of
from verification.engine.outcome import FindingVerdict, Outcome, Verdict
from verification.runs import rendering, wording
from verification.runs.judged_page import ShownClaim
from verification.runs.models import Evaluation, Finding, Run, RunState, TierResult, Vote

MAX_FINDINGS = 5_000
"""What code hosts show of one upload; the most severe come first."""
MAX_TEXT_CHARS = 4_000
LONG_TEXTS = ("message", "quote", "suggestion")


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with its long texts cut."""

    row: Finding
    message: str
    quote: str
    suggestion: str

    @property
    def is_violated(self) -> bool:
        return self.row.verdict == FindingVerdict.VIOLATED

    @property
    def is_hard(self) -> bool:
        return self.row.enforcement == Enforcement.HARD


@dataclass(frozen=True, slots=True)
class RunReport:
    """`found` is ordered, most severe first; `left_out` findings more were made.

    `verdict` is undecided too where a run ended without one: nobody accepted its work.
    """

    run: Run
    evaluation: Evaluation | None
    found: tuple[Found, ...]
    left_out: int
    rules: Mapping[str, Rule]
    tiers: tuple[TierResult, ...]
    votes: tuple[Vote, ...] = ()
    claims: tuple[ShownClaim, ...] = ()

    @property
    def verdict(self) -> Verdict:
        if self.run.state != RunState.FINISHED or not self.run.verdict:
            return Verdict.UNDECIDED
        return Verdict(self.run.verdict)

    @property
    def headline(self) -> wording.Headline:
        return wording.headline(self.run)

    @property
    def trace(self) -> list[dict[str, Any]]:
        return list(self.evaluation.rule_trace) if self.evaluation else []

    @property
    def decided_otherwise(self) -> Outcome | None:
        """What a person decided, where that is not what verification said."""
        decided = self.run.final_outcome
        return Outcome(decided) if decided and decided != self.run.outcome else None

    @property
    def url(self) -> str:
        return rendering.run_url(self.run)


def report_of(run: Run) -> RunReport:
    """Gather what the exports of a run hold. Only what its live evaluation found counts."""
    live = run.live_evaluation
    found = tuple(_found(most_severe(live.findings.all())[:MAX_FINDINGS])) if live else ()
    total = len(found)
    if live and total == MAX_FINDINGS:
        total = live.findings.count()
    return RunReport(
        run=run,
        evaluation=live,
        found=found,
        left_out=total - len(found),
        rules=_rules(run),
        tiers=tuple(live.tiers.defer("result").order_by("tier")) if live else (),
        votes=tuple(live.votes.order_by("index")) if live and run.tier_requested > 2 else (),
        claims=tuple(_claims(live)),
    )


def most_severe(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    """Hard before advisory before observed; within these, as the evaluation ordered them."""
    order = [When(enforcement=value.value, then=Value(n)) for n, value in enumerate(Enforcement)]
    weight = Case(*order, default=Value(9), output_field=IntegerField())
    return findings.order_by(weight, "tier", "position")


def with_cut_texts(findings: QuerySet[Finding]) -> QuerySet[Finding]:
    """Leave the rest of very long texts in the database."""
    cut = {f"cut_{name}": Left(name, MAX_TEXT_CHARS + 1) for name in LONG_TEXTS}
    return findings.defer(*LONG_TEXTS).annotate(**cut)


def _found(findings: QuerySet[Finding]) -> Iterable[Found]:
    for row in with_cut_texts(findings):
        texts = {name: getattr(row, f"cut_{name}") for name in LONG_TEXTS}
        yield Found(row, **texts)


def _claims(live: Evaluation | None) -> Iterator[ShownClaim]:
    for number, saved in enumerate(live.claim_list if live else (), start=1):
        yield ShownClaim.of(number, saved)


def _rules(run: Run) -> Mapping[str, Rule]:
    """The rules of the process version; none where a version of old does not load any more."""
    try:
        definition = definition_of(run.process_version_id)
    except FaultError:
        return {}
    return {rule.name: rule for rule in definition.rules}
