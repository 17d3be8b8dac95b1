"""The findings of two verifiers, side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from verification.engine.finding import Finding
from verification.engine.outcome import Source

ALONE = "alone"
COUNTED = ("enforcement", "severity", "verdict", "reason_code")
"""What makes of the same problem another finding. Wording and line do not: judges never say a
thing twice in the same words."""

_Key = Callable[[Finding], Hashable]
"""None: this finding cannot be known again so."""
_Group = tuple[list[Finding], list[Finding]]
_Order = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A finding of both sides, or of one alone.

    `changes` names what differs: `alone`, or some of `COUNTED`; empty: nothing does.
    """

    rule: str
    old: Finding | None
    new: Finding | None
    changes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        return bool(self.changes)

    @property
    def sides(self) -> tuple[Finding, ...]:
        """One or two, the old one first."""
        return tuple(one for one in (self.old, self.new) if one)


def aligned(old: Iterable[Finding], new: Iterable[Finding]) -> list[Aligned]:
    """Pair what is the same problem; what differs comes first, then by rule and place.

    Known again by rule and fingerprint; else by rule and place, from the closest to the widest:
    the reason is part of a fingerprint, and a judge's own words are. The order of findings plays
    no part.
    """
    left, right = sorted(old, key=_order), sorted(new, key=_order)
    rows: list[Aligned] = []
    for key in _KEYS:
        if not (left and right):
            break
        left, right = _paired(left, right, key, rows)
    rows += [Aligned(one.rule, one, None, (ALONE,)) for one in left]
    rows += [Aligned(one.rule, None, one, (ALONE,)) for one in right]
    return sorted(rows, key=_row_order)


def _paired(
    left: Sequence[Finding], right: Sequence[Finding], key: _Key, rows: list[Aligned]
) -> tuple[list[Finding], list[Finding]]:
    """Put the pairs into `rows`; what is left of both sides, in order."""
    groups: defaultdict[Hashable, _Group] = defaultdict(lambda: ([], []))
    for side, findings in enumerate((left, right)):
        for one in findings:
            groups[key(one)][side].append(one)
    alone = groups.pop(None, ([], []))
    for ours, theirs in groups.values():
        pairs = list(zip(ours, theirs, strict=False))
        rows += [Aligned(one.rule, one, other, _changes(one, other)) for one, other in pairs]
        alone[0].extend(ours[len(pairs) :])
        alone[1].extend(theirs[len(pairs) :])
    return sorted(alone[0], key=_order), sorted(alone[1], key=_order)


def _changes(old: Finding, new: Finding) -> tuple[str, ...]:
    return tuple(name for name in COUNTED if getattr(old, name) != getattr(new, name))


def _by_fingerprint(one: Finding) -> Hashable:
    return (one.rule, one.fingerprint) if one.fingerprint else None


def _by_quote(one: Finding) -> Hashable:
    return (one.rule, one.target, one.path, one.line, one.quote) if one.quote else None


def _by_moved_quote(one: Finding) -> Hashable:
    return (one.rule, one.target, one.path, one.quote) if one.quote else None


def _by_line(one: Finding) -> Hashable:
    """Without a line: it is about the whole file, or the output."""
    return None if one.quote else (one.rule, one.target, one.path, one.line)


def _by_judge(one: Finding) -> Hashable:
    """A judge says one thing of a rule, wherever it quotes it from."""
    return one.rule if one.source is Source.LLM else None


_KEYS: Sequence[_Key] = (_by_fingerprint, _by_quote, _by_moved_quote, _by_line, _by_judge)


def _order(one: Finding) -> _Order:
    """Total as far as anything shown or counted goes."""
    return (
        one.rule,
        one.path,
        one.line or 0,
        one.column or 0,
        *(str(getattr(one, name) or "") for name in COUNTED),
        one.source,
        one.target or "",
        one.quote,
        one.message,
        one.fingerprint,
        one.tier,
    )


def _row_order(row: Aligned) -> tuple[bool, Sequence[_Order]]:
    return (not row.differs, [_order(one) for one in row.sides])
