"""Verifier versions as the API takes and tells them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Field, Schema
from pydantic import ConfigDict

from verification.engine.verifier import Engine, VerifierSpec
from verification.verifiers import examples
from verification.verifiers.comparing import GroupName, differing
from verification.verifiers.making import MAX_NOTE_CHARS, Wish
from verification.verifiers.models import VerifierVersion
from verification.verifiers.parts import MAX_PANEL

MAX_NUMBER = 2_000_000_000


class VerifierOut(Schema):
    """Everything that can change a verdict, but for the process. It never changes."""

    model_config = ConfigDict(json_schema_extra=examples.shown(examples.VERSION))

    number: int
    engine: Engine
    flags: dict[str, Any]
    models: dict[str, Any]
    limits: dict[str, Any]
    prompt_version: int
    engine_build: str
    active: bool
    note: str
    created_by: str
    created_at: datetime

    @classmethod
    def of(cls, version: VerifierVersion) -> VerifierOut:
        told = VerifierSpec.from_json(version.spec).to_json()
        return cls(
            number=version.number,
            engine=Engine(version.engine),
            flags=told["flags"],
            models=told["models"],
            limits=told["limits"],
            prompt_version=told["prompt_version"],
            engine_build=version.engine_build,
            active=version.is_active,
            note=version.note,
            created_by=version.created_by,
            created_at=version.created_at,
        )


class VerifierList(Schema):
    items: list[VerifierOut]


class ModelsIn(Schema):
    """Names of the project's connections; '' and an empty list: none. Null: as the base."""

    model_config = ConfigDict(extra="forbid")

    primary: str | None = Field(None, max_length=120)
    alternate: str | None = Field(None, max_length=120)
    panel: list[str] | None = Field(None, max_length=MAX_PANEL)


class VerifierIn(Schema):
    """What is left out is as in the base."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=examples.shown(examples.MAKE))

    base: int | None = Field(
        None, ge=1, le=MAX_NUMBER, description="A version's number. Null: the one that judges runs."
    )
    engine: Engine | None = Field(
        None, description="Start from this engine's flags as they came, in the place of the base's."
    )
    flags: dict[str, Any] = Field({}, json_schema_extra=examples.of_flags)
    models: ModelsIn | None = None
    limits: dict[str, Any] = Field({}, json_schema_extra=examples.of_limits)
    note: str = Field("", max_length=MAX_NOTE_CHARS)

    def wish(self) -> Wish:
        models = self.models.model_dump(exclude_none=True) if self.models else {}
        if "panel" in models:
            models["panel"] = tuple(models["panel"])
        return Wish(self.base, self.engine or "", self.flags, models, self.limits, self.note)


class Activation(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.ACTIVATION))

    reason: str = Field(min_length=1, max_length=1000)
    corpus_reason: str = Field(
        "",
        max_length=1000,
        description="Why it is activated though golden cases regressed, or were not replayed yet.",
    )
    replaces: int | None = Field(
        None,
        ge=1,
        le=MAX_NUMBER,
        description="The version that judges runs as far as you know; 409 where it does not.",
    )


class Difference(Schema):
    group: GroupName
    name: str
    old: Any
    new: Any


class VerifierComparison(Schema):
    model_config = ConfigDict(json_schema_extra=examples.shown(examples.COMPARISON))

    old: int
    new: int
    differences: list[Difference] = Field(description="Empty: they say the same.")

    @classmethod
    def of(cls, old: VerifierVersion, new: VerifierVersion) -> VerifierComparison:
        return cls(
            old=old.number,
            new=new.number,
            differences=[
                Difference(group=line.group, name=line.name, old=line.old, new=line.new)
                for line in differing(old, new)
            ],
        )
