"""Pinned examples in the words of the HTTP contract."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Schema
from pydantic import AwareDatetime, ConfigDict

from verification.rules.examples.sources import MAX_BYTES
from verification.rules.models import Expected
from verification.runs.schema_values import one_of

NO_NUL = r"^[^\x00]*$"
EXAMPLE: dict[str, Any] = {
    "text": "Revenue: [TBD]",
    "expected": "caught",
    "note": "Let through on Monday.",
}


class ExampleIn(Schema):
    """Either a `text`, or what was submitted with a `run`: its output, a file or evidence."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})
    text: str = Field("", max_length=MAX_BYTES, pattern=NO_NUL)
    run: UUID | None = None
    path: str = Field("", max_length=500, pattern=NO_NUL, description="A file of the run.")
    evidence: str = Field("", max_length=200, pattern=NO_NUL, description="The id of a piece.")
    expected: Expected
    note: str = Field("", max_length=300, pattern=NO_NUL)


class ExampleOut(Schema):
    id: UUID
    expected: Annotated[str, one_of(Expected)]
    text: str = Field(description="From its beginning, at most 2,000 characters.")
    chars: int = Field(description="How many the text has.")
    run: UUID | None = Field(description="Null: it was pasted, or the run is gone.")
    path: str
    evidence: str
    note: str
    created_by: str
    created_at: AwareDatetime
    holds: bool | None = Field(description="Null: it could not be tried.")
    why: str = Field(description="Where it does not hold; '' it does.")


class ExampleList(Schema):
    tried_on: str = Field(description="The version of the process whose rule is tried.")
    items: list[ExampleOut]
