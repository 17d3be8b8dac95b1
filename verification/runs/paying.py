"""Questions that no run asked for: paid from the same budgets as those of runs, entered elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from functools import partial
from typing import Protocol

from django.conf import settings
from django.utils import timezone

from verification.adapters import judge as adapter
from verification.adapters.judge import Completion, Connection, Patience
from verification.engine.judges.asking import Answer, Question
from verification.runs.judging import BUDGET_EXHAUSTED, SMALLEST_USD, SPENT, UNAVAILABLE
from verification.runs.side_by_side import Here
from verification.verifiers import budgets, selectors


class Payer(Protocol):
    """The work that questions are asked for. Called by the thread that keeps the books."""

    @property
    def project_id(self) -> int: ...

    @property
    def process_id(self) -> int: ...

    @property
    def share_of_day(self) -> Decimal:
        """Up to which share of a day's budget it may ask; below 1, the rest is live runs'."""

    def grant(self, estimate: Decimal, *, seconds: float) -> bool:
        """Hold the work for a call that may take so long, and enter what it costs at most.

        False: what was agreed to does not hold the call. It raises where the work is not ours.
        """

    def settle(self, granted: Decimal, actual: Decimal) -> None:
        """Put what a call cost in the place of what was granted for it."""


def ask(payer: Payer, question: Question, here: Here) -> Answer:
    """Ask the judge that a question names, and again while that may help."""
    try:
        connection = here(
            partial(selectors.resolve, project_id=payer.project_id, name=question.judge)
        )
    except selectors.ConnectionUnusable as error:
        return Answer(lost=UNAVAILABLE, detail=str(error), calls=0)
    call = _Call(payer, question, connection)
    completion = adapter.retrying(
        connection,
        system=question.system,
        prompt=question.prompt,
        schema=question.schema,
        temperature=question.temperature,
        patience=Patience(
            tries=question.tries, first_wait_seconds=settings.JUDGE_FIRST_WAIT_SECONDS
        ),
        may_call=lambda: here(call.reserve),
        on_try=lambda one, _: here(partial(call.settle, one)),
    )
    return call.answer(completion)


@dataclass(slots=True)
class _Call:
    """One question while it is asked: what it may cost is set aside, what it did is entered."""

    payer: Payer
    question: Question
    connection: Connection
    reserved: Decimal = Decimal(0)
    reserved_at: datetime | None = None
    ended: list[Completion] = field(default_factory=list)

    def reserve(self) -> str:
        """Set the next call's estimate aside; say why it may not be made."""
        payer, now = self.payer, timezone.now()
        estimate = budgets.estimate(self.connection, self.question.system, self.question.prompt)
        if not payer.grant(estimate, seconds=self.connection.timeout_seconds):
            return BUDGET_EXHAUSTED
        is_granted = budgets.reserve(
            project_id=payer.project_id,
            process_id=payer.process_id,
            estimate=estimate,
            now=now,
            share=payer.share_of_day,
        )
        if not is_granted:
            payer.settle(estimate, Decimal(0))
            return BUDGET_EXHAUSTED
        self.reserved, self.reserved_at = estimate, now
        return ""

    def settle(self, completion: Completion) -> None:
        payer = self.payer
        cost = completion.cost_usd.quantize(SMALLEST_USD, rounding=ROUND_CEILING)
        budgets.settle(
            project_id=payer.project_id,
            process_id=payer.process_id,
            reserved=self.reserved,
            actual=cost,
            now=self.reserved_at or timezone.now(),
            calls=completion.calls,
        )
        payer.settle(self.reserved, cost)
        self.ended.append(replace(completion, cost_usd=cost))

    def answer(self, last: Completion) -> Answer:
        return Answer(
            text=last.text,
            lost=last.lost,
            detail=last.detail or (SPENT if last.lost == BUDGET_EXHAUSTED else ""),
            model=last.model,
            calls=sum(one.calls for one in self.ended),
            prompt_tokens=sum(one.prompt_tokens for one in self.ended),
            completion_tokens=sum(one.completion_tokens for one in self.ended),
            cost_usd=str(sum((one.cost_usd for one in self.ended), Decimal(0))),
            is_cut=last.is_cut,
        )
