"""Samples in the words of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import AwareDatetime, ConfigDict

from processes.definition.model import RuleType
from verification.rules.backtest.schemas import BacktestOut, PhaseName, RuleIn
from verification.rules.models import Drawn, SampleState
from verification.rules.samples.drawing import MAX_SIZE, USUAL_SIZE
from verification.runs.schema_values import one_of

EXAMPLE: dict[str, Any] = {
    "rule": {
        "name": "figures-have-sources",
        "type": "llm",
        "check": "Every figure names its source",
        "applies_to_phases": ["sizing"],
        "severity": "error",
    },
    "size": 20,
    "drawn": "by_lot",
}


class JudgedRuleIn(RuleIn):
    type: Literal[RuleType.LLM] = Field(  # type: ignore[assignment]
        RuleType.LLM, description="A pattern is tried on all past runs, and costs nothing."
    )


class RuleSampleWish(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})
    rule: JudgedRuleIn
    size: int = Field(USUAL_SIZE, ge=1, le=MAX_SIZE, description="How many past runs.")
    drawn: Annotated[Drawn, one_of(Drawn)] = Field(Drawn.BY_LOT, description="Which of them.")
    since: AwareDatetime | None = Field(None, description="No older runs than this.")
    phase: PhaseName = Field("", description="Runs of this phase alone.")


class RuleSampleIn(RuleSampleWish):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {**EXAMPLE, "max_usd": "1.20"}}
    )
    max_usd: Decimal = Field(
        ge=0, max_digits=10, decimal_places=2, description="No more is ever spent, in USD."
    )


class SamplePriceOut(Schema):
    judge: str
    model: str
    drawn_from: int = Field(description="Runs there are to draw from.")
    runs: int = Field(description="Runs that are drawn.")
    asked: int = Field(description="About so many the judge is asked; the others are known.")
    usd: Decimal | None = Field(
        description="By the length of the judge's last answers. Null: its price is not known."
    )
    max_usd: Decimal = Field(description="If each answer is as long as can be.")
    left_usd: Decimal | None = Field(description="Of the day's budgets. Null: there is none.")
    is_estimated: bool = Field(description="Not all questions were written to tell.")


class RuleSampleOut(BacktestOut):
    """What came of it so far: `evaluated` of `total` runs were answered."""

    id: UUID
    state: Annotated[str, one_of(SampleState)]
    drawn: Annotated[str, one_of(Drawn)]
    cost_usd: Decimal = Field(description="With what calls under way cost at most.")
    max_usd: Decimal
    created_at: datetime
    finished_at: datetime | None
