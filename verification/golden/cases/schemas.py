"""Golden cases in the words of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from verification.golden.cases import examples
from verification.golden.cases.selectors import CaseStanding, Origin, Retired
from verification.golden.cases.services import MAX_REASON_CHARS
from verification.golden.documents.schemas import CaseIn, ExpectedIn, Tag

Named = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Reason = Annotated[str, Field(max_length=MAX_REASON_CHARS, pattern=r"^[^\x00]*$")]


class GoldenCaseEntry(Schema):
    id: UUID
    url: str
    name: str
    guards: str = Field(description="What must stay so, in a sentence.")
    process: str
    phase: str
    tags: list[str]
    owner: str
    origin: Origin = Field(description="`shipped`: it came with the program.")
    version: int
    standing: CaseStanding = Field(description="What the newest replay of the live line said.")
    run: UUID | None = Field(description="The run it was made from.")
    created_by: str
    created_at: datetime
    changed_at: datetime
    retired_at: datetime | None


class GoldenCasePage(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.CASES))

    items: list[GoldenCaseEntry]
    next: str | None


class GoldenCaseNear(Schema):
    id: UUID
    name: str
    likeness: float = Field(description="0 to 1; 1 where the very same is submitted.")


class GoldenCaseWhole(GoldenCaseEntry):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.WHOLE))

    case: dict[str, Any] = Field(description="Its document, files and all.")
    near: list[GoldenCaseNear] = Field(description="Cases in which much the same is submitted.")


class GoldenCaseVersionOut(Schema):
    number: int
    is_current: bool
    reason: str = Field(description="Why it replaced the version before.")
    created_by: str
    created_at: datetime


class GoldenCaseVersionWhole(GoldenCaseVersionOut):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.VERSION_WHOLE))

    case: dict[str, Any] = Field(description="Its document, files and all.")


class GoldenCaseVersions(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.VERSIONS))

    items: list[GoldenCaseVersionOut]


class CaseFilterQuery(Schema):
    process: Named = ""
    phase: Named = ""
    tag: Named = ""
    q: Named = Field("", description="Part of its name, or of what it guards.")
    origin: Origin | None = None
    standing: CaseStanding | None = None
    retired: Retired | None = Field(None, description="Without it, retired cases are left out.")


class CaseQuery(CaseFilterQuery):
    cursor: str = ""
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)


class CaseOfRun(Schema):
    """A case of a run: its submission, answers and marks are taken from there."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.OF_RUN))

    run: UUID
    expected: ExpectedIn | None = Field(
        None, description="Left out: what people decided, else what came of the run."
    )
    tags: list[Tag] = Field(default_factory=list, max_length=20)


class CaseChange(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.CHANGE))

    case: CaseIn
    reason: Reason = Field(min_length=1)
    instead_of: int | None = Field(
        None, ge=1, le=2**31 - 1, description="The version that was edited; another now is a 409."
    )


class GoldenImported(Schema):
    """Names of cases."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.IMPORTED))

    created: list[str]
    changed: list[str]
    same: list[str]
    near: dict[str, list[str]] = Field(
        description="For each new one, cases in which much the same is submitted."
    )
    is_stored: bool = Field(description="False after `dry_run`.")


class ImportQuery(Schema):
    dry_run: bool = Field(False, description="Say what would be, and store nothing.")


class ExportQuery(CaseFilterQuery):
    format: Literal["yaml", "jsonl"] = "yaml"


class RetireQuery(Schema):
    reason: Reason = ""
