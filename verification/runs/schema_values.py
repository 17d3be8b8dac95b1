"""How the contract's closed sets of values are described."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from ninja import Field
from pydantic import WithJsonSchema

from verification.engine.reasons import REASONS
from verification.runs.models import RunState

ReasonCode = Annotated[str, WithJsonSchema({"type": "string", "enum": list(REASONS)})]
"""A reason code of the registry."""


def one_of(values: type[StrEnum] | type[RunState]) -> WithJsonSchema:
    """Describe a field's values."""
    return WithJsonSchema({"type": "string", "enum": [str(one.value) for one in values]})


def filter_by(values: type[StrEnum] | type[RunState]) -> Any:
    """A filter that finds everything where it is empty."""
    return Field("", json_schema_extra={"enum": ["", *(str(one.value) for one in values)]})
