"""The report of a replay as JSON: made where it is replayed, read by the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loomverify.submitting.errors import NoAnswer
from verification.engine.golden.standing import Change, Standing
from verification.golden.telling import CaseTold, ReplayTold

Document = Mapping[str, Any]
FINISHED = "finished"
HOLDS = (Change.HELD, Change.FIXED)


def told_of(report: Document, *, url: str = "") -> ReplayTold:
    """Read a report, of whomever it is.

    Raises:
        NoAnswer: it is none, of no replay that finished, or contradicts itself.
    """
    if report.get("state", FINISHED) != FINISHED:
        raise _unreadable()
    counts = _counts(report.get("counts"))
    cases = tuple(_case(one) for one in _mappings(report.get("results")))
    told = ReplayTold(counts, cases, _share(report.get("stale_share")), url)
    for change in Change:
        if told.count(change) != sum(one.change is change for one in cases):
            raise _unreadable()
    if report.get("total", told.total) != told.total:
        raise _unreadable()
    return told


def _counts(found: object) -> dict[Change, int]:
    if not isinstance(found, dict):
        raise _unreadable()
    counts = {}
    for name, count in found.items():
        if name not in tuple(Change) or type(count) is not int or count < 0:
            raise _unreadable()
        counts[Change(name)] = count
    return counts


def _case(one: Document) -> CaseTold:
    change = one.get("change")
    if change not in tuple(Change) or _is_doubtful(Change(change), one):
        raise _unreadable()
    return CaseTold(
        name=str(one.get("name") or ""),
        process=str(one.get("process") or ""),
        change=Change(change),
        guards=str(one.get("guards") or ""),
        differences=tuple(_mappings(one.get("differences") or [])),
        why=_why(one),
    )


def _is_doubtful(change: Change, one: Document) -> bool:
    """Whether it says of a case that holds what no such case has."""
    if change not in HOLDS:
        return False
    is_said = one.get("standing", Standing.HELD) == Standing.HELD
    return not is_said or any(one.get(name) for name in ("differences", "missing", "error"))


def _why(one: Document) -> str:
    if error := one.get("error"):
        return str(error)
    missing = one.get("missing")
    if not missing:
        return ""
    return f"{missing} of {one.get('questions')} questions have no recorded answer."


def _share(found: object) -> float | None:
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not is_number:
        return None
    if not 0 <= found <= 1:  # type: ignore[operator]
        raise _unreadable()
    return float(found)  # type: ignore[arg-type]


def _mappings(found: object) -> Iterable[Document]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _unreadable()
    return found


def _unreadable() -> NoAnswer:
    return NoAnswer("The report of the replay cannot be read; is this the server's own version?")
