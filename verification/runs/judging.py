"""Judges for the engine: asked side by side, paid from a budget, every call a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from verification.adapters import judge as adapter
from verification.adapters.judge import Completion, Connection, Patience
from verification.adapters.judge_reply import CUT
from verification.engine.case import MAX_PROMPT_CHARS
from verification.engine.judges.asking import Answer, Question
from verification.engine.verifier import JudgeModels
from verification.runs import calls
from verification.runs.calls import Books, Made
from verification.runs.holding import DaySpent
from verification.runs.loops import LoopBudget
from verification.runs.models import Blob, ModelCall
from verification.runs.side_by_side import Here, side_by_side
from verification.verifiers import budgets, selectors
from verification.verifiers.models import JudgeConnection

BUDGET_EXHAUSTED = "budget_exhausted"
SPENT = "What judges may cost today does not hold another call."
UNAVAILABLE = "verifier_unavailable"
SMALLEST_USD = Decimal("0.000001")


@dataclass(slots=True)
class Asking:
    """One question while it is asked. `answer` adds up all that was called for it."""

    question: Question
    connection: Connection
    cache_key: str
    request: Blob
    answer: Answer
    reserved: Decimal = Decimal(0)
    reserved_at: datetime | None = None
    refused: str = SPENT

    def add(self, completion: Completion, ref: int) -> None:
        self.answer = replace(
            self.answer,
            calls=self.answer.calls + completion.calls,
            prompt_tokens=self.answer.prompt_tokens + completion.prompt_tokens,
            completion_tokens=self.answer.completion_tokens + completion.completion_tokens,
            cost_usd=str(Decimal(self.answer.cost_usd) + completion.cost_usd),
            ref=ref,
        )


@dataclass(slots=True)
class StoredJudge:
    """The engine's `Judge` for one evaluation.

    `tier` is the one under way. `retry_after` (seconds) is the longest rest that a judge asked
    for. A worker that takes over hears again what was paid for already. `loop` is what the task's
    judging may cost in all, None: no bound.
    """

    books: Books
    tier: int = 2
    retry_after: float = 0.0
    heard: set[int] = field(default_factory=set)
    loop: LoopBudget | None = None

    def ask(self, questions: Sequence[Question]) -> Sequence[Answer]:
        prepared = [self._prepared(question) for question in questions]
        asked = [one for one in prepared if isinstance(one, Asking)]
        said = iter(side_by_side([partial(self._called, one) for one in asked]))
        return [next(said) if isinstance(one, Asking) else one for one in prepared]

    def note(self, ref: int, recovery: str) -> None:
        if ref:
            calls.note(self.books, ref, recovery)

    def _prepared(self, question: Question) -> Answer | Asking:
        """The answer, where it was given before; else all that asking takes."""
        project_id = self.books.work.project_id
        try:
            connection = selectors.resolve(project_id=project_id, name=question.judge)
        except selectors.ConnectionUnusable as error:
            return Answer(lost=UNAVAILABLE, detail=str(error), calls=0)
        key = calls.cache_key(self.books, question, connection)
        before = calls.made_before(self.books, key, apart_from=self.heard)
        self.heard.update(call.pk for call in before)
        said_before = _said_before(before)
        if before and (not before[-1].lost or len(before) >= question.tries):
            return said_before
        shared = None if before else calls.read_before(self.books, key)
        request = calls.keep_request(self.books, question)
        if shared and (text := calls.text_of(shared)) is not None:
            return self._shared(question, key, request, shared, text)
        return Asking(question, connection, key, request, said_before)

    def _shared(
        self, question: Question, key: str, request: Blob, shared: ModelCall, text: str
    ) -> Answer:
        found = Completion(text=text, model=shared.model)
        made = Made(self.tier, question, found, 1, key, request, cached=shared)
        ref = calls.keep_call(self.books, made)
        self.heard.add(ref)
        return Answer(text=text, model=shared.model, cached=True, calls=0, ref=ref)

    def _called(self, asking: Asking, here: Here) -> Answer:
        """Ask, and ask again while that may help. Rows are written `here` alone."""
        question, tried_before = asking.question, asking.answer.calls
        completion = adapter.retrying(
            asking.connection,
            system=question.system,
            prompt=question.prompt,
            schema=question.schema,
            temperature=question.temperature,
            patience=Patience(
                tries=question.tries - tried_before,
                first_wait_seconds=settings.JUDGE_FIRST_WAIT_SECONDS,
            ),
            may_call=lambda: here(partial(self._reserve, asking)),
            on_try=lambda one, tried: here(partial(self._keep, asking, one, tried + tried_before)),
        )
        return replace(
            asking.answer,
            text=completion.text,
            lost=completion.lost,
            detail=completion.detail
            or (asking.refused if completion.lost == BUDGET_EXHAUSTED else ""),
            model=completion.model,
            is_cut=completion.is_cut,
        )

    def _reserve(self, asking: Asking) -> str:
        """Set aside what the next call may cost; say why it may not be made.

        Raises:
            DaySpent: work beside live runs leaves them the rest of the day's budget.
        """
        self.books.hold.check()
        if self.loop and (why := self.loop.why_spent()):
            asking.refused = why
            return BUDGET_EXHAUSTED
        question, now = asking.question, timezone.now()
        estimate = budgets.estimate(asking.connection, question.system, question.prompt)
        is_granted = budgets.reserve(
            project_id=self.books.work.project_id,
            process_id=self.books.work.process_id,
            estimate=estimate,
            now=now,
            share=self.books.hold.share_of_day,
        )
        if not is_granted:
            return self._refused(estimate)
        asking.reserved, asking.reserved_at = estimate, now
        return ""

    def _refused(self, estimate: Decimal) -> str:
        """Where another day holds the call, what is not a live run waits for it."""
        share = self.books.hold.share_of_day
        if share < 1 and budgets.ever_holds(
            project_id=self.books.work.project_id,
            process_id=self.books.work.process_id,
            estimate=estimate,
            share=share,
        ):
            raise DaySpent(SPENT)
        return BUDGET_EXHAUSTED

    def _keep(self, asking: Asking, completion: Completion, tried: int) -> None:
        """Enter a call that ended: what it cost, then its row."""
        completion = replace(completion, cost_usd=_in_full(completion.cost_usd))
        budgets.settle(
            project_id=self.books.work.project_id,
            process_id=self.books.work.process_id,
            reserved=asking.reserved,
            actual=completion.cost_usd,
            now=asking.reserved_at or timezone.now(),
            calls=completion.calls,
        )
        self.retry_after = max(self.retry_after, completion.retry_after or 0.0)
        if not completion.calls:
            return
        question, key = asking.question, asking.cache_key
        made = Made(self.tier, question, completion, tried, key, asking.request)
        ref = calls.keep_call(self.books, made)
        self.heard.add(ref)
        asking.add(completion, ref)


def known_of_judges(project_id: int, judges: JudgeModels) -> dict[str, Any]:
    """What a case knows of the judges that a verifier version names: models, and room to ask."""
    names = {judges.primary, judges.alternate, *judges.panel}
    found = JudgeConnection.objects.filter(project_id=project_id, name__in=names)
    rows = list(found.values_list("name", "model", "max_input_chars", "is_removed"))
    room = [chars for _, _, chars, is_removed in rows if not is_removed]
    return {
        "judge_models": {name: model for name, model, *_ in rows},
        "prompt_chars": min(room, default=MAX_PROMPT_CHARS),
    }


def _in_full(usd: Decimal) -> Decimal:
    """As rows hold it, so that every sum of them is the same."""
    return usd.quantize(SMALLEST_USD, rounding=ROUND_CEILING)


def _said_before(before: Sequence[ModelCall]) -> Answer:
    """What earlier calls for a question came to; no calls: an answer that is still to come."""
    if not before:
        return Answer(calls=0)
    last = before[-1]
    return Answer(
        text=calls.text_of(last) or "",
        lost=last.lost,
        detail=last.error,
        model=last.model,
        calls=len(before),
        prompt_tokens=sum(call.prompt_tokens for call in before),
        completion_tokens=sum(call.completion_tokens for call in before),
        cost_usd=str(sum((call.cost_usd for call in before), Decimal(0))),
        ref=last.pk,
        is_cut=last.error == CUT,
    )
