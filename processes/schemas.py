"""The shapes of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import ConfigDict, Discriminator, StrictInt, StrictStr, Tag

from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT
from processes.definition.model import GatesWithoutSandbox
from processes.definition.patch import Append, Edit, Move, Remove, SetValue
from processes.definition.stream import MAX_DEPTH, MAX_NODES
from processes.models import Process

MAX_EDITS = 50
MAX_KEY = 500
NO_NUL = r"^[^\x00]*$"


class ProcessSummary(Schema):
    slug: str
    title: str
    published_version: int | None

    @staticmethod
    def resolve_published_version(process: Process) -> int | None:
        return process.published.number if process.published else None


class ProcessPage(Schema):
    items: list[ProcessSummary]
    next: str | None


class PublishedOut(Schema):
    at: datetime
    by: str = Field(description="Who published it, by the name of that time.")
    number: int = Field(description="The version that judged runs from then on.")
    before: int | None = Field(description="The one whose place it took; null: none.")
    reason: str


class PublicationPage(Schema):
    items: list[PublishedOut]
    next: str | None


class DeliverableOut(Schema):
    path: str
    description: str


class PhaseOut(Schema):
    id: str
    description: str
    depends_on: list[str]
    verification_tier: int
    may_lower_tier: bool = Field(
        description="A submission may ask for a lower tier, or take the work off the critical path."
    )
    is_critical_path: bool
    is_synthesis: bool
    advisory: bool
    acceptance_criteria: str
    deliverables: list[DeliverableOut]
    gates: list[str]
    gates_without_sandbox: GatesWithoutSandbox | None = Field(
        description="What a run is where there is no sandbox; null: as the process says."
    )
    custom_verifier: str
    max_attempts: int | None
    confidence_floor: float


class RuleOut(Schema):
    name: str
    description: str
    type: str
    check: str
    severity: str
    enforcement: str = Field(description="As it counts under the default flags.")
    target: str
    applies_to_phases: list[str]
    expect: str
    min_count: int | None
    requires_exact_cardinality: bool
    failure_class: str
    remediation_mode: str
    suggestion: str
    content_sha256: str


class ProcessOut(Schema):
    slug: str
    title: str
    description: str
    published_version: int | None
    phases: list[PhaseOut] = Field(description="Of the published version.")
    rules: list[RuleOut]


class VersionOut(Schema):
    number: int
    sha256: str
    note: str
    created_by: str
    created_at: datetime
    published_at: datetime | None
    published: bool


class VersionPage(Schema):
    items: list[VersionOut]
    next: str | None


class ComplaintOut(Schema):
    code: str
    message: str
    path: str
    line: int
    column: int


class AddedVersion(Schema):
    slug: str
    version: int
    published_version: int | None
    warnings: list[ComplaintOut]


class LintOut(Schema):
    errors: list[ComplaintOut] = Field(description="With one of these the file is refused.")
    warnings: list[ComplaintOut]
    notes: list[ComplaintOut]
    left_off: int = Field(description="How many more there are than the lists show.")


class FieldChange(Schema):
    before: Any
    after: Any


class RuleChange(Schema):
    rule: str
    change: str = Field(description="added, removed, changed or renamed.")
    formerly: str = Field("", description="Of a rule that was renamed, its old name.")
    fields: dict[str, FieldChange]


class PhaseChange(Schema):
    phase: str
    change: str
    fields: dict[str, FieldChange]


class VersionComparisonOut(Schema):
    rules: list[RuleChange]
    phases: list[PhaseChange]
    process: dict[str, FieldChange]


Key = (
    Annotated[StrictStr, Field(max_length=MAX_KEY)]
    | Annotated[StrictInt, Field(ge=0, lt=MAX_NODES)]
)
KeyPath = Annotated[
    list[Key],
    Field(
        min_length=1,
        max_length=MAX_DEPTH,
        description="Keys and numbers that lead there. An entry of a list may be named too, "
        "by its `name` or `id`; `rules` alone means `verification.rules`.",
        examples=[["rules", "no-placeholders", "severity"], ["phases", 0, "deliverables"]],
    ),
]


class SetEdit(Schema):
    """Give what stands there this value; a key that is missing is added."""

    model_config = ConfigDict(extra="forbid")
    set: KeyPath
    value: Any

    @property
    def edit(self) -> Edit:
        return SetValue(tuple(self.set), self.value)


class RemoveEdit(Schema):
    """Take a key with its value, or an entry of a list."""

    model_config = ConfigDict(extra="forbid")
    remove: KeyPath

    @property
    def edit(self) -> Edit:
        return Remove(tuple(self.remove))


class AppendEdit(Schema):
    """Add an entry at the end of a list; a list that is missing is made."""

    model_config = ConfigDict(extra="forbid")
    append: KeyPath
    value: Any

    @property
    def edit(self) -> Edit:
        return Append(tuple(self.append), self.value)


class MoveEdit(Schema):
    """Put an entry of a list in another place of it, with the comments that belong to it."""

    model_config = ConfigDict(extra="forbid")
    move: KeyPath
    to: StrictInt = Field(ge=0, lt=MAX_NODES, description="Its number when it is there, from 0.")

    @property
    def edit(self) -> Edit:
        return Move(tuple(self.move), self.to)


KINDS = ("set", "remove", "append", "move")


def _kind_of(edit: Any) -> str | None:
    kinds = [kind for kind in KINDS if isinstance(edit, dict) and kind in edit]
    return kinds[0] if len(kinds) == 1 else None


AnyEdit = Annotated[
    Annotated[SetEdit, Tag("set")]
    | Annotated[RemoveEdit, Tag("remove")]
    | Annotated[AppendEdit, Tag("append")]
    | Annotated[MoveEdit, Tag("move")],
    Discriminator(
        _kind_of,
        custom_error_type="edit.kind",
        custom_error_message="An edit holds exactly one of set, remove, append and move.",
    ),
]


class EditsIn(Schema):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "base_version": 3,
                "edits": [
                    {"set": ["rules", "no-placeholders", "severity"], "value": "error"},
                    {"append": ["phases", "write", "deliverables"], "value": "sources.csv"},
                    {"remove": ["phases", "write", "max_attempts"]},
                ],
                "note": "Placeholders were accepted twice this week.",
            }
        },
    )
    base_version: StrictInt = Field(ge=1, le=2**31 - 2, description="The newest, as you read it.")
    edits: list[AnyEdit] = Field(min_length=1, max_length=MAX_EDITS, description="Made in order.")
    note: str = Field("", max_length=300, pattern=NO_NUL)


class Publication(Schema):
    reason: str = Field(min_length=1, max_length=1000, pattern=NO_NUL)
    corpus_reason: str = Field(
        "",
        max_length=1000,
        pattern=NO_NUL,
        description="Why it is published though golden cases regressed, or were not replayed yet.",
    )


class Paging(Schema):
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    cursor: str = ""
