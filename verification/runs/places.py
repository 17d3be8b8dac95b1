"""Where a finding is, in words."""

from __future__ import annotations

from collections.abc import Iterator

from verification.runs.models import Finding

MAX_NUMBERS = 6


def place_of(finding: Finding) -> str:
    """Where a finding is, in words."""
    if beyond := list(_beyond(finding)):
        return " · ".join([finding.path, *beyond] if finding.path else beyond)
    if not (finding.path or finding.line or finding.target == "output"):
        return ""
    return _with_line(finding.path or "output", finding)


def _beyond(finding: Finding) -> Iterator[str]:
    """What was submitted beside the files and the output, as checks name it."""
    if isinstance(number := finding.place.get("tool_call"), int):
        yield f"tool call {number + 1}"
    if numbers := finding.place.get("claims"):
        shown = ", ".join(str(number + 1) for number in numbers[:MAX_NUMBERS])
        shown += ", …" if len(numbers) > MAX_NUMBERS else ""
        yield f"claims {shown}" if len(numbers) > 1 else f"claim {shown}"
    if name := finding.place.get("evidence"):
        yield _with_line(f"evidence {name}", finding)


def _with_line(start: str, finding: Finding) -> str:
    parts = [start, finding.line, finding.column if finding.line else None]
    return ":".join(str(part) for part in parts if part)
