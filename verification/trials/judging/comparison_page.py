"""Everything the page of one comparison shows, gathered in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Final
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import Access
from verification.engine.finding import Finding
from verification.golden.cases.expecting import PLAIN, Expectation, expectations
from verification.golden.models import GoldenCase
from verification.runs.models import RunFile
from verification.runs.reverifying import deadline
from verification.runs.wording import Badge
from verification.trials.judging import services
from verification.trials.judging import wording as words
from verification.trials.judging.acknowledging import USUAL_DAYS, in_force
from verification.trials.judging.asked import OPEN, is_asked
from verification.trials.judging.asked_beside import AskedPair, pairs_of
from verification.trials.judging.asked_of_case import asked_before, pairs_of_case
from verification.trials.judging.comparison_lines import Line, lines_of
from verification.trials.judging.sides import FoundRow, Sides
from verification.trials.models import (
    Acknowledgement,
    Comparison,
    ComparisonNote,
    Judgement,
    Origin,
    Reveal,
    Trial,
)
from verification.trials.selectors import comparison_of, trial_of

SHADOW_EVENTS: Final = ("verification_shadow_diff", "verification_false_negative_candidate")
MAX_NOTES: Final = 100
SPENT: Final = (
    "What judges may cost today leaves no call but for live runs. The judge is asked as soon as a "
    "day's budget holds it, and nobody is blamed."
)


@dataclass(frozen=True, slots=True)
class Happened:
    at: datetime
    words: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ShownJudgement:
    row: Judgement

    @property
    def badge(self) -> Badge | None:
        return words.judged_badge(self.row.said)


@dataclass
class ComparisonPage:
    """The parts are read when the template asks for them."""

    row: Comparison
    trial: Trial
    access: Access
    now: datetime = field(default_factory=timezone.now)

    @property
    def reviewer(self) -> str:
        return services.reviewer_of(self.access.actor)

    @cached_property
    def is_veiled(self) -> bool:
        """Kept from who may judge it and has not, or only just did."""
        return self.access.is_reviewer and services.is_veiled(self.row, self.reviewer)

    @cached_property
    def mine(self) -> Judgement | None:
        return next((one for one in self._standing if one.reviewer == self.reviewer), None)

    @property
    def mine_words(self) -> str:
        """What the looker said, while the sides are veiled."""
        if self.mine is None:
            return ""
        sides = {"old": self.mine.is_old_first, "new": not self.mine.is_old_first}
        is_first = sides.get(self.mine.said)
        if is_first is None:
            return words.ANSWERS[self.mine.said]
        return words.ANSWERS["first" if is_first else "second"]

    @property
    def was_taken_back(self) -> bool:
        """Whether the looker had it from the walk once, and may go straight back to it."""
        return any(one.reviewer == self.reviewer for one in self._all_said)

    @property
    def is_asked(self) -> bool:
        return is_asked(self.row)

    @property
    def not_for_judging(self) -> str:
        """Why the looker is not to judge it, in words; '' where they may."""
        row = self.row
        if self.is_corpus:
            return "A golden case is judged by what it expects."
        if row.compared_at is None:
            return "It is not compared yet."
        if row.run_id is None:
            return "The run was deleted: nothing of the work is left to be looked at."
        if not self.is_asked:
            return services.NOT_ASKED
        if self.knows_sides:
            return services.REVEALED[1]
        if row.judged not in OPEN and not self.was_taken_back:
            return "Others have judged it: it waits for nobody."
        return ""

    @property
    def knows_sides(self) -> bool:
        return any(one.reviewer == self.reviewer for one in self._reveals)

    @cached_property
    def _reveals(self) -> list[Reveal]:
        return list(self.row.reveals.all())

    @property
    def url(self) -> str:
        where = [self.access.project.slug, self.trial.uuid, self.row.uuid]
        return reverse("comparison_detail", args=where)

    @property
    def case(self) -> GoldenCase | None:
        return self.row.case_version.case if self.row.case_version else None

    @property
    def put_off(self) -> str:
        """Why it waits for longer; '' where no judge was away."""
        if self.row.undecided_since is None:
            return SPENT if self.row.asked_again else ""
        times = "once" if self.row.asked_again == 1 else f"{self.row.asked_again} times"
        until = deadline(self.row.undecided_since).astimezone(UTC)
        return (
            f"A judge was away, or could not be read, {times}. It is asked again until "
            f"{until:%H:%M} UTC, and the work is not blamed."
        )

    @property
    def diff_class(self) -> Badge | None:
        return words.class_badge(self.row.diff_class)

    @property
    def finer(self) -> list[str]:
        return [words.finer_words(one) for one in self.row.finer]

    @property
    def judged(self) -> Badge | None:
        return words.judged_badge(self.row.judged)

    @cached_property
    def sides(self) -> Sides:
        return Sides(self.row)

    @property
    def is_corpus(self) -> bool:
        return self.row.origin == Origin.CORPUS

    @property
    def lines(self) -> list[Line]:
        told = {one.place: one.words for one in self.expected}
        return list(lines_of(self.row, self.trial, told))

    @cached_property
    def expected(self) -> Sequence[Expectation]:
        """What the golden case says of it."""
        if self.row.case_version is None:
            return ()
        told = self.row.case_version.spec.get("expected")
        return list(expectations(told)) if isinstance(told, Mapping) else ()

    @property
    def expected_beside(self) -> list[Expectation]:
        """Without what stands in the table."""
        return [one for one in self.expected if one.place not in PLAIN]

    @cached_property
    def found(self) -> list[tuple[FoundRow, str]]:
        """Each with the address of its place in the material, where there is one."""
        return [(one, self._place_url(one.row)) for one in self.sides.found]

    def _place_url(self, finding: Finding) -> str:
        run = self.row.run
        if run is None or finding.place or not (finding.path or finding.line):
            return ""
        where = [self.access.project.slug, run.uuid]
        anchor = f"?places=#L{finding.line}" if finding.line else "?places="
        if not finding.path:
            return reverse("run_output_page", args=where) + anchor
        if finding.path not in self._paths:
            return ""
        return reverse("run_file_page", args=[*where, finding.path]) + anchor

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(RunFile.objects.filter(run=self.row.run).values_list("path", flat=True))

    @cached_property
    def asked(self) -> list[AskedPair]:
        return pairs_of_case(self.row) if self.is_corpus else pairs_of(self.row)

    @property
    def asked_unkept(self) -> int:
        """Questions over a golden case that was compared before they were kept."""
        return asked_before(self.row) if self.is_corpus and not self.asked else 0

    @cached_property
    def judgements(self) -> list[ShownJudgement]:
        return [ShownJudgement(one) for one in self._standing]

    @property
    def _standing(self) -> list[Judgement]:
        return [one for one in self._all_said if one.withdrawn_at is None]

    @cached_property
    def _all_said(self) -> list[Judgement]:
        return list(self.row.judgements.order_by("created_at", "id"))

    @cached_property
    def notes(self) -> list[ComparisonNote]:
        return list(self.row.notes.order_by("-created_at", "-id")[:MAX_NOTES])[::-1]

    @cached_property
    def acknowledged(self) -> Acknowledgement | None:
        if not self.row.kind:
            return None
        return in_force(self.trial, self.now).filter(kind=self.row.kind).first()

    @cached_property
    def alike(self) -> int:
        """How many comparisons of the trial show the same difference."""
        if not self.row.kind:
            return 0
        return Comparison.objects.filter(trial=self.trial, kind=self.row.kind).count()

    @property
    def may_acknowledge(self) -> bool:
        return bool(self.access.is_editor and self.row.kind and self.acknowledged is None)

    @property
    def days(self) -> Sequence[int]:
        return USUAL_DAYS

    @cached_property
    def events(self) -> list[Happened]:
        """What became of it, oldest first."""
        return sorted(self._events(), key=lambda one: one.at)

    def _events(self) -> Iterator[Happened]:
        yield Happened(self.row.created_at, "taken into the trial")
        if self.row.compared_at:
            yield Happened(self.row.compared_at, "compared")
        if self.row.run is not None:
            told = self.row.run.events.filter(
                kind__in=SHADOW_EVENTS, data__trial=str(self.trial.uuid)
            )
            yield from (Happened(one.at, one.kind.replace("_", " ")) for one in told)
        for one in self._reveals:
            yield Happened(one.created_at, "had the sides shown", one.reviewer)
        for said in self._all_said:
            yield Happened(
                said.created_at, f"judged: {said.get_said_display().lower()}", said.reviewer
            )
            if said.withdrawn_at:
                yield Happened(said.withdrawn_at, "took it back", said.reviewer)


def comparison_page(access: Access, trial: UUID, comparison: UUID) -> ComparisonPage:
    """Raises NotFound."""
    found = trial_of(access.project, trial)
    row = comparison_of(found, comparison)
    row.trial = found
    return ComparisonPage(row, found, access)
