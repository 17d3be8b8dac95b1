"""What differs between two sides, in the words of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from processes.definition.model import Enforcement
from verification.engine.finding import Finding, TraceReason
from verification.engine.shadow.aligning import ALONE, COUNTED, Aligned
from verification.engine.shadow.classes import Side, SideOutcome

MAX_SUMMARY_CHARS = 300
MAX_NAME_CHARS = 80
NOTHING = "not found"

_SCOPE_WORDS: Mapping[TraceReason | None, str] = {
    None: "no such rule",
    TraceReason.GLOBAL_SCOPE: "leaked from another phase",
    TraceReason.UNSCOPED: "applied without a scope",
    TraceReason.OBSERVED: "observed",
    TraceReason.OTHER_PHASE: "skipped",
    TraceReason.NO_PHASE: "skipped",
    TraceReason.UNSUPPORTED_PATTERN: "cannot run",
}


@dataclass(frozen=True, slots=True)
class Differing:
    """What differs on one rule: whether it applied at all, and the findings that changed."""

    scope: tuple[TraceReason | None, TraceReason | None] | None = None
    rows: Sequence[Aligned] = field(default=())

    @property
    def marks(self) -> list[tuple[str, str, str]]:
        """What was changed from what to what: never where, nor in which words."""
        found: list[tuple[str, str, str]] = []
        if self.scope:
            old, new = (str(one or "") for one in self.scope)
            found.append(("scope", old, new))
        for row in self.rows:
            names = COUNTED if ALONE in row.changes else row.changes
            found += [(name, _value(row.old, name), _value(row.new, name)) for name in names]
        return found

    @property
    def is_hard(self) -> bool:
        """Whether a side counts it so: such a rule explains a verdict first."""
        return any(one.enforcement is Enforcement.HARD for row in self.rows for one in row.sides)

    @property
    def text(self) -> str:
        """Why a rule did not apply says more than that it then found nothing."""
        if self.scope:
            old, new = (_SCOPE_WORDS.get(one, "applied") for one in self.scope)
            return f"{old} → {new}"
        return ", ".join(dict.fromkeys(_row_text(row) for row in self.rows))


def summary(old: Side, new: Side, differing: Mapping[str, Differing]) -> str:
    """What differs, in a line of at most `MAX_SUMMARY_CHARS`."""
    by_weight = sorted(differing.items(), key=lambda item: not item[1].is_hard)
    parts = [f"{_cut(rule)}: {one.text}" for rule, one in by_weight]
    parts += _of_the_whole(old, new, is_explained=bool(parts))
    return _joined(parts)


def _of_the_whole(old: Side, new: Side, *, is_explained: bool) -> Iterator[str]:
    is_same_verdict = old.verdict is new.verdict
    if old.reason_code != new.reason_code and (is_same_verdict or not is_explained):
        yield f"reason {old.reason_code or 'none'} → {new.reason_code or 'none'}"
    elif not is_explained:
        was, now = (SideOutcome.of(one.outcome, one.verdict) for one in (old, new))
        yield f"{was} → {now}" if was is not now else f"{old.outcome} → {new.outcome}"


def _row_text(row: Aligned) -> str:
    """The weightiest change alone: the findings themselves stand beside it."""
    if row.old is None or row.new is None:
        return f"{_told(row.old)} → {_told(row.new)}"
    name = row.changes[0]
    of = "severity " if name == "severity" else ""
    return f"{of}{_value(row.old, name) or 'none'} → {_value(row.new, name) or 'none'}"


def _told(one: Finding | None) -> str:
    return NOTHING if one is None else str(one.enforcement)


def _value(one: Finding | None, name: str) -> str:
    return str(getattr(one, name, None) or "")


def _joined(parts: Sequence[str]) -> str:
    """As many parts as there is room for, and how many are left."""
    for shown in range(len(parts), 0, -1):
        left = len(parts) - shown
        text = "; ".join([*parts[:shown], *([f"and {left} more"] if left else [])])
        if len(text) <= MAX_SUMMARY_CHARS:
            return text
    return f"{parts[0][: MAX_SUMMARY_CHARS - 1]}…" if parts else ""


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 1]}…"
