"""What people say of comparisons, in the words of the HTTP contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict

from verification.runs.schema_values import one_of
from verification.trials.examples import COMPARISON_ID, shown
from verification.trials.judging.acknowledging import MAX_DAYS, MAX_REASON_CHARS, MIN_DAYS
from verification.trials.judging.services import MAX_NOTE_CHARS
from verification.trials.models import Judged

KIND = "9f2c4e7ab01d55aa"
AT = "2026-03-02T09:12:00Z"
JUDGE: dict[str, Any] = {"said": "new", "old_first": True, "note": "An N/A cell is no placeholder."}
SAID: dict[str, Any] = {"by": "key labelling #7", "said": "new", "old_first": True, "at": AT}
JUDGED: dict[str, Any] = {
    "id": COMPARISON_ID,
    "judged": "new",
    "judged_at": AT,
    "judgements": [SAID],
}
NOTE: dict[str, Any] = {"text": "An N/A cell is no placeholder."}
NOTED: dict[str, Any] = {"id": 7, **NOTE, "by": "key labelling #7", "at": AT}
RULE_DIFFERS: dict[str, Any] = {
    "rule": "no-placeholders",
    "count": 31,
    "laxer": 27,
    "stricter": 0,
    "judged": 12,
}
KIND_DIFFERS: dict[str, Any] = {
    "kind": KIND,
    "summary": "no-placeholders: hard → advisory",
    "count": 27,
    "laxer": 27,
    "stricter": 0,
    "judged": 12,
    "acknowledged_until": None,
}
ACKNOWLEDGE: dict[str, Any] = {"kind": KIND, "reason": "Rule 4 is being rewritten.", "days": 14}
ACKNOWLEDGED: dict[str, Any] = {
    "id": 3,
    "kind": KIND,
    "summary": "no-placeholders: hard → advisory",
    "reason": "Rule 4 is being rewritten.",
    "until": "2026-03-16T09:12:00Z",
    "in_force": True,
    "by": "key ci",
    "at": AT,
}


class JudgeOne(Schema):
    """`old_first`: in which order the sides were shown to whoever judged, without their names."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=shown(JUDGE))
    said: Literal["old", "new", "both", "neither"] = Field(description="Which side was right.")
    old_first: bool
    note: str = Field("", max_length=MAX_NOTE_CHARS)


class JudgementOut(Schema):
    model_config = ConfigDict(json_schema_extra=shown(SAID))
    by: str
    said: Annotated[str, one_of(Judged)]
    old_first: bool
    at: datetime


class ComparisonJudged(Schema):
    """What those that stand agree on, all of them or two thirds of three and more.

    `disputed` where they do not, null where there is none.
    """

    model_config = ConfigDict(json_schema_extra=shown(JUDGED))
    id: UUID
    judged: Annotated[str, one_of(Judged)] | None
    judged_at: datetime | None
    judgements: list[JudgementOut]


class JudgementWithdrawn(ComparisonJudged):
    model_config = ConfigDict(json_schema_extra=shown({**JUDGED, "withdrawn": True, "again": True}))
    withdrawn: bool = Field(description="False: there was nothing to take back.")
    again: bool = Field(description="Whether this key may judge it again.")


class NoteWish(Schema):
    model_config = ConfigDict(extra="forbid", json_schema_extra=shown(NOTE))
    text: str = Field(min_length=1, max_length=MAX_NOTE_CHARS)


class NoteOut(Schema):
    model_config = ConfigDict(json_schema_extra=shown(NOTED))
    id: int
    text: str
    by: str
    at: datetime


class ComparisonSaid(ComparisonJudged):
    model_config = ConfigDict(json_schema_extra=shown({**JUDGED, "notes": [NOTED]}))
    notes: list[NoteOut] = Field(description="The newest first.")


class RuleDiffers(Schema):
    """How many comparisons differ on a rule, and which way the verdict moved in them."""

    model_config = ConfigDict(json_schema_extra=shown(RULE_DIFFERS))
    rule: str
    count: int
    laxer: int
    stricter: int
    judged: int


class KindDiffers(Schema):
    """The same difference wherever it occurs in the trial."""

    model_config = ConfigDict(json_schema_extra=shown(KIND_DIFFERS))
    kind: str
    summary: str
    count: int
    laxer: int
    stricter: int
    judged: int
    acknowledged_until: datetime | None


class Differences(Schema):
    model_config = ConfigDict(
        json_schema_extra=shown({"rules": [RULE_DIFFERS], "kinds": [KIND_DIFFERS]})
    )
    rules: list[RuleDiffers]
    kinds: list[KindDiffers]


class AcknowledgementWish(Schema):
    """`kind` is a comparison's."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=shown(ACKNOWLEDGE))
    kind: str = Field(min_length=1, max_length=16)
    reason: str = Field(min_length=1, max_length=MAX_REASON_CHARS)
    days: int = Field(14, ge=MIN_DAYS, le=MAX_DAYS)


class AcknowledgementOut(Schema):
    model_config = ConfigDict(json_schema_extra=shown(ACKNOWLEDGED))
    id: int
    kind: str
    summary: str
    reason: str
    until: datetime
    in_force: bool
    by: str
    at: datetime


class AcknowledgementList(Schema):
    model_config = ConfigDict(json_schema_extra=shown({"items": [ACKNOWLEDGED]}))
    items: list[AcknowledgementOut]
