"""Documents in the order in which people read them: what is guarded and expected comes first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from verification.golden.documents.schemas import CaseIn, ExpectedIn, FindingIn
from verification.golden.documents.writing import one_to_yaml
from verification.runs.intake.schemas import RunIn, TaskIn

_LATE = ("run", "files", "judges", "replies", "gates", "history", "fence", "process_text")


def text_of(document: Mapping[str, Any]) -> str:
    return one_to_yaml(ordered(document))


def ordered(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same document: the database keeps it in an order of its own."""
    early = [name for name in CaseIn.model_fields if name not in _LATE]
    found = _sorted(document, [*early, *_LATE])
    for name, model in (("run", RunIn), ("expected", ExpectedIn)):
        if isinstance(found.get(name), Mapping):
            found[name] = _sorted(found[name], model.model_fields)
    if isinstance(found.get("run", {}).get("task"), Mapping):
        found["run"]["task"] = _sorted(found["run"]["task"], TaskIn.model_fields)
    findings = found.get("expected", {}).get("findings")
    if isinstance(findings, Mapping):
        found["expected"]["findings"] = {
            name: _each(findings[name], FindingIn)
            for name in ("must", "must_not", "only")
            if name in findings
        }
    return found


def _each(entries: Any, model: type[BaseModel]) -> Any:
    if not isinstance(entries, list):
        return entries
    return [_sorted(one, model.model_fields) for one in entries]


def _sorted(values: Mapping[str, Any], order: Iterable[str]) -> dict[str, Any]:
    """Names that the order does not know come last, as they stand."""
    known = [name for name in order if name in values]
    return {name: values[name] for name in [*known, *(one for one in values if one not in known)]}
