"""The page on which people judge: the work beside two verdicts that nobody can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from uuid import UUID

from django.urls import reverse

from loomverify.accounts.access import Access
from processes.definition.model import Phase
from processes.selectors import definition_of
from verification.engine.checks import unscoped_rules
from verification.engine.finding import Finding
from verification.engine.shadow import Aligned, SideOutcome
from verification.runs import wording
from verification.runs.choice import Choice
from verification.runs.models import Evaluation, Run
from verification.runs.places import place_of
from verification.runs.run_page import ListedFinding, RunPage, run_of
from verification.runs.wording import Headline
from verification.trials.judging import services
from verification.trials.judging import wording as words
from verification.trials.judging.blinding import is_old_first
from verification.trials.judging.sides import MAX_FINDINGS, Sides
from verification.trials.judging.walking import Progress, Wish, part_of, progress_of
from verification.trials.models import Comparison, Trial
from verification.trials.selectors import comparison_of, trial_of

GIVEAWAYS: Final = frozenset({"legacy_unscoped"})
"""Reasons that tell how a verifier is set, and nothing of the work."""
GIVEAWAY_CHECKS: Final = frozenset({unscoped_rules.ID})
"""Checks whose findings do, too."""


@dataclass(frozen=True, slots=True)
class BlindSide:
    name: str
    headline: Headline


@dataclass(frozen=True, slots=True)
class BlindFound:
    """A finding with how much it weighs on either side; '' where that side has it not."""

    listed: ListedFinding
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second


@dataclass(frozen=True, slots=True)
class AskedRule:
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Answer:
    value: str
    key: str
    words: str

    @property
    def short(self) -> str:
        """Under a heading that asks which is right."""
        return self.words.split()[0]


@dataclass(frozen=True, slots=True)
class _Said:
    outcome: str
    verdict: str
    reason_code: str
    tier_achieved: int


@dataclass
class BothSides(RunPage):
    """The material of a run with the places of what either side found, and no verdict."""

    found: Sequence[ListedFinding] = ()

    @cached_property
    def findings(self) -> list[ListedFinding]:
        return list(self.found)


@dataclass
class BlindPage:
    """The parts are read when the template asks for them."""

    row: Comparison
    trial: Trial
    run: Run
    access: Access
    wish: Wish = field(default_factory=Wish)
    choice: Choice = field(default_factory=Choice)

    is_veiled = True
    """As the parts ask that pages of reviews have too."""

    @property
    def url(self) -> str:
        where = [self.access.project.slug, self.trial.uuid, self.row.uuid]
        return reverse("comparison_judge", args=where) + self.wish.query

    @property
    def query(self) -> str:
        return self.wish.query

    @cached_property
    def _is_old_first(self) -> bool:
        return is_old_first(services.reviewer_of(self.access.actor), self.row)

    @property
    def sides(self) -> list[BlindSide]:
        row = self.row
        old = _headline(row.old, row.old_reason, row.old_evaluation, self.run)
        new = _headline(row.new, row.new_reason, row.new_evaluation, self.run)
        shown = (old, new) if self._is_old_first else (new, old)
        return [BlindSide("First", shown[0]), BlindSide("Second", shown[1])]

    @cached_property
    def found(self) -> list[BlindFound]:
        """What weighs differently comes first."""
        pairs = [
            pair for pair in Sides(self.row).pairs if pair.sides[0].rule not in GIVEAWAY_CHECKS
        ][:MAX_FINDINGS]
        rows = [self._found(number, one) for number, one in enumerate(pairs, start=1)]
        return sorted(rows, key=lambda one: not one.differs)

    def _found(self, number: int, pair: Aligned) -> BlindFound:
        first, second = (pair.old, pair.new) if self._is_old_first else (pair.new, pair.old)
        shown = first or second or pair.sides[0]
        listed = ListedFinding(number, shown, place_of(shown))  # type: ignore[arg-type]
        return BlindFound(listed, _weight(first), _weight(second))

    @cached_property
    def page(self) -> BothSides:
        listed = [one.listed for one in self.found]
        return BothSides(self.run, None, self.choice, listed)

    @property
    def answers(self) -> list[Answer]:
        return [Answer(name, words.KEYS[name], said) for name, said in words.ANSWERS.items()]

    @cached_property
    def progress(self) -> Progress:
        return progress_of(self.trial, self.wish, self.part)

    @property
    def part(self) -> str:
        return part_of(self.row)

    @cached_property
    def phase(self) -> Phase | None:
        return definition_of(self.run.process_version_id).phase(self.run.phase_id)

    @cached_property
    def rules(self) -> list[AskedRule]:
        """What the process asks of this phase."""
        definition = definition_of(self.run.process_version_id)
        return [
            AskedRule(rule.name, rule.description or rule.check)
            for rule in definition.rules
            if self.run.phase_id in definition.phases_of(rule)
        ]


def blind_page(
    access: Access,
    trial: UUID,
    comparison: UUID,
    *,
    wish: Wish | None = None,
    choice: Choice | None = None,
) -> BlindPage | None:
    """None: there is nothing for this reviewer to judge. Raises NotFound."""
    found = trial_of(access.project, trial)
    row = comparison_of(found, comparison)
    row.trial = found
    return page_of(access, row, wish=wish, choice=choice)


def page_of(
    access: Access, row: Comparison, *, wish: Wish | None = None, choice: Choice | None = None
) -> BlindPage | None:
    reviewer = services.reviewer_of(access.actor)
    is_said = services.standing(row).filter(reviewer=reviewer).exists()
    if row.run is None or is_said or not services.is_veiled(row, reviewer):
        return None
    run = run_of(access.project, row.run.uuid)
    if run is None:
        return None
    return BlindPage(row, row.trial, run, access, wish or Wish(), choice or Choice())


def _headline(outcome: str, reason: str, side: Evaluation | None, run: Run) -> Headline:
    found = SideOutcome(outcome)
    said = _Said(
        outcome="fail" if found is SideOutcome.UNDECIDED else found.value,
        verdict=found.verdict.value,
        reason_code="" if reason in GIVEAWAYS else reason,
        tier_achieved=side.tier_achieved if side else 1,
    )
    return wording.headline(run, shown=said)


def _weight(finding: Finding | None) -> str:
    """An unknown one does not weigh as a violated one does."""
    if finding is None:
        return ""
    return "unknown" if finding.verdict == "unknown" else str(finding.enforcement)
