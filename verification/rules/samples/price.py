"""What asking a judge about a sample would cost: told before anything is asked."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import ROUND_UP, Decimal

from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import Conflict, FaultError
from processes.definition.model import RuleType
from verification.adapters.judge import Connection
from verification.adapters.judge import price as listed_price
from verification.engine.judges.one_rule import first_question
from verification.engine.verifier import VerifierSpec
from verification.rules.backtest.wish import Wish
from verification.rules.models import Drawn
from verification.rules.samples.answers import Known
from verification.rules.samples.cast import Candidate, cast
from verification.rules.samples.drawing import Draw, draw
from verification.runs.call_figures import usual_answer
from verification.verifiers import budgets, selectors
from verification.verifiers.models import VerifierVersion

MAX_SECONDS = 1.0
"""Questions are written for so long; what the others cost is taken to be alike."""
MOST_ASKED = 2
"""What an answer leaves open of the rule is asked once more."""
CENT = Decimal("0.01")
LATELY = timedelta(days=30)
"""How long a judge's answers are is told by those of so long."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a sample comes to. `asked` questions are put, the other runs were answered before.

    `usd` is what these cost by the length of the judge's last answers, `max_usd` if each is
    asked twice and answered as long as can be: no call is begun that could go beyond it. `usd` None: no price of the model is known.
    `left_usd` is what the day's budgets leave; None: there is none.
    """

    drawn: Draw
    judge: str
    model: str
    asked: int
    usd: Decimal | None
    max_usd: Decimal
    left_usd: Decimal | None
    is_estimated: bool = False

    @property
    def runs(self) -> int:
        return len(self.drawn.run_ids)

    @property
    def answered(self) -> int:
        return self.runs - self.asked

    @property
    def is_too_much(self) -> bool:
        return self.left_usd is not None and (self.usd or Decimal(0)) > self.left_usd


def price(wish: Wish, how: Drawn, size: int) -> Price:
    """Raises `Conflict` where no judge can be asked: `backtest.no_judge`."""
    if wish.rule.type is not RuleType.LLM:
        raise Conflict("backtest.not_judged", "A pattern is tried without the judge.")
    project = wish.process.project
    verifier = VerifierSpec.from_json(active_verifier(project).spec)
    judge = _judge(project, verifier)
    drawn, costs = draw(wish, how, size), _Costs(wish, verifier)
    until, looked = time.monotonic() + MAX_SECONDS, 0
    for run_id in _mixed(drawn.run_ids):
        if looked and time.monotonic() > until:
            break
        costs.look_at(run_id)
        looked += 1
    share = Decimal(len(drawn.run_ids)) / looked if looked else Decimal(1)
    return Price(
        drawn=drawn,
        judge=judge.name,
        model=judge.model,
        asked=math.ceil(costs.asked * share),
        usd=_cents(costs.usd * share) if listed_price(judge) else None,
        max_usd=_cents(costs.max_usd * share),
        left_usd=_left(wish),
        is_estimated=looked < len(drawn.run_ids),
    )


def _mixed(run_ids: Sequence[int]) -> list[int]:
    """Those that come first are also those of smaller samples, and known more often."""
    return random.Random(0).sample(run_ids, len(run_ids))  # noqa: S311 - no secret


def active_verifier(project: Project) -> VerifierVersion:
    return VerifierVersion.objects.get(project=project, is_active=True)


def _judge(project: Project, verifier: VerifierSpec) -> Connection:
    name = verifier.models.primary
    found = selectors.without_key(project_id=project.pk, name=name) if name else None
    if found is None or not verifier.flags.tier2_enabled:
        told = "The active verifier version asks no judge. An admin sets one up in the settings."
        raise Conflict("backtest.no_judge", told)
    return found


class _Costs:
    """What the first question about each run costs; nothing where it was answered before."""

    def __init__(self, wish: Wish, verifier: VerifierSpec) -> None:
        self.project = wish.process.project
        self.candidate = Candidate.of(wish.source_text, wish.index)
        self.verifier = verifier
        self.known = Known(self.project.uuid, verifier.prompt_version)
        self.asked = 0
        self.usd = self.max_usd = Decimal(0)
        self._connections: dict[str, Connection | None] = {}
        self._lengths: dict[str, int] = {}

    def look_at(self, run_id: int) -> None:
        try:
            made = cast(run_id, self.candidate, self.verifier, "")
            question = first_question(made.case, made.ports) if made else None
        except FaultError:  # its evidence is lost: the worker says so
            return
        if question is None:
            return
        connection = self._connection(question.judge)
        if connection is None or self.known.has(self.known.key(question, connection)):
            return
        self.asked += 1
        usual = replace(connection, max_output_tokens=self._said_tokens(connection))
        self.usd += budgets.estimate(usual, question.system, question.prompt)
        self.max_usd += MOST_ASKED * budgets.estimate(connection, question.system, question.prompt)

    def _connection(self, name: str) -> Connection | None:
        if name not in self._connections:
            found = selectors.without_key(project_id=self.project.pk, name=name)
            self._connections[name] = found
        return self._connections[name]

    def _said_tokens(self, connection: Connection) -> int:
        """How long this judge's answers usually are; with none known, as long as they may be."""
        if connection.name not in self._lengths:
            model, since = connection.model, timezone.now() - LATELY
            usual = usual_answer(self.project.pk, model, since=since)
            usual = usual or self.known.usual_answer(model)
            self._lengths[connection.name] = usual or connection.max_output_tokens
        return self._lengths[connection.name]


def _cents(usd: Decimal) -> Decimal:
    return usd.quantize(CENT, rounding=ROUND_UP)


def _left(wish: Wish) -> Decimal | None:
    process = wish.process
    return budgets.left_today(
        project_id=process.project_id,
        process_id=process.pk,
        now=timezone.now(),
        share=budgets.SHARE_BESIDE_LIVE,
    )
