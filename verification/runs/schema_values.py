"""How the contract's closed sets of values are described."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from loomverify.filters import INVALID
from verification.engine.reasons import REASONS
from verification.runs.models import RunState

ReasonCode = Annotated[str, WithJsonSchema({"type": "string", "enum": list(REASONS)})]
"""A reason code of the registry."""


def one_of(values: type[StrEnum] | type[RunState]) -> WithJsonSchema:
    """Describe a field's values."""
    return WithJsonSchema({"type": "string", "enum": [str(one.value) for one in values]})


@dataclass(frozen=True, slots=True)
class FilterValues:
    """Annotates a filter: it takes one of these values, or finds everything where it is empty."""

    values: tuple[str, ...]

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        return cls(tuple(str(value) for value in values))

    def check(self, value: str) -> str:
        if value and value not in self.values:
            allowed = {"allowed": ", ".join(self.values)}
            raise PydanticCustomError(INVALID, "It takes one of {allowed}.", allowed)
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "enum": ["", *self.values]}
