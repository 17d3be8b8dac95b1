"""What the API tells of gates: of those that ended, and of those that run."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import ConfigDict

from verification.engine.outcome import Status
from verification.runs.schema_values import one_of

OUTPUT_EXAMPLE: dict[str, Any] = {
    "text": "tests/test_calc.py ....\n",
    "left_out": 0,
    "next": 24,
    "status": None,
}


class TestsOut(Schema):
    __test__ = False

    passed: int
    failed: int
    errors: int
    skipped: int
    flaky: int = Field(0, description="Of the passed ones, how many failed before they passed.")


class GateOut(Schema):
    gate: str
    component: str
    status: Annotated[str, one_of(Status)]
    command: str
    exit_code: int | None
    started_ms: int = Field(description="After the first gate began; 0 where it was not run.")
    duration_ms: int
    tests: TestsOut | None
    problems: int | None = Field(description="How many it found; null where it looks for none.")
    new_lines: tuple[int, int] | None = Field(
        description="Of the new lines, how many tests ran, and how many there are."
    )
    is_guess: bool = Field(description="Its tests were counted in a text for people.")
    is_word: bool = Field(description="It went by a report that the work names itself.")
    reused_from: str | None
    detail: str
    log_url: str | None = Field(description="What it wrote, where that is kept.")


class GoingGateOut(Schema):
    """A gate of an evaluation whose gates are not all over."""

    gate: str
    component: str
    status: Annotated[str, one_of(Status)] | None = Field(description="Null while it runs.")
    started_at: datetime
    ended_at: datetime | None
    written: int = Field(description="Characters that it wrote.")
    output_url: str = Field(description="Add `?since=` to be told what came since.")


class GoingOutputOut(Schema):
    """What a gate that runs wrote since a character: text as it came, with its colours."""

    model_config = ConfigDict(json_schema_extra={"examples": [OUTPUT_EXAMPLE]})

    text: str
    left_out: int = Field(description="Characters before it that came since, and are not kept.")
    next: int = Field(description="The `since` to ask with next.")
    status: Annotated[str, one_of(Status)] | None = Field(description="Null while it runs.")
