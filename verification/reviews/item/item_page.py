"""Everything the page of one review shows, gathered in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import Access
from processes.definition.model import Definition, Phase
from processes.selectors import definition_of
from verification.engine import reviewing
from verification.engine.floors import is_on_critical_path
from verification.engine.outcome import Outcome, Verdict
from verification.reviews import disclosure
from verification.reviews.item.parts import (
    CLOSED,
    Answer,
    AskedRule,
    Doubted,
    ShownDecision,
    name_of,
    seconds_until,
)
from verification.reviews.item.standing import Seen, Standing
from verification.reviews.models import CaseDraft, Decision
from verification.reviews.queue.selectors import TELLING_NOTHING, QueueFilters, matching
from verification.reviews.reasons import reason_words
from verification.reviews.undoing import last_decisions
from verification.runs import wording
from verification.runs.choice import Choice
from verification.runs.models import GateResult, Review, ReviewState, Run
from verification.runs.run_page import RunPage, run_of

WAITING_CAP = 999
SOON = timedelta(days=14)
KEYS = {str(number): outcome for number, outcome in enumerate(wording.OUTCOMES, start=1)}


@dataclass
class ItemPage:
    """The parts are read when the template asks for them."""

    review: Review
    run: Run
    access: Access
    choice: Choice = field(default_factory=Choice)
    filters: QueueFilters = field(default_factory=QueueFilters)
    is_to_be_changed: bool = False
    now: datetime = field(default_factory=timezone.now)

    @cached_property
    def seen(self) -> Seen:
        return Seen(self.review, self.access, self.now)

    @cached_property
    def page(self) -> RunPage:
        """The material; of what is veiled, without a word of the verifier's."""
        shown = None if self.is_veiled else self.review.evaluation
        return RunPage(self.run, shown, self.choice)

    @cached_property
    def standing(self) -> Standing:
        return self.seen.standing

    @cached_property
    def is_veiled(self) -> bool:
        return self.seen.is_veiled

    @property
    def url(self) -> str:
        where = reverse("review_item", args=[self.access.project.slug, self.review.uuid])
        return where + self.query

    @property
    def query(self) -> str:
        return self.filters.query

    @property
    def wants_change(self) -> bool:
        """A decision was to be undone, and had taken effect."""
        return self.is_to_be_changed and self.standing is Standing.DECIDED

    @property
    def goes_at(self) -> datetime | None:
        """When it is deleted though it waits, where that is soon."""
        until, is_open = self.run.retain_until, self.review.state == ReviewState.PENDING
        return until if is_open and until and until < self.now + SOON else None

    @property
    def is_mine(self) -> bool:
        return self.standing is Standing.MINE

    @property
    def may_take(self) -> bool:
        return self.standing is Standing.FREE and self.access.is_reviewer

    @property
    def stage(self) -> str:
        """What the next key decides: blind, or whether it stays so, or for good."""
        if self.is_veiled:
            return "first"
        return "confirm" if self.first_said else "decide"

    @property
    def first_said(self) -> wording.Badge | None:
        """What the looker said blind and has not confirmed."""
        said = self.seen.first_said if self.is_mine else ""
        return wording.OUTCOMES[Outcome(said)] if said else None

    @property
    def is_for_somebody_else(self) -> bool:
        return self.seen.is_for_somebody_else

    @property
    def headline(self) -> wording.Headline | None:
        if self.is_veiled:
            return None
        return wording.headline(self.run, shown=self.review.evaluation)

    @property
    def reasons(self) -> list[str]:
        """Why people are asked, where the headline does not say so.

        Of what is veiled, those that tell nothing of the verdict.
        """
        said = "" if self.is_veiled else self.review.evaluation.reason_code
        telling = [
            code
            for code in self.review.reasons
            if (code in TELLING_NOTHING or not self.is_veiled) and code != said
        ]
        return [reason_words(code) for code in telling]

    @property
    def urgency(self) -> int:
        return reviewing.urgency_now(self.review.created_at, self.review.urgency, self.now)

    @property
    def lease_seconds(self) -> int:
        return seconds_until(self.review.lease_until, self.now)

    @property
    def lease_words(self) -> str:
        return f"{self.lease_seconds // 60}:{self.lease_seconds % 60:02}"

    @property
    def effect_seconds(self) -> int:
        return seconds_until(self.review.takes_effect_at, self.now)

    @property
    def holder(self) -> str:
        """Who decides, or has just decided and may take it back."""
        return name_of(self.review.claimed_by, self.review.claimed_key)

    @property
    def closed(self) -> str:
        return CLOSED.get(ReviewState(self.review.state), "")

    @cached_property
    def answers(self) -> list[Answer]:
        usual = self._usual
        return [Answer(key, outcome, outcome == usual) for key, outcome in KEYS.items()]

    @property
    def usual_words(self) -> str:
        """Why one of the answers is the usual one."""
        if self.stage != "decide" or not self._usual:
            return ""
        word = wording.OUTCOMES[Outcome(self._usual)].word
        if self.review.evaluation.verdict == Verdict.UNDECIDED:
            return f"The verifier came to no verdict. Doubt is no pass: Enter says {word}."
        return f"The verifier says {word}."

    @property
    def own_comment(self) -> str:
        """What the looker wrote before the verdict was revealed."""
        own = self.seen.own
        return own.comment if own is not None else ""

    @property
    def _usual(self) -> str:
        if self.is_veiled:
            return ""
        return self.seen.first_said or self.review.outcome or self.review.evaluation.outcome or ""

    @cached_property
    def findings(self) -> list[Doubted]:
        labels: dict[int, bool] = {}
        for one in self.seen.mine:
            labels |= {label.finding_id: label.is_right for label in one.labels.all()}
        return [Doubted(one, labels.get(one.row.pk)) for one in self.page.findings]

    @cached_property
    def decisions(self) -> list[ShownDecision]:
        said = [one for one in self.seen.shown if one.outcome]
        return [ShownDecision(one, name_of(one.reviewer, one.api_key)) for one in said]

    @cached_property
    def phase(self) -> Phase | None:
        return self._definition.phase(self.run.phase_id)

    @property
    def is_critical_path(self) -> bool:
        of_task = self.page.body.get("task", {}).get("is_critical_path")
        return is_on_critical_path(self.phase, of_task) if self.phase else bool(of_task)

    @cached_property
    def rules(self) -> list[AskedRule]:
        """What the process asks of this phase."""
        definition = self._definition
        return [
            AskedRule(rule.name, rule.description or rule.check)
            for rule in definition.rules
            if self.run.phase_id in definition.phases_of(rule)
        ]

    @property
    def _definition(self) -> Definition:
        return definition_of(self.run.process_version_id)

    @cached_property
    def gates(self) -> list[GateResult]:
        return list(self.review.evaluation.gates.all())

    @property
    def undoable(self) -> Decision | None:
        own = self.seen.own
        return own if own is not None and own.outcome and own.settled_at is None else None

    @cached_property
    def earlier(self) -> Decision | None:
        """Of the looker's last ten, the one before what is looked at: undo goes on to it."""
        lasts = iter(last_decisions(self.access))
        any(one.review_id == self.review.pk for one in lasts)  # as far as this one
        return next((one for one in lasts if one.review_id != self.review.pk), None)

    @cached_property
    def is_case(self) -> bool:
        return CaseDraft.objects.filter(run=self.run).exists()

    @cached_property
    def waiting(self) -> int:
        """Pending reviews that pass the filters, this one among them; capped."""
        rows = matching(self.access.project, self.filters, user=self.access.actor.user)
        return rows.filter(state=ReviewState.PENDING).order_by()[: WAITING_CAP + 1].count()

    @property
    def waiting_words(self) -> str:
        capped = self.waiting > WAITING_CAP
        return f"{min(self.waiting, WAITING_CAP)}{'+' if capped else ''} waiting"


def item_page(
    access: Access,
    review: UUID,
    *,
    choice: Choice | None = None,
    filters: QueueFilters | None = None,
    is_to_be_changed: bool = False,
) -> ItemPage | None:
    """None: the project has no such review."""
    rows = (
        Review.objects.filter(project=access.project, uuid=review)
        .select_related("evaluation", "claimed_by", "claimed_key", "run")
        .defer("run__search", "run__result")
    )
    found = disclosure.with_decisions(rows).first()
    if found is None:
        return None
    run = run_of(access.project, found.run.uuid)
    if run is None:
        return None
    return ItemPage(
        found, run, access, choice or Choice(), filters or QueueFilters(), is_to_be_changed
    )
